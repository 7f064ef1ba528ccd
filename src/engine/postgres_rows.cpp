#include "engine/postgres_rows.hpp"

#include "engine/postgres_types.hpp"

#include <shoal/base/error.hpp>

#include <fmt/format.h>

namespace shoal::engine {
namespace {

// OFFSET 0 keeps PostgreSQL from putting the expressions of one query into those of the next: each
// uses its columns several times, and would calculate everything below it as often.
constexpr const char* kApart = " OFFSET 0";

// The views' names hold inside of this query alone, so they cannot clash with ours.
std::string asked_query(const std::string& views, const std::string& rows) {
  return fmt::format("WITH {} SELECT * FROM ({}) AS asked{}", views, rows, kApart);
}

std::string item(const std::string& name, unsigned type, KeyType wanted) {
  const std::optional<std::string> value = converted(name, type, wanted, kMaxKeyText);
  if (!value)
    throw PostgresFailure(fmt::format("column {} has type {}, which does not fit", name, type));
  return fmt::format("{} AS {}", *value, name);
}

// Whole and real numbers as such, everything else as text: a unit need only be equal to itself.
KeyType unit_type(unsigned type) {
  const std::optional<KeyType> natural = natural_type(type, false);
  return natural == KeyType::integer || natural == KeyType::real ? *natural : KeyType::text;
}

KeyType type_of(const ValueColumn& value) {
  if (value.use == ValueUse::identity) return value.type;
  return value.whole ? KeyType::integer : KeyType::real;
}

std::string final_value(const std::string& name, const ValueColumn& value) {
  if (value.use == ValueUse::identity) return name;
  return fmt::format("{} AS {}", postgres_steps(name, value.whole, value.range, value.nulls), name);
}

}  // namespace

std::string typed_rows(PostgresConnection& connection, const std::string& views,
                       const std::string& rows, const GroupedRequest& request) {
  const std::string asked = asked_query(views, rows);
  const std::vector<unsigned> types = connection.column_types(asked);
  SHOAL_CHECK(types.size() ==
              (request.has_unit ? 1u : 0u) + request.keys.size() + request.values.size());
  std::string items;
  std::string finals;
  std::size_t at = 0;
  const auto append = [&](const std::string& one, const std::string& last) {
    items += (items.empty() ? "" : ", ") + one;
    finals += (finals.empty() ? "" : ", ") + last;
    ++at;
  };
  if (request.has_unit) append(item("u", types[at], unit_type(types[at])), "u");
  for (std::size_t i = 0; i < request.keys.size(); ++i) {
    const std::string name = fmt::format("k{}", i);
    append(item(name, types[at], request.keys[i]), name);
  }
  for (std::size_t i = 0; i < request.values.size(); ++i) {
    const std::string name = fmt::format("v{}", i);
    append(item(name, types[at], type_of(request.values[i])), final_value(name, request.values[i]));
  }
  return fmt::format(
      "asked AS ({}), converted AS (SELECT {} FROM asked{}), typed AS (SELECT {} FROM converted{})",
      asked, items, kApart, finals, request.has_unit ? " WHERE u IS NOT NULL" : "");
}

TypedKeys typed_keys(PostgresConnection& connection, const std::string& views,
                     const std::string& rows) {
  TypedKeys keys;
  const std::string asked = asked_query(views, rows);
  std::string items;
  for (const unsigned type : connection.column_types(asked)) {
    const std::string name = fmt::format("k{}", keys.types.size());
    keys.types.push_back(natural_type(type, false).value_or(KeyType::text));
    items += (items.empty() ? "" : ", ") + item(name, type, keys.types.back());
  }
  keys.sql = fmt::format("asked AS ({}), typed AS (SELECT {} FROM asked)", asked, items);
  return keys;
}

}  // namespace shoal::engine
