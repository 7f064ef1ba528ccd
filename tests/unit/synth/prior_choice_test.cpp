// The prior that measurements speak for, on tables where it should be strong and where none should.
// Each check is of eight seeds, which are fixed; the figures beside the bounds are of all of them.
#include "synth/prior_choice.hpp"

#include "support/seeded_source.hpp"

#include <shoal/random/rounded_normal.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace shoal::synth {
namespace {

using data::AttributeSet;

const std::vector<std::uint32_t> kSizes = {30, 30};
constexpr std::size_t kCells = 900;
const AttributeSet kBoth(3);
constexpr double kSigma = 22;

struct Errors {
  double chosen = 0;
  double without = 0;   // shrinkage as the options have it
  double standard = 0;  // a variance of 2.5^2
};

// Of 2,000 rows that lie as `count` says, in L1 norm; the mean of eight seeds.
Errors errors_of(const std::function<double(std::size_t, std::size_t)>& count) {
  std::vector<double> truth(kCells);
  for (std::size_t cell = 0; cell < kCells; ++cell) truth[cell] = count(cell / 30, cell % 30);
  const auto error = [&](const GraphicalModel& model) {
    const std::vector<double> counts = model.marginal(kBoth);
    double sum = 0;
    for (std::size_t cell = 0; cell < kCells; ++cell) sum += std::abs(counts[cell] - truth[cell]);
    return sum / 8;
  };
  Errors errors;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    test::SeededSource bits(seed);
    std::vector<std::int64_t> noise(kCells);
    random::RoundedNormalSampler(kSigma).fill(noise, bits);
    std::vector<NoisyMarginal> measured = {{kBoth, kSigma, truth}};
    for (std::size_t cell = 0; cell < kCells; ++cell) {
      measured[0].counts[cell] += static_cast<double>(noise[cell]);
    }
    FitOptions options;
    options.max_iterations = 3000;
    errors.without += error(GraphicalModel::fit(kSizes, measured, options));
    options.prior_variance = 2.5 * 2.5;
    errors.standard += error(GraphicalModel::fit(kSizes, measured, options));
    options.prior_variance = choose_prior(kSizes, measured, options, GraphicalModel(kSizes), bits);
    const GraphicalModel model = GraphicalModel::fit(kSizes, measured, options);
    EXPECT_TRUE(model.report().converged);
    errors.chosen += error(model);
  }
  return errors;
}

TEST(PriorChoiceTest, NoneWhereAllRowsLieInThreeCells) {
  const Errors errors =
      errors_of([](std::size_t a, std::size_t b) { return a == b && a < 3 ? 2000 / 3.0 : 0.0; });
  EXPECT_GT(errors.standard, 1.5 * errors.without);  // 1215 and 695: the table can tell
  EXPECT_LE(errors.chosen, 1.1 * errors.without);    // 695
}

TEST(PriorChoiceTest, AStrongOneWhereNoiseDrownsAll) {
  const Errors errors = errors_of([](std::size_t, std::size_t) { return 2000.0 / kCells; });
  EXPECT_LT(errors.standard, 0.8 * errors.without);  // 2251 and 3222
  EXPECT_LT(errors.chosen, 0.5 * errors.without);    // 1044
}

TEST(PriorChoiceTest, IsTheSameForTheSameBits) {
  const std::vector<NoisyMarginal> measured = {{kBoth, kSigma, std::vector<double>(kCells, 3.0)}};
  test::SeededSource first(4);
  test::SeededSource second(4);
  const auto one = choose_prior(kSizes, measured, {}, GraphicalModel(kSizes), first);
  const auto other = choose_prior(kSizes, measured, {}, GraphicalModel(kSizes), second);
  EXPECT_EQ(one, other);
  EXPECT_EQ(first.next_bits(53), second.next_bits(53));
}

}  // namespace
}  // namespace shoal::synth
