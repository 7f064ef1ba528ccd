// The SQL that bounds and adds up a grouped request inside PostgreSQL: what UnitBounder does, as
// statements. Each statement bounds every unit by itself, as its last step before it adds up.
//
// A unit keeps the groups with the smallest SHA-256 of a secret key, the unit, the set and the
// group's keys: another hash than the native one, so it may keep others, but of the same groups it
// makes the same integers. The secret is the parameter $1 and stands in no text. Proof:
// bounded_sql.proof.md.
#pragma once

#include "engine/group_shape.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace shoal::engine {

class BoundedSql {
 public:
  // `typed`: common tables, of which the last is named typed and has [u,] k0, k1, ..., v0, v1, ...,
  // in the request's types, values in steps, and no row without a unit.
  BoundedSql(const GroupShape& shape, bool has_unit, std::string typed)
      : shape_(shape), has_unit_(has_unit), typed_(std::move(typed)) {}

  // One row a group of at least min_units units: its keys, how many units, and one number for each
  // of the shape's integers, 0 for those that need the values themselves.
  std::string integers(std::size_t set) const;
  // Of such a statistic: the keys of a group, how many different values.
  std::string distinct(std::size_t set, std::size_t value) const;
  // The keys of a group, a step, how many values fell on it; in the order of the steps.
  std::string leaves(std::size_t set, std::size_t value) const;

  bool has_parameter() const { return has_unit_; }

 private:
  enum class HashOf { group, leaf, different };

  std::string keys(std::size_t set, const char* before) const;
  std::string key_outputs(std::size_t set) const;
  std::string group_by(std::size_t set, const std::string& more) const;
  std::string hash(HashOf what, std::size_t set, const std::string& more) const;
  std::string bounded_units(std::size_t set) const;
  std::string bounded_rows(std::size_t set) const;
  std::string unit_value(std::size_t integer) const;
  std::string row_value(std::size_t integer) const;
  std::string kept_values(std::size_t set, std::size_t value) const;

  const GroupShape& shape_;
  bool has_unit_;
  std::string typed_;
};

}  // namespace shoal::engine
