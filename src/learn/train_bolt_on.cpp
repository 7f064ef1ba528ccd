// Training by bolt-on descent: a random order, descent, noise.
#include "learn/bolt_on_run.hpp"
#include "learn/bounded_proximal.hpp"
#include "learn/methods.hpp"
#include "learn/nearest.hpp"
#include "learn/pointwise.hpp"
#include "learn/quad.hpp"
#include "learn/row_view.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/random/uniform.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

namespace shoal::learn {
namespace {

using numeric::add_up;
using numeric::divide_down;

constexpr double kDoubleUnit = 0x1p-53;
// Fewer than 2^30 steps: beyond, batches grow.
constexpr double kMostSteps = 0x1p29;
// The bound is evaluated in doubles, by fewer than 2^10 operations.
constexpr double kSlack = 1 + 0x1p-20;
// What a library function may be off beyond the two units that slope_error counts.
constexpr double kLibrarySlack = 0x1p4;

double batch_of(const BoltOnDescent& method, double rows) {
  const double passes = static_cast<double>(method.passes);
  return std::max(static_cast<double>(method.batch), std::ceil(passes * rows / kMostSteps));
}

std::vector<std::uint64_t> random_order(std::uint64_t rows, random::BitSource& bits) {
  std::vector<std::uint64_t> order(rows);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  for (std::uint64_t i = rows; i > 1; --i)
    std::swap(order[i - 1], order[random::uniform_below(i, bits)]);
  return order;
}

template <typename Real>
void add_slope(const RowSource& rows, const Loss& loss, std::uint64_t number,
               const std::vector<Real>& weights, BlockBuffer& buffer, std::vector<Real>& sum) {
  if (number >= rows.row_count()) return;  // it was there, without a label
  const RowBlock block = rows.block(number / kBlockRows, buffer);
  const std::size_t place = number % kBlockRows;
  const Row row = row_of(block, place);
  Real z = 0;
  for (std::size_t i = 0; i < row.size; ++i) z += Real(row.values[i]) * weights[row.column(i)];
  const Real slope = std::visit(
      [&](const auto& one) -> Real {
        if constexpr (std::is_same_v<std::decay_t<decltype(one)>, Softmax>) {
          SHOAL_CHECK(false);
          return 0;
        } else {
          return derivatives<Real, false>(one, z, Real(block.labels[place])).slope;
        }
      },
      loss);
  for (std::size_t i = 0; i < row.size; ++i) sum[row.column(i)] += slope * Real(row.values[i]);
}

template <typename Real>
std::vector<long double> descend(const BoltOnDescent& method, const Problem& problem,
                                 const RowSource& rows, std::span<const std::uint64_t> order,
                                 const FitOptions& options) {
  std::vector<Real> weights(rows.dimension(), Real(0));
  nearest(problem.set, weights);
  // Mean form: the regulariser of one row.
  const double pull = method.l2 / static_cast<double>(order.size());
  const double most = divide_down(1, add_up(smoothness(problem.loss, problem.row_norm), pull));
  const double whole_batch = batch_of(method, static_cast<double>(order.size()));
  const auto batch = static_cast<std::uint64_t>(whole_batch);
  double t = 0;
  BlockBuffer buffer;
  std::vector<Real> sum(rows.dimension());
  for (std::int64_t pass = 0; pass < method.passes; ++pass) {
    for (std::uint64_t first = 0; first < order.size(); first += batch) {
      std::fill(sum.begin(), sum.end(), Real(0));
      const std::uint64_t last = std::min<std::uint64_t>(first + batch, order.size());
      for (std::uint64_t i = first; i < last; ++i)
        add_slope(rows, problem.loss, order[i], weights, buffer, sum);
      t += 1;
      const double step = std::min(most, divide_down(1, pull * t));
      const Real shrink(1 - step * pull);
      // A batch that is cut short by the end is divided by the whole size as well.
      const Real share(step / whole_batch);
      for (std::size_t j = 0; j < sum.size(); ++j)
        weights[j] = shrink * weights[j] - share * sum[j];
      nearest(problem.set, weights);
    }
    if (options.progress) options.progress(pass + 1, method.passes);
  }
  std::vector<long double> found;
  for (const Real& w : weights) found.push_back(static_cast<long double>(w));
  return found;
}

}  // namespace

double bolt_on_error_up(const BoltOnDescent& method, const Problem& problem, double rows,
                        double unit) {
  const LossBounds facts = bounds(problem.loss);
  const double d = static_cast<double>(problem.dimension);
  const double norm = problem.row_norm;
  const double gradient = gradient_bound(problem);
  const double over_pull = rows / method.l2;  // one over the regulariser of a row
  const double most =
      1 / (smoothness(problem.loss, problem.row_norm) + method.l2 / std::max(rows, 1.0));
  const double batch = batch_of(method, rows);
  const double steps = static_cast<double>(method.passes) * std::ceil(std::max(rows, 1.0) / batch);
  // Over the whole space they start at 0 and are means of gradients over the regulariser.
  const double set = radius(problem.set, problem.dimension);
  const double inside = std::isfinite(set) ? set : gradient * over_pull;
  const double longest = inside + gradient * most + method.error;
  const double z = norm * longest;
  const double slope_off = facts.curvature * (d + 4) * unit * z +
                           kLibrarySlack * slope_error(problem.loss, z, problem.label_bound, unit);
  const double row_off = norm * slope_off + (gradient + norm * slope_off) * (batch + 8) * unit;
  const double projected = std::holds_alternative<L2Ball>(problem.set) ? d + 16 : 0;
  const double moves = steps * (longest + (gradient + row_off) * most) * (projected + 8) * unit;
  // The weights leave in long double.
  return (row_off * over_pull + moves + longest * kExtendedUnit) * kSlack;
}

BoltOnRun run_bolt_on(const BoltOnDescent& method, const Problem& problem, const RowSource& rows,
                      std::span<const std::uint64_t> order, const FitOptions& options) {
  SHOAL_CHECK(rows.block_count() == (rows.row_count() + kBlockRows - 1) / kBlockRows);
  const auto error = [&](double unit) {
    return bolt_on_error_up(method, problem, static_cast<double>(order.size()), unit);
  };
  if (error(kDoubleUnit) <= method.error)
    return {descend<double>(method, problem, rows, order, options), error(kDoubleUnit)};
  if (error(kExtendedUnit) <= method.error)
    return {descend<long double>(method, problem, rows, order, options), error(kExtendedUnit)};
  return {descend<Quad>(method, problem, rows, order, options), error(kQuadUnit)};
}

std::vector<double> train(const BoltOnDescent& method, const Problem& problem,
                          const RowSource& rows, random::BitSource& bits,
                          const FitOptions& options) {
  const BoltOnRun run =
      run_bolt_on(method, problem, rows, random_order(rows.slot_count(), bits), options);
  return project(problem.set, add_output_noise(run.weights, method.output, bits));
}

}  // namespace shoal::learn
