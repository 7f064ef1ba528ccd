// Release of grouped sums: every public key gets noise, hidden ones show only by the selection, and
// nothing comes out that was not reserved as it is.
#include "support/chi_square.hpp"
#include "support/ledger_requests.hpp"
#include "support/seeded_source.hpp"
#include "support/temporary_folder.hpp"
#include "support/touch.hpp"

#include <shoal/privacy/declared.hpp>
#include <shoal/release/release_groups.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace shoal::release {
namespace {

using catalog::Key;
using catalog::ReleasedGroup;
using mechanism::DiscreteGaussian;
using mechanism::DiscreteLaplace;
using mechanism::GroupedNoise;

constexpr Int128 kMost = std::numeric_limits<Int128>::max();

data::ExactGroup group(Key key, std::int64_t units, std::vector<Int128> sums) {
  return {std::move(key), units, std::move(sums), {}};
}

GroupedNoise public_noise() {
  GroupedNoise noise;
  noise.max_groups = 2;
  noise.statistics = {{DiscreteLaplace{10}, 0, 3}, {DiscreteGaussian{40}, -7, 7}};
  return noise;
}

GroupedNoise hidden_noise() {
  GroupedNoise noise;
  noise.max_groups = 2;
  noise.statistics = {{std::nullopt, 0, 1}, {DiscreteLaplace{10}, 0, 3}};
  noise.selection = mechanism::LaplaceThreshold{2, 40};
  return noise;
}

class ReleaseGroupsTest : public testing::Test {
 protected:
  void SetUp() override {
    ledger::Account account = test::account_of(1000, 1e-3);
    account.budget = budget();
    ledger_.open_account(account);
  }

  // Showing a group by mistake is paid for from what is set aside for failures.
  static privacy::Budget budget() {
    privacy::Budget budget{Epsilon(1000), Delta(1e-3)};
    budget.failures = Delta(5e-4);
    return budget;
  }

  privacy::Reservation reserve(std::span<const GroupedNoise> noises) {
    ledger::Request request = test::request_of("key" + std::to_string(++requests_), 1);
    request.budget = budget();
    request.event = mechanism::grouped_event(noises, Neighbors::add_remove);
    return test::reserve(ledger_, request);
  }

  privacy::Reservation touched(std::span<const GroupedNoise> noises) {
    privacy::Reservation reservation = reserve(noises);
    test::touch(reservation);
    return reservation;
  }

  // One grouping, reserved as it is released.
  std::vector<ReleasedGroup> released(const GroupedNoise& noise,
                                      std::vector<data::ExactGroup> groups,
                                      const std::vector<Key>& keys, std::uint64_t seed) {
    test::SeededSource bits(seed);
    return release_groups(touched({&noise, 1}), aggregate(std::move(groups)), {&noise, 1},
                          {&keys, 1}, Neighbors::add_remove, bits)
        .sets.at(0);
  }

  static std::vector<data::GroupedAggregate> aggregate(std::vector<data::ExactGroup> groups) {
    std::vector<data::GroupedAggregate> all;
    all.emplace_back(std::move(groups));
    return all;
  }

  std::optional<ErrorCode> refusal(privacy::Reservation reservation,
                                   std::span<const GroupedNoise> noises,
                                   std::span<const std::vector<Key>> keys,
                                   Neighbors neighbors = Neighbors::add_remove,
                                   std::vector<Int128> sums = {1, 2}) {
    test::SeededSource bits(1);
    return test::code_of([&] {
      release_groups(std::move(reservation), aggregate({group({"a"}, 90, std::move(sums))}), noises,
                     keys, neighbors, bits);
    });
  }

  test::TemporaryFolder folder_;
  ledger::Ledger ledger_{folder_ / "ledger"};
  int requests_ = 0;
};

TEST_F(ReleaseGroupsTest, EveryPublicKeyGetsItsNoise) {
  const GroupedNoise noise = public_noise();
  const std::vector<Key> keys = {{"b"}, {"a"}, {"nobody"}};
  test::SeededSource bits(5);
  std::vector<ReleasedGroup> expected;
  const std::vector<std::vector<Int128>> sums = {{20, -3}, {10, 7}, {0, 0}};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Int128 first = sums[i][0] + sample(*noise.statistics[0].noise, bits);
    const Int128 second = sums[i][1] + sample(*noise.statistics[1].noise, bits);
    expected.push_back({keys[i], {first, second}, {}});
  }
  // "c" is nobody's to know.
  const auto shown = released(
      noise, {group({"a"}, 4, {10, 7}), group({"b"}, 9, {20, -3}), group({"c"}, 9, {99, 99})}, keys,
      5);
  ASSERT_EQ(shown.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(shown[i].key, expected[i].key);
    EXPECT_TRUE(shown[i].values == expected[i].values) << i;
  }
}

