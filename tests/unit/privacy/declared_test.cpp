// Declared events: amounts that are stated in advance, and what is within them.
#include <shoal/numeric/units.hpp>
#include <shoal/privacy/charge.hpp>
#include <shoal/privacy/declared.hpp>

#include <gtest/gtest.h>

namespace shoal::privacy {
namespace {

constexpr std::int64_t kOne = 1'000'000'000'000;  // epsilon 1

bool within(const Limit& limit, const Event& actual, Neighbors neighbors = Neighbors::add_remove) {
  return covers(declared(limit), actual, neighbors);
}

TEST(DeclaredTest, CostsWhatItStates) {
  const Charge pure = price(declared({kOne / 8 * 7, 0, 2'500'000'000}), Neighbors::add_remove);
  EXPECT_EQ(pure.epsilon_units, kOne / 8 * 7);
  EXPECT_EQ(pure.delta_units, 2'500'000'000);
  const Charge zcdp = price(declared({std::nullopt, 123456789, 0}), Neighbors::replace_one);
  EXPECT_EQ(zcdp.rho_units, 123456789);
  EXPECT_EQ(zcdp.epsilon_units, std::nullopt);
  EXPECT_EQ(zcdp.delta_units, 0);
}

TEST(DeclaredTest, CoversWhatCostsNoMore) {
  EXPECT_TRUE(within({kOne, 0, 0}, event::DiscreteLaplace{10, 10}));
  EXPECT_FALSE(within({kOne - 1, 0, 0}, event::DiscreteLaplace{10, 10}));
  EXPECT_TRUE(within({kOne, 0, 0}, event::Repeat{4, event::DiscreteLaplace{40, 10}}));
  EXPECT_FALSE(within({kOne, 0, 0}, event::Repeat{5, event::DiscreteLaplace{40, 10}}));
  // An exchange moves a sum twice as far.
  EXPECT_FALSE(within({kOne, 0, 0}, event::DiscreteLaplace{10, 10}, Neighbors::replace_one));
}

TEST(DeclaredTest, ZcdpCoversByRho) {
  const Event noise = event::DiscreteGaussian{10, 1};  // rho 1 / 200
  EXPECT_TRUE(within({std::nullopt, 5'000'000'000'000, 0}, noise));
  EXPECT_FALSE(within({std::nullopt, 4'999'999'999'999, 0}, noise));
  // Gaussian noise has no pure bound, whatever the epsilon.
  EXPECT_FALSE(within({100 * kOne, 0, 0}, noise));
}

TEST(DeclaredTest, FailuresMustBeDeclared) {
  const Event failing = event::EpsilonDelta{0.5, 1e-9};
  EXPECT_TRUE(within({kOne, 0, 1'000'000'000}, failing));
  EXPECT_FALSE(within({kOne, 0, 999'999'999}, failing));
  EXPECT_FALSE(within({kOne, 0, 0}, failing));
}

// An event that names its noise has a curve, of which the price says too little.
TEST(DeclaredTest, OnlyAmountsCoverOtherEvents) {
  const Event noise = event::DiscreteLaplace{10, 10};
  EXPECT_TRUE(covers(noise, noise, Neighbors::add_remove));
  EXPECT_FALSE(covers(noise, event::DiscreteLaplace{20, 10}, Neighbors::add_remove));
  EXPECT_FALSE(covers(event::Compose{{noise}}, noise, Neighbors::add_remove));
  EXPECT_FALSE(covers(event::Compose{{event::EpsilonDelta{1, 1e-9}}},
                      event::DiscreteLaplace{20, 10}, Neighbors::add_remove));
}

}  // namespace
}  // namespace shoal::privacy
