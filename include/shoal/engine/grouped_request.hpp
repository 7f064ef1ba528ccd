// What a plan asks of an engine: rows, by which columns they are grouped, what is added up in each
// group, and how much of it any one unit may contribute. Any engine gives the same integers, but
// for the last place of a division (bounding.proof.md).
#pragma once

#include <shoal/catalog/grid.hpp>
#include <shoal/catalog/statistic.hpp>
#include <shoal/sql/query.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace shoal::engine {

enum class KeyType { integer, real, text, boolean, date, timestamp };

// steps: a number, clamped to `range` and rounded to its grid. identity: of any type; only whether
// two are equal matters.
enum class ValueUse { steps, identity };

struct ValueColumn {
  ValueUse use = ValueUse::steps;
  bool whole = false;  // BIGINT in the rows; otherwise DOUBLE
  catalog::GridRange range = {};
  bool nulls = true;             // false: a NULL counts as the middle of the range
  KeyType type = KeyType::real;  // of an identity
};

// One GROUP BY of the rows: by no column at all there is one group. Of each unit at most max_groups
// groups count: those with the smallest keyed hash of unit, set and key.
struct GroupingSet {
  std::vector<std::size_t> keys = {};  // which of the key columns
  std::int64_t max_groups = 1;
};

struct GroupedRequest {
  // The rows: [unit AS u,] keys AS k0, k1, ..., values AS v0, v1, ... over the tables' views. Each
  // row's contents depend on the rows of one unit (and public tables) alone, and no value can make
  // it fail: the planner has seen to both.
  sql::Query rows;
  bool has_unit = false;  // false: the unit is a row
  std::vector<KeyType> keys = {};
  std::vector<ValueColumn> values = {};
  std::vector<GroupingSet> sets = {};  // at least one
  std::vector<catalog::Statistic> statistics = {};
  std::int64_t rows_per_group = 1;      // of a unit in a group: more are scaled down to so many
  std::int64_t distinct_per_group = 1;  // different values of a unit in a group that count
  std::int64_t min_units = 1;           // groups of fewer units are left out
  std::array<std::uint64_t, 2> hash_key = {};
  bool clustered = false;  // the rows come ordered by unit, says the policy; it is checked
};

}  // namespace shoal::engine
