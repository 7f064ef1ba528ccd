// Uniform numbers and coins, exhaustively: every bit string up to a length is played, and the
// probability decided must bracket the exact one. No sampling error, so no false alarms.
#include "random/exact_coin.hpp"
#include "support/prefix_tree.hpp"

#include <shoal/base/error.hpp>
#include <shoal/random/bernoulli.hpp>
#include <shoal/random/uniform.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::random {
namespace {

using test::decided_mass;
using test::ScriptedSource;

TEST(BitSource, TakesWholeBytesAndKeepsTheWantedBits) {
  struct Ones final : BitSource {
    void fill(std::span<unsigned char> bytes) override {
      for (unsigned char& byte : bytes) byte = 0xFF;
      taken += bytes.size();
    }
    std::size_t taken = 0;
  } source;
  EXPECT_EQ(source.next_bits(0), 0u);
  EXPECT_EQ(source.taken, 0u);
  EXPECT_EQ(source.next_bits(9), 0x1FFu);
  EXPECT_EQ(source.taken, 2u);
  EXPECT_EQ(source.next_u64(), ~std::uint64_t{0});
  EXPECT_TRUE(source.next_bit());
  EXPECT_THROW(source.next_bits(65), Error);
}

TEST(UniformBelow, EveryValueIsEquallyLikely) {
  for (const std::uint64_t bound : {1u, 2u, 3u, 5u, 8u, 10u}) {
    const auto mass = decided_mass<std::uint64_t>(
        [bound](BitSource& bits) { return uniform_below(bound, bits); }, 12);
    ASSERT_EQ(mass.decided.size(), bound);
    for (const auto& [value, chance] : mass.decided) {
      EXPECT_LT(value, bound);
      EXPECT_EQ(chance, mass.of(0)) << bound;
    }
    EXPECT_LT(mass.undecided, 0.06) << bound;
  }
}

TEST(UniformBelow, RejectsAndDrawsAgainAtTheTopOfTheRange) {
  // 2^64 - 1 is the one number of 64 bits that is not below itself.
  std::vector<bool> script(128, true);
  script.back() = false;
  ScriptedSource source(script);
  EXPECT_EQ(uniform_below(~std::uint64_t{0}, source), ~std::uint64_t{0} - 1);
  EXPECT_EQ(source.bits_used(), 128u);
}

TEST(UniformBelow, RefusesAnEmptyRange) {
  ScriptedSource source({});
  EXPECT_THROW(uniform_below(0, source), Error);
}

TEST(Bernoulli, DecidedMassBracketsTheChance) {
  constexpr std::size_t kDepth = 16;
  for (std::uint64_t denominator = 1; denominator <= 12; ++denominator) {
    for (std::uint64_t numerator = 0; numerator <= denominator; ++numerator) {
      const auto mass = decided_mass<bool>(
          [=](BitSource& bits) { return bernoulli(numerator, denominator, bits); }, kDepth);
      const double chance = static_cast<double>(numerator) / static_cast<double>(denominator);
      EXPECT_LE(mass.of(true), chance);
      EXPECT_LE(mass.of(false), 1 - chance);
      // One string of each length stays undecided.
      EXPECT_LE(mass.undecided, std::ldexp(1.0, -static_cast<int>(kDepth)));
    }
  }
}

TEST(Bernoulli, CertaintiesTakeNoBits) {
  ScriptedSource source({});
  EXPECT_TRUE(bernoulli(7, 7, source));
  EXPECT_FALSE(bernoulli(0, 7, source));
  EXPECT_TRUE(bernoulli_exp_minus(0, 7, source));
  EXPECT_EQ(source.bits_used(), 0u);
}

TEST(Bernoulli, LargestNumbersDoNotOverflow) {
  // (2^64 - 2) / (2^64 - 1) has the binary digits 1, 1, 1, ...: only a run of ones keeps it
  // undecided.
  constexpr std::uint64_t kLargest = ~std::uint64_t{0};
  ScriptedSource ones_then_zero({true, true, true, false});
  EXPECT_TRUE(bernoulli(kLargest - 1, kLargest, ones_then_zero));
  EXPECT_EQ(ones_then_zero.bits_used(), 4u);
}

TEST(Bernoulli, RefusesWhatIsNoChance) {
  ScriptedSource source({});
  EXPECT_THROW(bernoulli(2, 1, source), Error);
  EXPECT_THROW(bernoulli(0, 0, source), Error);
  EXPECT_THROW(bernoulli_exp_minus(1, 0, source), Error);
}

struct Exponent {
  std::uint64_t numerator;
  std::uint64_t denominator;
};

class BernoulliExpMinus : public testing::TestWithParam<Exponent> {};

TEST_P(BernoulliExpMinus, DecidedMassBracketsTheChance) {
  // A word of k bits decides all but the one interval in which the chance lies.
  const Exponent x = GetParam();
  constexpr int kBits = 14;
  const auto mass = decided_mass<bool>(
      [x](BitSource& bits) {
        return exact_bernoulli_exp_minus(x.numerator, x.denominator, kBits, bits);
      },
      kBits);
  const double chance =
      std::exp(-static_cast<double>(x.numerator) / static_cast<double>(x.denominator));
  EXPECT_LE(mass.of(true), chance + 1e-15);
  EXPECT_GE(mass.of(true) + mass.undecided, chance - 1e-15);
  EXPECT_NEAR(mass.of(true) + mass.of(false) + mass.undecided, 1, 1e-15);
  EXPECT_LE(mass.undecided, std::ldexp(1.0, -kBits));
}

INSTANTIATE_TEST_SUITE_P(Exponents, BernoulliExpMinus,
                         testing::Values(Exponent{1, 1}, Exponent{1, 2}, Exponent{2, 3},
                                         Exponent{1, 100}, Exponent{99, 100}, Exponent{3, 2},
                                         Exponent{5, 2}, Exponent{7, 1},
                                         Exponent{(1ull << 63) + 1, 1ull << 63}));

}  // namespace
}  // namespace shoal::random
