// Splitting a budget: against the closed forms, against every small change of the split, and
// against the accountant.
#include <shoal/base/error.hpp>
#include <shoal/privacy/allocation.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace shoal::privacy {
namespace {

const std::vector<Question> kQuestions = {{1, 1}, {10, 1}, {1, 100}, {3, 0.5}};

Target target(double epsilon, double delta, Neighbors neighbors = Neighbors::add_remove) {
  return {Epsilon(epsilon), Delta(delta), neighbors};
}

double sigma_of_one(const Target& asked) { return calibrate_noise({}, asked).parameter; }

// By Cauchy and Schwarz, the sum of w s^2 under a given sum of (D / s)^2 = mu^2 is at least
// (sum of sqrt(w) D)^2 / mu^2.
TEST(Allocation, GaussianNoiseIsAtTheOptimum) {
  for (const Neighbors neighbors : {Neighbors::add_remove, Neighbors::replace_one}) {
    const Target asked = target(1, 1e-6, neighbors);
    const Allocation found = allocate(NoiseLaw::gaussian, kQuestions, asked);
    double root = 0;
    for (const Question& question : kQuestions) {
      root += std::sqrt(question.weight) * question.sensitivity;
    }
    const double best = std::pow(root * sigma_of_one(asked), 2);
    EXPECT_NEAR(found.weighted_variance / best, 1, 1e-5);
    EXPECT_LE(found.epsilon.bounds.upper, 1);
    EXPECT_GT(found.epsilon.bounds.lower, 1 - 1e-5);
    EXPECT_LE(Profile(found.event, neighbors).epsilon(Delta(1e-6)).bounds.upper, 1 + 1e-9);
  }
}

// Shares of mu^2 proportional to sqrt(weight) times sensitivity.
TEST(Allocation, GaussianShares) {
  const Allocation found = allocate(NoiseLaw::gaussian, kQuestions, target(0.5, 1e-9));
  std::vector<double> ratios;
  for (std::size_t i = 0; i < kQuestions.size(); ++i) {
    const double share = std::pow(kQuestions[i].sensitivity / found.parameters[i], 2);
    ratios.push_back(share / (std::sqrt(kQuestions[i].weight) * kQuestions[i].sensitivity));
  }
  for (const double ratio : ratios) EXPECT_NEAR(ratio / ratios[0], 1, 1e-12);
}

// Shares of epsilon proportional to (weight sensitivity^2)^(1/3), which add up to epsilon.
TEST(Allocation, PureLaplaceIsAtTheOptimum) {
  const Allocation found = allocate(NoiseLaw::laplace, kQuestions, target(2, 0));
  double sum = 0;
  for (const Question& question : kQuestions) {
    sum += std::cbrt(question.weight * question.sensitivity * question.sensitivity);
  }
  double spent = 0;
  for (std::size_t i = 0; i < kQuestions.size(); ++i) {
    const Question& question = kQuestions[i];
    const double share = question.sensitivity / found.parameters[i];
    const double root = std::cbrt(question.weight * question.sensitivity * question.sensitivity);
    EXPECT_NEAR(share / (2 * root / sum), 1, 1e-6);
    spent += share;
  }
  EXPECT_LE(spent, 2 * (1 + 1e-15));
  EXPECT_NEAR(found.weighted_variance / (2 * sum * sum * sum / 4), 1, 1e-5);
}

// No small change of the split that meets the same target is better.
TEST(Allocation, NoNeighbouringSplitIsBetter) {
  for (const NoiseLaw law : {NoiseLaw::gaussian, NoiseLaw::laplace}) {
    const Target asked = target(1, law == NoiseLaw::gaussian ? 1e-6 : 0);
    const Allocation found = allocate(law, kQuestions, asked);
    for (std::size_t changed = 0; changed < kQuestions.size(); ++changed) {
      for (const double factor : {0.9, 1.1}) {
        std::vector<double> noise = found.parameters;
        noise[changed] *= factor;
        const Calibrated other = calibrate(
            [&](double level) -> Event {
              event::Compose all;
              for (std::size_t i = 0; i < noise.size(); ++i) {
                NoiseUse use;
                use.law = law;
                use.sensitivity = kQuestions[i].sensitivity;
                all.events.push_back(event_of(use, level * noise[i]));
              }
              return all;
            },
            asked);
        double weighted = 0;
        for (std::size_t i = 0; i < noise.size(); ++i) {
          weighted += kQuestions[i].weight * std::pow(other.parameter * noise[i], 2);
        }
        if (law == NoiseLaw::laplace) weighted *= 2;
        EXPECT_GT(weighted, found.weighted_variance * (1 - 4e-6)) << changed << ' ' << factor;
      }
    }
  }
}

TEST(Allocation, EqualQuestionsGetEqualNoise) {
  const std::vector<Question> equal(20, Question{2, 3});
  for (const NoiseLaw law : {NoiseLaw::gaussian, NoiseLaw::laplace, NoiseLaw::discrete_laplace}) {
    const Target asked = target(1, law == NoiseLaw::laplace ? 0 : 1e-6);
    const Allocation found = allocate(law, equal, asked);
    NoiseUse together;
    together.law = law;
    together.sensitivity = 2;
    together.count = 20;
    const double expected = calibrate_noise(together, asked).parameter;
    for (const double parameter : found.parameters) {
      EXPECT_EQ(parameter, found.parameters[0]);
      EXPECT_NEAR(parameter / expected, 1, law == NoiseLaw::discrete_laplace ? 1e-4 : 1e-6);
    }
  }
}

// With a delta, many questions with Laplace noise need much less than the sum says.
TEST(Allocation, LaplaceGainsFromDelta) {
  std::vector<Question> many(100, Question{1, 1});
  many.resize(200, Question{8, 1});
  const Allocation pure = allocate(NoiseLaw::laplace, many, target(1, 0));
  const Allocation found = allocate(NoiseLaw::laplace, many, target(1, 1e-6));
  EXPECT_LT(found.weighted_variance, pure.weighted_variance / 3);
  EXPECT_LE(found.epsilon.bounds.upper, 1);
}

TEST(Allocation, RefusesBadInput) {
  const auto refused = [](const std::vector<Question>& questions, const Target& asked,
                          const std::string& fragment) {
    try {
      allocate(NoiseLaw::gaussian, questions, asked);
      ADD_FAILURE() << "not refused: " << fragment;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_NE(std::string(error.what()).find(fragment), std::string::npos) << error.what();
    }
  };
  refused({}, target(1, 1e-6), "no questions");
  refused({{1, 1}, {0, 1}}, target(1, 1e-6), "the sensitivity of question 2 is 0");
  refused({{1, -1}}, target(1, 1e-6), "the weight of question 1 is -1");
  refused({{1, std::nan("")}}, target(1, 1e-6), "the weight of question 1 is nan");
  refused({{1, 1}}, target(1, 0), "delta is 0");
  refused({{1, 1}}, target(0, 1e-6), "epsilon is 0");
}

}  // namespace
}  // namespace shoal::privacy
