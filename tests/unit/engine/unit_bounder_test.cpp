// Units that are done at once, one by one or many, add what they add bit by bit: on random rows, in
// groups of few and of many, with values that are NULL, NaN and out of range, and where hashes of
// keys are the same or nearly so.
#include "engine/unit_bounder.hpp"

#include "unit/engine/grouped_reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>

namespace shoal::engine {
namespace {

// The hashes that keys have.
enum class Hashes {
  own,
  same,         // one for all
  second_half,  // that differ in the half that vectors do not see
  nearly,       // that are spread among a few
  last,         // that bring ranks to the end of their range
};

std::uint64_t hash_of(Hashes hashes, std::uint64_t key, std::uint64_t own) {
  switch (hashes) {
    case Hashes::own:
      break;
    case Hashes::same:
      return 42;
    case Hashes::second_half:
      return std::uint64_t{77} << 32 | static_cast<std::uint32_t>(own);
    case Hashes::nearly:
      return own & 0xC0000000C0000000u;
    case Hashes::last:
      return ~std::uint64_t{0} - (key << 47);
  }
  return own;
}

// Flips nothing and multiplies by 1: ranks are the first bits of the keys' hashes.
constexpr std::uint64_t kPlainUnit = 0;

// Some rows, with memory of their own.
struct Rows {
  Rows(std::mt19937_64& random, std::size_t size, std::size_t sets, std::size_t groups) {
    const double inf = std::numeric_limits<double>::infinity();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double reals[] = {0.0, -0.0, 0.125, -0.125, 0.375, 9.9, -4, 1e300, inf, -inf, nan, 2.6};
    numbers.resize(sets);
    for (auto& set : numbers) {
      for (std::size_t i = 0; i < size; ++i)
        set.push_back(static_cast<GroupNumber>(random() % groups));
      block.groups.push_back(set.data());
    }
    words.resize(3);
    for (std::size_t i = 0; i < size; ++i) {
      words[0].push_back(std::bit_cast<std::uint64_t>(reals[random() % std::size(reals)]));
      words[1].push_back(random() % 5 == 0 ? random() : random() % 40 - 10);
      words[2].push_back(random());
    }
    validity.resize(3);
    for (std::size_t value = 0; value < 3; ++value) {
      const bool nulls = random() % 2 == 0;
      for (std::size_t i = 0; i <= size / 64; ++i) validity[value].push_back(random() | random());
      block.values.push_back({words[value].data(), nulls ? validity[value].data() : nullptr});
    }
    block.size = size;
  }

  // Without NULL and NaN: such blocks have a way of their own.
  void clean() {
    for (auto& value : block.values) value.validity = nullptr;
    for (std::uint64_t& word : words[0]) {
      if (std::isnan(std::bit_cast<double>(word))) word = 0;
    }
  }

  RowBlock block;
  std::vector<std::vector<GroupNumber>> numbers;
  std::vector<std::vector<std::uint64_t>> words;
  std::vector<std::vector<std::uint64_t>> validity;
};

class Bounded {
 public:
  explicit Bounded(const GroupShape& shape, std::size_t groups, Hashes hashes = Hashes::own)
      : shape_(shape) {
    for (std::size_t set = 0; set < shape.sets.size(); ++set) {
      keys_.emplace_back(shape.hash_key, set);
      tables_.emplace_back(shape);
      for (std::size_t i = 0; i < groups; ++i) {
        std::string bytes;
        append_word(bytes, 31 * i % groups);
        GroupKeys own(shape.hash_key, set);
        own.add(bytes);
        keys_.back().add(bytes, hash_of(hashes, i, own.hash(0)));
      }
    }
    std::vector<const GroupKeys*> lists;
    for (const GroupKeys& keys : keys_) lists.push_back(&keys);
    bounder_ = std::make_unique<UnitBounder>(shape_, lists, tables_);
  }

  UnitBounder& bounder() { return *bounder_; }

  test::OpenGroups open(std::size_t set) {
    const KeyType types[] = {KeyType::integer};
    return test::open(data::GroupedAggregate(tables_[set].groups(keys_[set], types)));
  }

