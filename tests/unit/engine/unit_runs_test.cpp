// Where units end, found with vectors of words, without them, and for texts.
#include "engine/unit_runs.hpp"

#include "engine/keyed_hash.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace shoal::engine {
namespace {

struct Found {
  std::vector<std::size_t> ends;
  bool ordered = true;
  bool operator==(const Found&) const = default;
};

template <typename Unit>
Found naive(const std::vector<Unit>& units) {
  Found found;
  for (std::size_t row = 1; row <= units.size(); ++row) {
    if (row == units.size() || units[row] != units[row - 1]) found.ends.push_back(row);
    if (row < units.size() && units[row] < units[row - 1]) found.ordered = false;
  }
  return found;
}

Found of(const UnitRuns& runs) {
  return {{runs.ends.begin(), runs.ends.begin() + static_cast<std::ptrdiff_t>(runs.size)},
          runs.ordered};
}

void expect_found(const std::vector<std::int64_t>& units, UnitRuns& runs) {
  const Found wanted = naive(units);
  find_runs(std::span(units), runs);
  EXPECT_EQ(of(runs), wanted);
  find_runs_portable(units, runs);
  EXPECT_EQ(of(runs), wanted);
  std::vector<std::string> texts;
  for (const std::int64_t unit : units) texts.push_back(std::to_string(unit));
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  find_runs(std::span(views), runs);
  EXPECT_EQ(of(runs), naive(views));
}

TEST(UnitRuns, EveryEndIsFound) {
  std::mt19937_64 random(1);
  UnitRuns runs;  // used again and again, as in earnest
  for (int round = 0; round < 400; ++round) {
    std::vector<std::int64_t> units(1 + random() % 300);
    std::int64_t unit = std::numeric_limits<std::int64_t>::min();
    for (std::int64_t& of_row : units) {
      if (random() % (1 + static_cast<std::size_t>(round % 20)) == 0)
        unit += static_cast<std::int64_t>(random() >> (8 + random() % 55));
      of_row = unit;
    }
    expect_found(units, runs);
  }
}

// One step down anywhere is seen, and so are neighbours that differ in one bit alone.
TEST(UnitRuns, OneRowOutOfOrderIsSeen) {
  UnitRuns runs;
  for (const std::size_t size : {2u, 5u, 64u, 65u, 66u, 200u}) {
    for (std::size_t row = 0; row < size; ++row) {
      std::vector<std::int64_t> units(size, 7);
      units[row] = 6;
      expect_found(units, runs);
      units[row] = 7 + (std::int64_t{1} << 33);
      expect_found(units, runs);
      units[row] = -7;
      std::sort(units.begin(), units.end());
      expect_found(units, runs);
    }
  }
}

TEST(KeyedHash, ManyWordsHaveTheHashesOfEach) {
  std::mt19937_64 random(2);
  const HashKey key{random(), random()};
  for (std::size_t size = 0; size < 20; ++size) {
    std::vector<std::uint64_t> words(size);
    for (std::uint64_t& word : words) word = random();
    std::vector<std::uint64_t> hashes(size);
    hash_words(key, words, hashes.data());
    for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(hashes[i], hash_word(key, words[i]));
    std::vector<std::uint64_t> in_place = words;
    hash_words(key, in_place, in_place.data());
    EXPECT_EQ(in_place, hashes);
  }
}

// Different keys never tie for a unit, whatever the unit's hash is.
TEST(KeyedHash, OfOneUnitDifferentKeysHaveDifferentHashes) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 10'000; ++round) {
    const std::uint64_t unit = round == 0 ? 0 : random();
    const std::uint64_t key = random();
    const std::uint64_t other = key ^ std::uint64_t{1} << (random() % 64);
    EXPECT_NE(group_hash(unit, key), group_hash(unit, other));
  }
}

}  // namespace
}  // namespace shoal::engine
