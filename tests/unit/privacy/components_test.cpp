// Events taken apart: counts add up, Gaussian noise becomes one variance, directions and relations
// are kept apart.
#include "privacy/components.hpp"

#include "privacy/two_way.hpp"

#include <shoal/base/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace shoal::privacy {
namespace {

constexpr Neighbors kAdd = Neighbors::add_remove;
constexpr Neighbors kReplace = Neighbors::replace_one;

Components removed(const Event& event, Neighbors neighbors = kAdd) {
  return take_apart(event, neighbors, Direction::removed);
}

TEST(Components, NothingIsEmpty) {
  EXPECT_TRUE(removed(event::Compose{}).empty());
  EXPECT_TRUE(removed(event::Repeat{0, event::Gaussian{1, 1}}).empty());
  EXPECT_TRUE(removed(event::Gaussian{1, 0}).empty());
  EXPECT_TRUE(removed(event::Laplace{1, 0}).empty());
  EXPECT_TRUE(removed(event::Pure{0}).empty());
  EXPECT_TRUE(removed(event::Zcdp{0}).empty());
  EXPECT_TRUE(removed(event::PoissonSampled{0, event::Gaussian{1, 1}}).empty());
  EXPECT_TRUE(removed(event::PoissonSampled{0.5, event::Gaussian{1, 0}}).empty());
  EXPECT_TRUE(removed(event::DiscreteLaplace{1, 0.5}).empty());
}

TEST(Components, GaussianNoiseOfAllKindsIsOneVariance) {
  const Event event = event::Compose{
      {event::Repeat{3, event::Gaussian{2, 1}}, event::Gdp{0.5}, event::Gaussian{1, 2}}};
  const Components parts = removed(event);
  EXPECT_TRUE(parts.parts.empty());
  EXPECT_TRUE(parts.only_gaussian());
  EXPECT_NEAR(parts.variance_up, 0.75 + 0.25 + 4, 1e-14);
  EXPECT_LE(parts.variance_down, 5);
  EXPECT_GE(parts.variance_up, 5);
  EXPECT_NEAR(parts.variance_down, parts.variance_up, 1e-13);
}

TEST(Components, VarianceIsEnclosed) {
  // (1/3)^2 and 1e6 times 0.1^2 are no doubles.
  const Components third = removed(event::Gaussian{3, 1});
  EXPECT_GT(third.variance_up, 1.0L / 9);
  EXPECT_LT(third.variance_down, 1.0L / 9);
  const Components many = removed(event::Repeat{1000000, event::Gaussian{10, 1}});
  EXPECT_GE(many.variance_up, 1e4);
  EXPECT_LE(many.variance_down, 1e4);
}

TEST(Components, RelationDoublesTheSensitivityUnlessTold) {
  EXPECT_NEAR(removed(event::Gaussian{1, 1}, kReplace).variance_up, 4, 1e-14);
  EXPECT_NEAR(removed(event::Gaussian{1, 1, 1.0}, kReplace).variance_up, 1, 1e-14);
  EXPECT_NEAR(removed(event::Gaussian{1, 1, 1.0}, kAdd).variance_up, 1, 1e-14);
  EXPECT_NEAR(removed(event::Laplace{2, 1}, kReplace).parts.at(0).upper->largest_loss(), 1, 1e-14);
  EXPECT_NEAR(removed(event::Laplace{2, 1}).parts.at(0).upper->largest_loss(), 0.5, 1e-14);
}

TEST(Components, EqualPartsAreCountedTogether) {
  const Event laplace = event::Laplace{2, 1};
  const Components parts = removed(event::Compose{
      {laplace, event::Repeat{4, laplace}, event::Laplace{4, 2}, event::Laplace{1, 1}}});
  ASSERT_EQ(parts.parts.size(), 2u);
  EXPECT_EQ(parts.parts[0].count, 6);  // the third has the same ratio
  EXPECT_EQ(parts.parts[1].count, 1);
}

TEST(Components, NestedRepetitionsMultiply) {
  const Components parts =
      removed(event::Repeat{3, event::Repeat{5, event::Compose{{event::Laplace{1, 1}}}}});
  ASSERT_EQ(parts.parts.size(), 1u);
  EXPECT_EQ(parts.parts[0].count, 15);
}

TEST(Components, UniformStepsAreSeenOnlyWhenAlone) {
  const Components same = removed(event::Compose{
      {event::Pure{0.5}, event::Repeat{2, event::Pure{0.5}}, event::RandomizedResponse{0.5, 2}}});
  ASSERT_TRUE(same.uniform);
  EXPECT_EQ(same.uniform->kind, UniformSteps::Kind::randomized_response);
  EXPECT_EQ(same.uniform->epsilon, 0.5);
  EXPECT_EQ(same.uniform_count, 4);
  EXPECT_FALSE(removed(event::Compose{{event::Pure{0.5}, event::Pure{0.25}}}).uniform);
  EXPECT_FALSE(removed(event::Compose{{event::Pure{0.5}, event::EpsilonDelta{0.5, 1e-9}}}).uniform);
  EXPECT_FALSE(removed(event::Compose{{event::Pure{0.5}, event::Exponential{0.5}}}).uniform);
  EXPECT_FALSE(removed(event::Compose{{event::Pure{0.5}, event::Gaussian{1, 1}}}).uniform);
  EXPECT_FALSE(removed(event::Compose{{event::Gaussian{1, 1}, event::Pure{0.5}}}).uniform);
  EXPECT_FALSE(removed(event::Compose{{event::Zcdp{0.1}, event::Pure{0.5}}}).uniform);
  EXPECT_FALSE(removed(event::Compose{{event::Rdp{{2}, {1}}, event::Pure{0.5}}}).uniform);
  EXPECT_FALSE(removed(event::PoissonSampled{0.5, event::Pure{0.5}}).uniform);
  EXPECT_FALSE(removed(event::Group{2, event::Pure{0.5}}).uniform);
}

TEST(Components, RhoAndTablesAddUp) {
  const Components parts = removed(
      event::Compose{{event::Repeat{3, event::Zcdp{0.25}}, event::Group{2, event::Zcdp{0.5}},
                      event::Repeat{7, event::Rdp{{2, 8}, {0.1, 0.5}}}}});
  EXPECT_NEAR(parts.rho, 0.75 + 2, 1e-14);
  EXPECT_GE(parts.rho, 2.75);
  ASSERT_EQ(parts.tables.size(), 1u);
  EXPECT_EQ(parts.tables[0].count, 7);
}

TEST(Components, GroupsMultiplyDistances) {
  EXPECT_NEAR(removed(event::Group{3, event::Gaussian{1, 1}}).variance_up, 9, 1e-13);
  EXPECT_NEAR(removed(event::Group{2, event::Group{3, event::Gdp{1}}}).variance_up, 36, 1e-12);
  EXPECT_NEAR(removed(event::Group{3, event::Laplace{1, 1}}).parts.at(0).upper->largest_loss(), 3,
              1e-14);
  EXPECT_NEAR(removed(event::Group{3, event::Gaussian{1, 1}}, kReplace).variance_up, 36, 1e-12);
}

TEST(Components, SamplesNestAndVanish) {
  const Event inner = event::Gaussian{1, 1};
  const Event nested = event::PoissonSampled{0.5, event::PoissonSampled{0.25, inner}};
  const Components parts = removed(nested);
  const Components direct = removed(event::PoissonSampled{0.125, inner});
  ASSERT_EQ(parts.parts.size(), 1u);
  EXPECT_EQ(parts.parts[0].upper->delta(0.1), direct.parts.at(0).upper->delta(0.1));
  EXPECT_TRUE(removed(event::PoissonSampled{1, inner}).parts.empty());
  EXPECT_NEAR(removed(event::PoissonSampled{1, inner}).variance_up, 1, 1e-15);
}

TEST(Components, DirectionsOfSamplesDiffer) {
  const Event event = event::PoissonSampled{0.25, event::Gaussian{1, 1}};
  const LawPointer with = take_apart(event, kAdd, Direction::removed).parts.at(0).upper;
  const LawPointer without = take_apart(event, kAdd, Direction::added).parts.at(0).upper;
  EXPECT_EQ(with->largest_loss(), HUGE_VAL);
  EXPECT_NEAR(without->largest_loss(), -std::log(0.75), 1e-14);
  EXPECT_GT(with->delta(0.2)->lower, without->delta(0.2)->upper);
}

TEST(Components, SymmetryIsWhereItShouldBe) {
  const Event sampled = event::PoissonSampled{0.5, event::Gaussian{1, 1}};
  EXPECT_TRUE(symmetric(event::Gaussian{1, 1}, kAdd));
  EXPECT_FALSE(symmetric(sampled, kAdd));
  EXPECT_TRUE(symmetric(sampled, kReplace));
  EXPECT_TRUE(symmetric(event::PoissonSampled{1, event::Gaussian{1, 1}}, kAdd));
  EXPECT_FALSE(symmetric(event::Compose{{event::Pure{1}, event::Repeat{2, sampled}}}, kAdd));
  EXPECT_FALSE(symmetric(event::Group{2, sampled}, kAdd));
}

// Both directions of one sampled step, by their formulas: with x the loss without sampling.
TEST(Components, SampledProfilesAreTheFormulas) {
  const auto plain = [](double at) { return std::max(0.0, -std::expm1((at - 1) / 2)); };
  for (const double at : {0.05, 0.2}) {
    const double up = std::log1p(std::expm1(at) / 0.25);
    EXPECT_NEAR(poisson_removed(at, 0.25, plain), 0.25 * plain(up), 1e-15);
    const double down = -std::log1p(std::expm1(-at) / 0.25);
    EXPECT_NEAR(poisson_added(at, 0.25, plain), 0.25 * std::exp(at - down) * plain(down), 1e-15);
  }
  EXPECT_EQ(poisson_added(0.5, 0.25, plain), 0);  // over -ln(1 - rate)
  EXPECT_NEAR(poisson_removed(-2, 0.25, plain), -std::expm1(-2), 1e-15);
}

TEST(Components, LowerLawIsNullWhereNothingIsKnown) {
  const Components parts =
      removed(event::PoissonSampled{0.5, event::Compose{{event::Pure{1}, event::Laplace{1, 1}}}});
  ASSERT_EQ(parts.parts.size(), 1u);
  EXPECT_FALSE(parts.parts[0].lower);
  const Components group = removed(event::Group{3, event::Pure{0.5}});
  EXPECT_NEAR(group.parts.at(0).upper->largest_loss(), 1.5, 1e-14);
  EXPECT_NEAR(group.parts.at(0).lower->largest_loss(), 0.5, 1e-14);
}

TEST(Components, RefusesWhatTheRelationDoesNotFit) {
  const Event fixed = event::SampledWithoutReplacement{100, 10, event::Gaussian{1, 1}};
  EXPECT_NO_THROW(removed(fixed, kReplace));
  for (const Event& event : {fixed, Event(event::Compose{{event::Pure{1}, fixed}}),
                             Event(event::PoissonSampled{0.5, fixed})}) {
    try {
      removed(event, kAdd);
      FAIL() << to_json(event);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      EXPECT_NE(std::string(error.what()).find("replace_one"), std::string::npos);
    }
  }
  try {
    removed(event::Group{2, event::Rdp{{2}, {1}}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string(error.what()).find("group of 2"), std::string::npos);
  }
}

}  // namespace
}  // namespace shoal::privacy
