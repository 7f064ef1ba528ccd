// Training by bolt-on descent: a random order, descent, noise.
#include "learn/bolt_on_run.hpp"
#include "learn/certificate.hpp"
#include "learn/methods.hpp"
#include "learn/row_view.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/random/uniform.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace shoal::learn {
namespace {

using numeric::add_up;
using numeric::divide_down;
using numeric::divide_up;
using numeric::multiply_up;

constexpr double kUnit = 0x1p-53;
constexpr double kMostSteps = 0x1p30;

// Sums of what the steps' rounding can do, given that weights never were longer than `longest`.
class RoundingBound {
 public:
  RoundingBound(const Problem& problem, const RowSource& rows, std::int64_t batch)
      : problem_(problem), rows_(rows), batch_(static_cast<double>(batch)) {}

  void step(double step_size) {
    step_sum_ = add_up(step_sum_, step_size);
    ++steps_;
  }

  // bolt_on.proof.md, 4.
  double total(double longest) const {
    const LossBounds facts = bounds(problem_.loss);
    const double norm = rows_.row_norm();
    const double width = static_cast<double>(rows_.widest_row()) + 2;
    const double z = multiply_up(norm, longest);
    const double z_off = multiply_up(2 * width * kUnit, z);
    const double slope_off =
        add_up(multiply_up(facts.curvature, z_off),
               slope_error(problem_.loss, add_up(z, z_off), rows_.label_bound(), kUnit));
    const double slope = divide_up(gradient_bound(problem_), problem_.row_norm);
    const double row_off = multiply_up(
        norm, add_up(slope_off, multiply_up(add_up(slope, slope_off), 2 * (batch_ + 4) * kUnit)));
    const double gradients = multiply_up(step_sum_, row_off);
    const double pull = multiply_up(step_sum_, multiply_up(norm, add_up(slope, slope_off)));
    const double d = static_cast<double>(rows_.dimension());
    const double moves = add_up(multiply_up(static_cast<double>(steps_), longest), pull);
    return add_up(gradients, multiply_up(moves, (d + 16) * 4 * kUnit));
  }

 private:
  const Problem& problem_;
  const RowSource& rows_;
  double batch_;
  double step_sum_ = 0;
  std::int64_t steps_ = 0;
};

std::vector<std::uint64_t> random_order(std::uint64_t rows, random::BitSource& bits) {
  std::vector<std::uint64_t> order(rows);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  for (std::uint64_t i = rows; i > 1; --i)
    std::swap(order[i - 1], order[random::uniform_below(i, bits)]);
  return order;
}

void add_slope(const RowSource& rows, const Loss& loss, std::uint64_t number,
               std::span<const double> weights, BlockBuffer& buffer, std::vector<double>& sum) {
  if (number >= rows.row_count()) return;  // it was there, without a label
  const RowBlock block = rows.block(number / kBlockRows, buffer);
  const std::size_t place = number % kBlockRows;
  const Row row = row_of(block, place);
  double z = 0;
  for (std::size_t i = 0; i < row.size; ++i) z += row.values[i] * weights[row.column(i)];
  const double s = slope(loss, z, block.labels[place]);
  for (std::size_t i = 0; i < row.size; ++i) sum[row.column(i)] += s * row.values[i];
}

}  // namespace

BoltOnRun run_bolt_on(const BoltOnDescent& method, const Problem& problem, const RowSource& rows,
                      std::span<const std::uint64_t> order) {
  BoltOnRun run;
  run.weights = project(problem.set, std::vector<double>(rows.dimension(), 0.0));
  if (order.empty()) return run;
  SHOAL_CHECK(rows.block_count() == (rows.row_count() + kBlockRows - 1) / kBlockRows);
  // Mean form: the regulariser of one row.
  const double pull = method.l2 / static_cast<double>(order.size());
  const double most = divide_down(1, add_up(smoothness(problem.loss, problem.row_norm), pull));
  const auto batch = static_cast<std::uint64_t>(method.batch);
  RoundingBound rounding(problem, rows, method.batch);
  double longest = norm_up(run.weights);
  double t = 0;
  BlockBuffer buffer;
  std::vector<double> sum(rows.dimension());
  for (std::int64_t pass = 0; pass < method.passes; ++pass) {
    for (std::uint64_t first = 0; first < order.size(); first += batch) {
      std::fill(sum.begin(), sum.end(), 0.0);
      const std::uint64_t last = std::min<std::uint64_t>(first + batch, order.size());
      for (std::uint64_t i = first; i < last; ++i)
        add_slope(rows, problem.loss, order[i], run.weights, buffer, sum);
      t += 1;
      const double step = std::min(most, divide_down(1, pull * t));
      const double shrink = 1 - step * pull;
      // A batch that is cut short by the end is divided by the whole size as well.
      const double share = step / static_cast<double>(method.batch);
      for (std::size_t j = 0; j < sum.size(); ++j)
        run.weights[j] = shrink * run.weights[j] - share * sum[j];
      longest = std::max(longest, norm_up(run.weights));
      run.weights = project(problem.set, run.weights);
      rounding.step(step);
    }
  }
  SHOAL_CHECK(t <= kMostSteps);
  run.error = rounding.total(longest);
  return run;
}

std::vector<double> train(const BoltOnDescent& method, const Problem& problem,
                          const RowSource& rows, random::BitSource& bits,
                          const FitOptions& options) {
  const BoltOnRun run = run_bolt_on(method, problem, rows, random_order(rows.slot_count(), bits));
  SHOAL_CHECK(run.error <= method.error);
  if (options.progress) options.progress(static_cast<int>(method.passes));
  return project(problem.set, add_output_noise(run.weights, method.output, bits));
}

}  // namespace shoal::learn