TEST_F(ReleaseGroupsTest, PublicGroupsDoNotDependOnTheEnginesOrder) {
  const GroupedNoise noise = public_noise();
  const std::vector<Key> keys = {{"a"}, {"b"}, {std::nullopt}};
  std::vector<data::ExactGroup> groups = {group({"a"}, 4, {10, 7}), group({"b"}, 9, {20, -3}),
                                          group({std::nullopt}, 1, {5, 5})};
  const auto first = released(noise, groups, keys, 8);
  std::reverse(groups.begin(), groups.end());
  const auto second = released(noise, groups, keys, 8);
  // Nor does the noise of others on whether somebody is in a group.
  groups.erase(groups.begin() + 1);
  const auto third = released(noise, groups, keys, 8);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(first[i].values == second[i].values);
    if (i == 1) continue;
    EXPECT_TRUE(first[i].values == third[i].values);
  }
  EXPECT_TRUE(first[1].values[0] == third[1].values[0] + 20);
  EXPECT_TRUE(first[1].values[1] == third[1].values[1] - 3);
}

TEST_F(ReleaseGroupsTest, HiddenGroupsShowByTheirUnitsAndInTheOrderOfKeys) {
  const GroupedNoise noise = hidden_noise();
  // Of 1,000 units against a threshold of 40 with noise of scale 2, and of 1: which show is beyond
  // doubt (a chance of e^-19 at most each).
  const auto shown =
      released(noise,
               {group({"z"}, 1000, {1000, 7}), group({"tiny"}, 1, {1, 100'000}),
                group({std::nullopt}, 1000, {1000, 8}), group({"b"}, 1000, {1000, 9})},
               {}, 3);
  ASSERT_EQ(shown.size(), 3u);
  EXPECT_EQ(shown[0].key, Key{std::nullopt});
  EXPECT_EQ(shown[1].key, Key{"b"});
  EXPECT_EQ(shown[2].key, Key{"z"});
}

// The count that comes out is the one that the group was chosen by, never the exact one.
TEST_F(ReleaseGroupsTest, HiddenCountsAreTheSelectionsOwn) {
  const GroupedNoise noise = hidden_noise();
  int different = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    test::SeededSource bits(seed);
    const auto expected = select(*noise.selection, 44, bits);
    const Int128 sum = 500 + (expected ? sample(*noise.statistics[1].noise, bits) : Int128{0});
    // What the engine hands over as the count does not matter.
    const auto shown = released(noise, {group({"a"}, 44, {77, 500})}, {}, seed);
    ASSERT_EQ(shown.size(), expected ? 1u : 0u) << seed;
    if (!expected) continue;
    EXPECT_TRUE(shown[0].values[0] == *expected->noisy_units) << seed;
    EXPECT_TRUE(shown[0].values[1] == sum) << seed;
    EXPECT_TRUE(shown[0].values[0] >= 40) << seed;
    different += shown[0].values[0] != 44 ? 1 : 0;
  }
  EXPECT_GT(different, 10);
}

TEST_F(ReleaseGroupsTest, SaturatesAfterNoise) {
  GroupedNoise noise = public_noise();
  const std::vector<Key> keys = {{"a"}};
  const auto shown = released(noise, {group({"a"}, 1, {kMost, -kMost - 1})}, keys, 2);
  EXPECT_TRUE(shown[0].values[0] > kMost - 1000);
  EXPECT_TRUE(shown[0].values[1] < -(kMost - 1000));
}

// The law of what is released, end to end: 20,000 public groups, in each of which the sum is 42,
// are 20,000 independent draws. False alarm below 1e-6 each; the seed is fixed.
TEST_F(ReleaseGroupsTest, HasTheLawOfTheMechanism) {
  constexpr int kDraws = 20'000;
  std::vector<Key> keys;
  std::vector<data::ExactGroup> groups;
  for (int i = 0; i < kDraws; ++i) {
    keys.push_back({std::to_string(i)});
    groups.push_back(group(keys.back(), 1, {42}));
  }
  for (const mechanism::AnyMechanism spec : {mechanism::AnyMechanism(DiscreteLaplace{30}),
                                             mechanism::AnyMechanism(DiscreteGaussian{3000})}) {
    GroupedNoise noise;
    noise.statistics = {{spec, 0, 1}};
    const auto shown = released(noise, groups, keys, 9);
    test::SeededSource bits(9);
    std::size_t next = 0;
    const double p = test::chi_square_p_value(
        [&](random::BitSource&) { return shown[next++].values[0] - 42; },
        [&](Int128 x) { return mechanism::log_pmf(spec, x); }, 20'000, kDraws, bits);
    EXPECT_GT(p, 1e-6) << mechanism::describe(spec);
  }
}

TEST_F(ReleaseGroupsTest, RefusesWhatWasNotReserved) {
  const std::vector<GroupedNoise> noises = {public_noise()};
  const std::vector<std::vector<Key>> keys = {{{"a"}, {"b"}}};
  const std::vector<std::vector<Key>> none = {{}};
  EXPECT_EQ(refusal(touched(noises), noises, keys), std::nullopt);
  EXPECT_EQ(refusal(reserve(noises), noises, keys), ErrorCode::internal) << "untouched";
  EXPECT_EQ(refusal(touched(noises), noises, keys, Neighbors::replace_one), ErrorCode::internal);
  std::vector<GroupedNoise> other = noises;
  other[0].statistics[0].noise = DiscreteLaplace{5};
  EXPECT_EQ(refusal(touched(noises), other, keys), ErrorCode::internal) << "less noise";
  other = noises;
  other[0].statistics[1].least = -8;
  EXPECT_EQ(refusal(touched(noises), other, keys), ErrorCode::internal) << "further reach";
  other = noises;
  other[0].max_groups = 3;
  EXPECT_EQ(refusal(touched(noises), other, keys), ErrorCode::internal) << "more groups";
  other = {hidden_noise()};
  EXPECT_EQ(refusal(touched(noises), other, none), ErrorCode::internal) << "a selection";
  other = {hidden_noise()};
  other[0].selection = mechanism::LaplaceThreshold{2, 39};
  const std::vector<GroupedNoise> hidden = {hidden_noise()};
  EXPECT_EQ(refusal(touched(hidden), hidden, none), std::nullopt);
  EXPECT_EQ(refusal(touched(hidden), other, none), ErrorCode::internal) << "a lower threshold";
}

// Where the noise rests on something that is found first, an amount is reserved for it.
TEST_F(ReleaseGroupsTest, StaysWithinADeclaredAmount) {
  GroupedNoise noise;
  noise.max_groups = 2;
  noise.statistics = {{DiscreteLaplace{10}, 0, 3}};  // epsilon 2 * 3 / 10
  const std::vector<Key> keys = {{"a"}};
  const auto release = [&](std::int64_t epsilon_units) {
    ledger::Request request = test::request_of("amount" + std::to_string(epsilon_units), 1);
    request.budget = budget();
    request.event = privacy::declared({epsilon_units, 0, 0});
    privacy::Reservation reservation = test::reserve(ledger_, request);
    test::touch(reservation);
    test::SeededSource bits(3);
    release_groups(std::move(reservation), aggregate({group({"a"}, 5, {7})}), {&noise, 1},
                   {&keys, 1}, Neighbors::add_remove, bits);
  };
  EXPECT_EQ(test::code_of([&] { release(600'000'000'000); }), std::nullopt);
  EXPECT_EQ(test::code_of([&] { release(599'999'999'999); }), ErrorCode::internal);
}

TEST_F(ReleaseGroupsTest, RefusesWhatDoesNotFitTogether) {
  const std::vector<GroupedNoise> noises = {public_noise()};
  const std::vector<GroupedNoise> two = {public_noise(), public_noise()};
  const std::vector<GroupedNoise> hidden = {hidden_noise()};
  const std::vector<std::vector<Key>> keys = {{{"a"}, {"b"}}};
  const std::vector<std::vector<Key>> twice = {{{"a"}, {"b"}, {"a"}}};
  const std::vector<std::vector<Key>> both = {keys[0], keys[0]};
  EXPECT_EQ(refusal(touched(two), two, both), ErrorCode::internal)
      << "one aggregate for two groupings";
  EXPECT_EQ(refusal(touched(noises), noises, {}), ErrorCode::internal) << "no list of keys";
  EXPECT_EQ(refusal(touched(hidden), hidden, keys), ErrorCode::internal)
      << "public keys beside a selection";
  EXPECT_EQ(refusal(touched(noises), noises, twice), ErrorCode::internal) << "a key listed twice";
  EXPECT_EQ(refusal(touched(noises), noises, keys, Neighbors::add_remove, {1, 2, 3}),
            ErrorCode::internal)
      << "a statistic without noise";
}

}  // namespace
}  // namespace shoal::release
