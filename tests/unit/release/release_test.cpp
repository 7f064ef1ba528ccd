// Release: what comes out is the exact sum plus the reserved noise, and nothing comes out
// otherwise.
#include "support/chi_square.hpp"
#include "support/ledger_requests.hpp"
#include "support/seeded_source.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/release/release.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace shoal::release {
namespace {

using mechanism::DiscreteGaussian;
using mechanism::DiscreteLaplace;
using mechanism::StatisticNoise;

class ReleaseTest : public testing::Test {
 protected:
  void SetUp() override { ledger_.open_account(test::account_of(1000, 1e-3)); }

  privacy::Reservation reserve(const privacy::Event& event) {
    ledger::Request request = test::request_of("key" + std::to_string(++requests_), 1);
    request.budget = {Epsilon(1000), Delta(1e-3)};
    request.event = event;
    return test::reserve(ledger_, request);
  }

  privacy::Reservation touched(std::span<const StatisticNoise> noises) {
    privacy::Reservation reservation = reserve(mechanism::joint_event(noises));
    reservation.touch();
    return reservation;
  }

  test::TemporaryFolder folder_;
  ledger::Ledger ledger_{folder_ / "ledger"};
  int requests_ = 0;
};

const std::vector<StatisticNoise> kNoises = {{DiscreteLaplace{10}, Sensitivity(1)},
                                             {DiscreteGaussian{300}, Sensitivity(7)},
                                             {DiscreteLaplace{0x1p30}, Sensitivity(1000)}};

TEST_F(ReleaseTest, AddsTheNoiseOfEachStatisticInOrder) {
  test::SeededSource expected_bits(3);
  std::vector<Int128> expected;
  for (const StatisticNoise& noise : kNoises)
    expected.push_back(sample(noise.mechanism, expected_bits));
  test::SeededSource bits(3);
  const Released released =
      release(touched(kNoises), data::ExactAggregate({100, -5, 1'000'000}), kNoises, bits);
  EXPECT_EQ(released.values[0], 100 + expected[0]);
  EXPECT_EQ(released.values[1], -5 + expected[1]);
  EXPECT_EQ(released.values[2], 1'000'000 + expected[2]);
}

TEST_F(ReleaseTest, RefusesNoiseThatWasNotReserved) {
  test::SeededSource bits(1);
  const auto refused = [&](std::vector<StatisticNoise> noises, privacy::Reservation reservation,
                           std::vector<Int128> sums) {
    return test::code_of([&] {
      release(std::move(reservation), data::ExactAggregate(std::move(sums)), noises, bits);
    });
  };
  std::vector<StatisticNoise> weaker = kNoises;
  weaker[0].mechanism = DiscreteLaplace{5};
  EXPECT_EQ(refused(weaker, touched(kNoises), {1, 2, 3}), ErrorCode::internal);
  std::vector<StatisticNoise> bolder = kNoises;
  bolder[1].sensitivity = Sensitivity(8);
  EXPECT_EQ(refused(bolder, touched(kNoises), {1, 2, 3}), ErrorCode::internal);
  EXPECT_EQ(refused({kNoises[0]}, touched(kNoises), {1}), ErrorCode::internal);
  EXPECT_EQ(refused(kNoises, touched(kNoises), {1, 2}), ErrorCode::internal);
  EXPECT_EQ(refused(kNoises, reserve(mechanism::joint_event(kNoises)), {1, 2, 3}),
            ErrorCode::internal);
}

TEST_F(ReleaseTest, SaturatesAfterNoise) {
  test::SeededSource bits(1);
  const std::vector<StatisticNoise> wide(50, {DiscreteLaplace{0x1p40}, Sensitivity(1)});
  const Released top =
      release(touched(wide), data::ExactAggregate(std::vector<Int128>(50, kInt128Max)), wide, bits);
  EXPECT_EQ(std::count(top.values.begin(), top.values.end(), kInt128Max) > 0, true);
  EXPECT_TRUE(std::all_of(top.values.begin(), top.values.end(),
                          [](Int128 value) { return value > kInt128Max / 2; }));
}

// The law of what is released, end to end: 20,000 statistics in one release, each 42, are 20,000
// independent draws. False alarm below 1e-6 each; the seed is fixed.
TEST_F(ReleaseTest, HasTheLawOfTheMechanism) {
  constexpr int kDraws = 20'000;
  for (const mechanism::AnyMechanism spec : {mechanism::AnyMechanism(DiscreteLaplace{30}),
                                             mechanism::AnyMechanism(DiscreteGaussian{3000})}) {
    const std::vector<StatisticNoise> noises(kDraws, {spec, Sensitivity(1)});
    test::SeededSource bits(9);
    const Released released = release(
        touched(noises), data::ExactAggregate(std::vector<Int128>(kDraws, 42)), noises, bits);
    std::size_t next = 0;
    const double p = test::chi_square_p_value(
        [&](random::BitSource&) { return released.values[next++] - 42; },
        [&](Int128 x) { return mechanism::log_pmf(spec, x); }, 20'000, kDraws, bits);
    EXPECT_GT(p, 1e-6) << mechanism::describe(spec);
  }
}

}  // namespace
}  // namespace shoal::release
