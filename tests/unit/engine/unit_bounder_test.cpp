// A unit that is done at once adds what it adds bit by bit: on random rows, in groups of few and of
// many, with values that are NULL, NaN and out of range, and where hashes are all the same.
#include "engine/unit_bounder.hpp"

#include "unit/engine/grouped_reference.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>

namespace shoal::engine {
namespace {

// With this one, mix() gives 0 whatever the key is: all groups of the unit have one hash.
constexpr std::uint64_t kSameHash = 0x9E3779B97F4A7C15u;

// Some rows of one unit, with memory of their own.
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

  RowBlock block;
  std::vector<std::vector<GroupNumber>> numbers;
  std::vector<std::vector<std::uint64_t>> words;
  std::vector<std::vector<std::uint64_t>> validity;
};

class Bounded {
 public:
  explicit Bounded(const GroupShape& shape, std::size_t groups) : shape_(shape) {
    for (std::size_t set = 0; set < shape.sets.size(); ++set) {
      keys_.emplace_back(shape.hash_key, set);
      tables_.emplace_back(shape);
      for (std::size_t i = 0; i < groups; ++i) {
        std::string bytes;
        append_word(bytes, 31 * i % groups);
        keys_.back().add(bytes);
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

TEST(UnitBounder, AWholeUnitAddsWhatItAddsBitByBit) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 300; ++round) {
    GroupedRequest request = request_of(1 + round % 10, round % 2 == 0);
    request.rows_per_group = 1 + static_cast<std::int64_t>(random() % 12);
    // One value alone has a way of its own.
    if (round % 3 == 0) {
      request.values.resize(1);
      std::erase_if(request.statistics, [](const auto& statistic) { return statistic.value > 0; });
    }
    const GroupShape shape(request);
    const std::size_t groups = round % 5 == 0 ? 100 : 1 + random() % 12;
    Bounded whole(shape, groups);
    Bounded bit_by_bit(shape, groups);
    for (int unit = 0; unit < 30; ++unit) {
      const std::size_t size = unit == 7 ? 1500 : 1 + random() % (unit % 4 == 0 ? 200 : 12);
      const Rows rows(random, size, 2, groups);
      const std::uint64_t hash = random() % 8 == 0 ? kSameHash : random();
      const std::size_t first = random() % size;
      whole.bounder().add_whole(hash, rows.block, first, size);
      bit_by_bit.bounder().begin(hash);
      const std::size_t middle = first + random() % (size - first);
      bit_by_bit.bounder().add(rows.block, first, middle);
      bit_by_bit.bounder().add(rows.block, middle, size);
      bit_by_bit.bounder().finish();
    }
    for (std::size_t set = 0; set < 2; ++set)
      ASSERT_EQ(whole.open(set), bit_by_bit.open(set)) << round << " " << set;
  }
}

// The order of a unit's rows does not matter, where hashes tie neither.
TEST(UnitBounder, TheOrderOfAWholeUnitsRowsDoesNotMatter) {
  std::mt19937_64 random(12);
  const GroupShape shape(request_of(3, true));
  for (const std::uint64_t hash : {kSameHash, std::uint64_t{42}}) {
    Rows rows(random, 60, 2, 9);
    Bounded forwards(shape, 9);
    Bounded backwards(shape, 9);
    for (auto& value : rows.block.values) value.validity = nullptr;
    forwards.bounder().add_whole(hash, rows.block, 0, 60);
    for (auto& numbers : rows.numbers) std::reverse(numbers.begin(), numbers.end());
    for (auto& words : rows.words) std::reverse(words.begin(), words.end());
    backwards.bounder().add_whole(hash, rows.block, 0, 60);
    for (std::size_t set = 0; set < 2; ++set)
      EXPECT_EQ(forwards.open(set), backwards.open(set)) << hash;
  }
}

}  // namespace
}  // namespace shoal::engine
