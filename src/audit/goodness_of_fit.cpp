#include <shoal/audit/goodness_of_fit.hpp>
#include <shoal/base/error.hpp>
#include <shoal/numeric/binomial.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace shoal::audit {
namespace {

// Blocks are so narrow that the value in the middle stands for all of a block, to 10^-8, and so few
// that a table of them fits: 4096 to a scale, out to 56 scales for Laplace noise.
constexpr double kBlocksPerScale = 4096;
// A cell is expected to be hit so often, at least: chi-square's law is then near enough.
constexpr double kLeastExpected = 100;
constexpr double kMostCells = 400;
constexpr double kOutsideChance = 1e-9;

std::int64_t checked_count(std::int64_t count) {
  if (count < GoodnessTest::kLeastCount || count > GoodnessTest::kMostCount) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a test of {} values; it needs from {} to {}", count,
                            GoodnessTest::kLeastCount, GoodnessTest::kMostCount));
  }
  return count;
}

// How many values a block has on either side of its middle: as many as the law stays smooth over. A
// law that is not listed does not compile; one with steps would need blocks of its own.
struct HalfBlock {
  std::int64_t operator()(const mechanism::DiscreteLaplace& spec) const { return of(spec.scale); }
  std::int64_t operator()(const mechanism::RoundedLaplace& spec) const { return of(spec.scale); }
  std::int64_t operator()(const mechanism::DiscreteGaussian& spec) const { return of(spec.sigma); }
  std::int64_t operator()(const mechanism::RoundedGaussian& spec) const { return of(spec.sigma); }

  static std::int64_t of(double width) {
    return static_cast<std::int64_t>(width / kBlocksPerScale / 2);
  }
};

struct Block {
  double mass;
  double squares;  // the sum of x^2 P(x)
};

// A run of `width` values, an odd number, about a middle. On one side of zero every law here is
// smooth on the scale of a block.
Block block_about(const mechanism::AnyMechanism& spec, Int128 middle, std::int64_t width) {
  const double mass = static_cast<double>(width) * std::exp(log_pmf(spec, middle));
  const auto value = static_cast<double>(middle);
  return {mass, value * value * mass};
}

}  // namespace

GoodnessTest::Cells::Cells(std::span<const double> expected_outcomes, double least) {
  double open = 0;
  for (const double outcome : expected_outcomes) {
    cell_of.push_back(static_cast<std::uint32_t>(expected.size()));
    open += outcome;
    if (open >= least) {
      expected.push_back(open);
      open = 0;
    }
  }
  // What is left at the far end joins the last full cell. There is one: all outcomes together are
  // expected as often as there are draws.
  const auto last = static_cast<std::uint32_t>(expected.size() - 1);
  expected[last] += open;
  for (std::uint32_t& cell : cell_of) cell = std::min(cell, last);
  observed.assign(expected.size(), 0);
}

ChiSquare GoodnessTest::Cells::test() const {
  ChiSquare result;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = static_cast<double>(observed[i]) - expected[i];
    result.statistic += difference * difference / expected[i];
  }
  result.degrees = static_cast<int>(expected.size()) - 1;
  if (result.degrees > 0) {
    result.p_value = numeric::chi_square_tail(result.statistic, result.degrees);
  }
  return result;
}

GoodnessTest::GoodnessTest(const mechanism::AnyMechanism& spec, std::int64_t count)
    : count_(checked_count(count)) {
  validate(spec);
  const std::int64_t half = std::visit(HalfBlock{}, spec);
  block_ = 2 * half + 1;
  // As for the hockey stick: less than 10^-20 lies beyond.
  const Int128 radius = 4 * error_interval(spec, Confidence(1 - 1e-6)) + 4;
  const auto blocks = static_cast<std::int64_t>(radius / block_ + 1);
  std::vector<Block> side(static_cast<std::size_t>(blocks) + 1);  // by distance; 0 is zero itself
  side[0] = block_about(spec, 0, 1);
  double total = side[0].mass;
  double squares = 0;
  for (std::int64_t i = 1; i <= blocks; ++i) {
    const Int128 middle = static_cast<Int128>(i - 1) * block_ + 1 + half;
    side[static_cast<std::size_t>(i)] = block_about(spec, middle, block_);
    total += 2 * side[static_cast<std::size_t>(i)].mass;
    squares += 2 * side[static_cast<std::size_t>(i)].squares;
  }
  // Cells in the wrong place, or a pmf that is none, would make the verdict worthless.
  SHOAL_CHECK(std::abs(total - 1) < 1e-7);
  exact_standard_deviation_ = std::sqrt(squares);

  // From the outside in, so that small masses are added first.
  const auto draws = static_cast<double>(count_);
  double beyond = 2e-20;
  reach_ = blocks;
  while (reach_ > 0) {
    const double wider = beyond + 2 * side[static_cast<std::size_t>(reach_)].mass;
    if (draws * wider > kOutsideChance) break;
    beyond = wider;
    --reach_;
  }
  outside_chance_ = std::min(kOutsideChance, draws * beyond);

  const double least = std::max(kLeastExpected, draws / kMostCells);
  std::vector<double> outcomes;
  // Of noise that is wider than a table, every residue has the same share, to 7 digits.
  std::array<double, 8> residues{};
  residues.fill(block_ == 1 ? 0 : draws / 8);
  for (std::int64_t i = -reach_; i <= reach_; ++i) {
    outcomes.push_back(draws * side[static_cast<std::size_t>(std::abs(i))].mass);
    if (block_ == 1) residues[static_cast<std::size_t>(i & 7)] += outcomes.back();
  }
  cells_ = Cells(outcomes, least);
  residues_ = Cells(residues, least);
}

std::int64_t GoodnessTest::block_of(std::int64_t value) const {
  if (block_ == 1) return value;
  return value > 0 ? (value - 1) / block_ + 1 : value < 0 ? (value + 1) / block_ - 1 : 0;
}

void GoodnessTest::add(std::span<const std::int64_t> values) {
  for (const std::int64_t value : values) {
    sum_ += value;
    const auto real = static_cast<double>(value);
    sum_of_squares_ += real * real;
    residues_.hit(static_cast<std::size_t>(value & 7));
    const std::int64_t block = block_of(value);
    if (block < -reach_ || block > reach_) {
      ++outside_;
    } else {
      cells_.hit(static_cast<std::size_t>(block + reach_));
    }
  }
  added_ += static_cast<std::int64_t>(values.size());
}

GoodnessOfFit GoodnessTest::result() const {
  if (added_ != count_) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the test was made for {} values and has {}; add all of them and no "
                            "others",
                            count_, added_));
  }
  GoodnessOfFit fit;
  fit.count = count_;
  const auto draws = static_cast<double>(count_);
  fit.mean = static_cast<double>(sum_) / draws;
  // Noise is symmetric, so nothing cancels here unless it is broken.
  fit.standard_deviation = std::sqrt(std::max(0.0, sum_of_squares_ / draws - fit.mean * fit.mean));
  fit.exact_standard_deviation = exact_standard_deviation_;
  fit.cells = cells_.test();
  fit.residues = residues_.test();
  fit.outside = outside_;
  fit.p_value = std::min(1.0, 2 * std::min(fit.cells.p_value, fit.residues.p_value));
  if (outside_ > 0) fit.p_value = std::min(fit.p_value, outside_chance_);
  return fit;
}

}  // namespace shoal::audit