 private:
  const GroupShape& shape_;
  std::vector<GroupKeys> keys_;
  std::vector<GroupTable> tables_;
  std::unique_ptr<UnitBounder> bounder_;
};

// Sums, counts and, in half of the rounds, squares: what is done at once.
GroupedRequest request_of(std::int64_t max_groups, bool squares) {
  GroupedRequest request = reference::request_of({{{0}, max_groups}, {{0}, 2}});
  std::erase_if(request.statistics, [&](const catalog::Statistic& statistic) {
    using catalog::StatisticKind;
    return statistic.kind == StatisticKind::leaves || statistic.kind == StatisticKind::distinct ||
           (statistic.kind == StatisticKind::centred_squares && !squares);
  });
  return request;
}

// One of many requests: sums of three values or of one, or counts alone.
GroupedRequest any_request(int round, std::mt19937_64& random) {
  GroupedRequest request = request_of(1 + round % 10, round % 2 == 0);
  request.rows_per_group = 1 + static_cast<std::int64_t>(random() % 12);
  const std::size_t values = round % 3 == 0 ? 1 : round % 7 == 0 ? 0 : 3;
  request.values.resize(values);
  if (values == 1 && round % 2 == 0) {
    request.statistics.push_back(
        {catalog::StatisticKind::centred_squares, 0, "v0", reference::kRange0});
  }
  std::erase_if(request.statistics, [&](const catalog::Statistic& statistic) {
    using catalog::StatisticKind;
    if (statistic.kind == StatisticKind::units || statistic.kind == StatisticKind::rows)
      return false;
    // One sum and no more has a way of its own, which one of squares does not.
    return statistic.value >= values ||
           (round % 5 < 3 && statistic.kind == StatisticKind::plain_sum) ||
           (round % 5 == 2 && statistic.kind == StatisticKind::centred_sum);
  });
  return request;
}

void add_bit_by_bit(UnitBounder& bounder, std::mt19937_64& random, std::uint64_t hash,
                    const RowBlock& block, std::size_t first, std::size_t last) {
  bounder.begin(hash);
  const std::size_t middle = first + random() % (last - first);
  bounder.add(block, first, middle);
  bounder.add(block, middle, last);
  bounder.finish();
}

TEST(UnitBounder, WholeUnitsAddWhatTheyAddBitByBit) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 1000; ++round) {
    const GroupShape shape(any_request(round, random));
    const std::size_t groups = round % 5 == 0 ? 100 : 1 + random() % 12;
    const auto hashes = static_cast<Hashes>(random() % 5);
    Bounded many(shape, groups, hashes);
    Bounded one_by_one(shape, groups, hashes);
    Bounded bit_by_bit(shape, groups, hashes);
    std::vector<std::size_t> ends;
    std::vector<std::uint64_t> units;
    const std::size_t first = random() % 20;
    std::size_t size = first;
    for (int unit = 0; unit < 40; ++unit) {
      // Of a few rows, as many as vectors hold and one more, of many, of very many.
      const std::size_t rows[] = {1 + random() % 16, 16 + random() % 2, 1 + random() % 70,
                                  63 + random() % 3, 1 + random() % 16, 1 + random() % 9};
      const std::size_t added =
          unit == 7 && round % 4 == 0 ? 1000 + random() % 3000 : rows[random() % std::size(rows)];
      ends.push_back(size += added);
      units.push_back(random() % 8 == 0 ? kPlainUnit : random());
    }
    Rows rows(random, size + (round % 3 == 0 ? 0 : random() % 20), 2, groups);
    if (round % 2 == 0) rows.clean();
    many.bounder().add_units(rows.block, {first, ends, units});
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      const std::size_t from = unit == 0 ? first : ends[unit - 1];
      one_by_one.bounder().add_whole(units[unit], rows.block, from, ends[unit]);
      add_bit_by_bit(bit_by_bit.bounder(), random, units[unit], rows.block, from, ends[unit]);
    }
    for (std::size_t set = 0; set < 2; ++set) {
      const test::OpenGroups wanted = bit_by_bit.open(set);
      ASSERT_EQ(many.open(set), wanted) << round << " " << set;
      ASSERT_EQ(one_by_one.open(set), wanted) << round << " " << set;
    }
  }
}

// The order of a unit's rows does not matter, where hashes tie neither.
TEST(UnitBounder, TheOrderOfAWholeUnitsRowsDoesNotMatter) {
  std::mt19937_64 random(12);
  const GroupShape shape(request_of(3, true));
  for (const Hashes hashes : {Hashes::own, Hashes::same, Hashes::nearly}) {
    Rows rows(random, 60, 2, 9);
    rows.clean();
    Bounded forwards(shape, 9, hashes);
    Bounded backwards(shape, 9, hashes);
    const std::size_t ends[] = {60};
    const std::uint64_t units[] = {42};
    forwards.bounder().add_units(rows.block, {0, ends, units});
    for (auto& numbers : rows.numbers) std::reverse(numbers.begin(), numbers.end());
    for (auto& words : rows.words) std::reverse(words.begin(), words.end());
    backwards.bounder().add_units(rows.block, {0, ends, units});
    for (std::size_t set = 0; set < 2; ++set)
      EXPECT_EQ(forwards.open(set), backwards.open(set)) << static_cast<int>(hashes);
  }
}

