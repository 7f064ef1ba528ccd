#include "engine/row_query.hpp"

#include "engine/source.hpp"

#include <shoal/base/error.hpp>

#include <fmt/format.h>

namespace shoal::engine {
namespace {

struct Item {
  std::string sql;
  Storage storage;
};

std::string cast(const std::string& name, const std::string& from, const std::string& to) {
  return from == to ? name : fmt::format("TRY_CAST({} AS {})", name, to);
}

// NaN is NULL; -0.0 is 0.0, so that equal numbers have one name.
std::string real(const std::string& number) {
  return fmt::format("CASE WHEN isnan({0}) THEN NULL ELSE {0} + 0.0::DOUBLE END", number);
}

// Whole numbers as such, everything else as text: a unit need only be equal to itself.
Item unit_item(const std::string& type) {
  switch (policy_type(type)) {
    case catalog::ColumnType::integer:
      return {cast("u", type, "BIGINT"), Storage::bits64};
    case catalog::ColumnType::real:
      return {fmt::format("CAST({} AS VARCHAR)", real(cast("u", type, "DOUBLE"))), Storage::text};
    case catalog::ColumnType::text:
    case catalog::ColumnType::boolean:
    case catalog::ColumnType::date:
    case catalog::ColumnType::timestamp:
    case catalog::ColumnType::other:
      break;
  }
  return {cast("u", type, "VARCHAR"), Storage::text};
}

Item identity_item(const std::string& name, const std::string& type, KeyType wanted) {
  if (wanted == KeyType::integer && type == "INTEGER") return {name, Storage::bits32};
  const std::string value = cast(name, type, engine_type(wanted));
  return {wanted == KeyType::real ? real(value) : value, storage_of(wanted)};
}

Item value_item(const std::string& name, const std::string& type, const ValueColumn& value) {
  if (value.use == ValueUse::identity) return identity_item(name, type, value.type);
  return {cast(name, type, value.whole ? "BIGINT" : "DOUBLE"), Storage::bits64};
}

}  // namespace

std::string engine_type(KeyType type) {
  switch (type) {
    case KeyType::integer:
      return "BIGINT";
    case KeyType::real:
      return "DOUBLE";
    case KeyType::boolean:
      return "BOOLEAN";
    case KeyType::date:
      return "DATE";
    case KeyType::timestamp:
      return "TIMESTAMP";
    case KeyType::text:
      break;
  }
  return "VARCHAR";
}

Storage storage_of(KeyType type) {
  switch (type) {
    case KeyType::boolean:
      return Storage::bits8;
    case KeyType::date:
      return Storage::bits32;
    case KeyType::text:
      return Storage::text;
    case KeyType::integer:
    case KeyType::real:
    case KeyType::timestamp:
      break;
  }
  return Storage::bits64;
}

RowQuery::RowQuery(DuckdbConnection& connection, const std::string& sql,
                   const GroupedRequest& request) {
  const auto described = connection.rows("DESCRIBE " + sql);
  std::size_t at = 0;
  std::string items;
  const auto next_type = [&](const std::string& name) {
    SHOAL_CHECK(at < described.size() && described[at].at(0) == name);
    return described[at++].at(1);
  };
  const auto append = [&](const std::string& name, const Item& item) {
    items += fmt::format("{}{} AS {}", items.empty() ? "" : ", ", item.sql, name);
    storages.push_back(item.storage);
  };
  const auto feed = [&](const std::string& sql_of, Storage storage) {
    fed += (fed.empty() ? "" : ", ") + sql_of;
    fed_storages.push_back(storage);
  };
  if (request.has_unit) {
    append("u", unit_item(next_type("u")));
    feed(storages[0] == Storage::text ? "u" : "shoal_unit(u)", storages[0]);
  }
  for (std::size_t i = 0; i < request.keys.size(); ++i) {
    const std::string name = fmt::format("k{}", i);
    append(name, identity_item(name, next_type(name), request.keys[i]));
    feed(fmt::format("shoal_key({}, {}::UTINYINT)", name, i), Storage::bits32);
  }
  for (std::size_t i = 0; i < request.values.size(); ++i) {
    const std::string name = fmt::format("v{}", i);
    append(name, value_item(name, next_type(name), request.values[i]));
    feed(name, storages.back());
  }
  SHOAL_CHECK(at == described.size());
  // Rows without any column still have to be counted.
  if (items.empty()) items = "1 AS one";
  from = fmt::format("(SELECT {} FROM ({}) AS asked) AS typed", items, sql);
  if (request.has_unit) from += " WHERE u IS NOT NULL";
}

}  // namespace shoal::engine