// Of 20 groups each one is among the 3 that count as often as any other, and any two as often as
// any other two. If the choice were uniform, the first statistic would be 17/19 of a chi-square of
// 19 degrees of freedom, and the second, as two pairs of a unit have a group in common, 17/9 of one
// of 19 plus 8/9 of one of 170. False alarm: each below 1e-6, by the quantile of the chi-square and
// by Chernoff's bound.
TEST(UnitBounder, EveryGroupIsChosenAsOften) {
  GroupedRequest request = request_of(3, false);
  const GroupShape shape(request);
  constexpr std::size_t kGroups = 20;
  GroupKeys keys(shape.hash_key, 0);
  for (std::size_t i = 0; i < kGroups; ++i) {
    std::string bytes;
    append_word(bytes, i);
    keys.add(bytes);
  }
  constexpr int kUnits = 200'000;
  std::vector<double> single(kGroups);
  std::vector<double> pair(kGroups * kGroups);
  for (int unit = 0; unit < kUnits; ++unit) {
    const std::uint64_t hash = hash_word(shape.hash_key, static_cast<std::uint64_t>(unit));
    std::array<std::pair<std::uint64_t, std::size_t>, kGroups> order;
    for (std::size_t i = 0; i < kGroups; ++i)
      order[i] = {group_hash(hash, keys.hash(static_cast<GroupNumber>(i))), i};
    std::partial_sort(order.begin(), order.begin() + 3, order.end());
    for (std::size_t a = 0; a < 3; ++a) {
      ++single[order[a].second];
      for (std::size_t b = 0; b < 3; ++b)
        if (order[a].second < order[b].second) ++pair[order[a].second * kGroups + order[b].second];
    }
  }
  const auto chi_square = [](const std::vector<double>& counts, double expected) {
    double sum = 0;
    for (const double count : counts) {
      if (count > 0) sum += (count - expected) * (count - expected) / expected;
    }
    return sum;
  };
  EXPECT_LT(chi_square(single, kUnits * 3.0 / kGroups), 63.7);
  EXPECT_LT(chi_square(pair, kUnits * 3.0 / (kGroups * (kGroups - 1) / 2.0)), 318.7);
}

// Of 17 values of a unit, 5 of which may count, no two that count are further apart in order than
// the spacing, or nearer, and each counts as often as any other. False alarm: below 1e-6, 17 counts
// each 5.5 standard deviations of a binomial one from its mean.
TEST(UnitBounder, ValuesThatCountAreSpacedEvenlyAndAsOften) {
  GroupedRequest request = reference::request_of({{{}, 1}});
  std::erase_if(request.statistics, [](const catalog::Statistic& statistic) {
    return statistic.kind != catalog::StatisticKind::leaves;
  });
  request.rows_per_group = 5;
  const GroupShape shape(request);
  constexpr std::size_t kValues = 17;
  std::mt19937_64 random(13);
  Rows rows(random, kValues, 1, 1);
  rows.clean();
  for (std::size_t i = 0; i < kValues; ++i) {
    // In steps of a quarter; not in order.
    rows.words[0][i] = std::bit_cast<std::uint64_t>(0.25 * static_cast<double>(i * 7 % kValues));
  }
  constexpr int kUnits = 20'000;
  std::vector<int> counts(kValues);
  for (int unit = 0; unit < kUnits; ++unit) {
    Bounded one(shape, 1);
    one.bounder().add_whole(hash_word(shape.hash_key, static_cast<std::uint64_t>(unit)), rows.block,
                            0, kValues);
    long long before = -1;
    long long counted = 0;
    const test::OpenGroups groups = one.open(0);
    ASSERT_EQ(groups.size(), 1u);
    for (const auto& [step, count] : groups.begin()->second.leaves.at(0)) {
      ASSERT_EQ(count, 1);
      ASSERT_TRUE(before < 0 || step - before == 3 || step - before == 4) << step - before;
      before = step;
      ++counts.at(static_cast<std::size_t>(step));
      ++counted;
    }
    ASSERT_EQ(counted, 5);
  }
  const double share = 5.0 / kValues;
  const double deviation = std::sqrt(kUnits * share * (1 - share));
  for (const int count : counts) EXPECT_LT(std::abs(count - kUnits * share), 5.5 * deviation);
}

}  // namespace
}  // namespace shoal::engine
