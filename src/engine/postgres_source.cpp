#include "engine/postgres_source.hpp"

#include "engine/postgres_types.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace shoal::engine {
namespace {

// The functions that questions are printed with are there from this version on.
constexpr int kOldestServer = 150000;

constexpr const char* kColumnsSql =
    "SELECT a.attname, CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END, "
    "COALESCE(b.typtype, t.typtype) = 'e', has_schema_privilege(n.oid, 'USAGE') AND "
    "has_column_privilege(c.oid, a.attnum, 'SELECT') FROM pg_catalog.pg_class AS c JOIN "
    "pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_catalog.pg_attribute AS a ON "
    "a.attrelid = c.oid JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid LEFT JOIN "
    "pg_catalog.pg_type AS b ON t.typtype = 'd' AND b.oid = t.typbasetype WHERE n.nspname = $1 AND "
    "c.relname = $2 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND a.attnum > 0 AND NOT "
    "a.attisdropped";

struct ServerColumn {
  std::string name;
  unsigned type = 0;
  bool is_enum = false;
  bool readable = false;
};

struct ServerName {
  std::string schema;
  std::string table;
};

std::string identifier(const std::string& name) {
  return sql::quote_identifier(name, sql::Dialect::postgresql);
}

ServerName name_of(const catalog::Table& table) {
  const std::string source = table.source.string();
  const std::size_t dot = source.find('.');
  const bool plain = dot != std::string::npos && dot > 0 && dot + 1 < source.size() &&
                     source.find('.', dot + 1) == std::string::npos;
  if (!plain) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the source of table {} is \"{}\"; of a table on a server it is "
                            "schema.table, such as \"public.visits\"",
                            table.name, printable(source, 100)));
  }
  return {source.substr(0, dot), source.substr(dot + 1)};
}

std::vector<ServerColumn> server_columns(PostgresConnection& connection, const ServerName& name) {
  std::vector<ServerColumn> columns;
  const std::array parameters{name.schema, name.table};
  connection.rows(kColumnsSql, parameters, [&](const PostgresRow& row) {
    ServerColumn& column = columns.emplace_back();
    column.name = row.at(0).value();
    const std::string_view type = row.at(1).value();
    std::from_chars(type.data(), type.data() + type.size(), column.type);
    column.is_enum = row.at(2) == "t";
    column.readable = row.at(3) == "t";
  });
  return columns;
}

[[noreturn]] void schema_differs(const catalog::Table& table, const std::string& how) {
  throw Error(ErrorCode::conflict,
              fmt::format("table {} does not have the policy's schema on the server: {}; correct "
                          "the policy",
                          table.name, how));
}

std::string_view to_string(KeyType type) {
  switch (type) {
    case KeyType::integer:
      return "integer";
    case KeyType::real:
      return "real";
    case KeyType::text:
      return "text";
    case KeyType::boolean:
      return "boolean";
    case KeyType::date:
      return "date";
    case KeyType::timestamp:
      break;
  }
  return "timestamp";
}

std::string view_column(const catalog::Policy& policy, const catalog::Table& table,
                        const catalog::Column& column, const std::vector<ServerColumn>& columns) {
  const ServerColumn* found = nullptr;
  for (const ServerColumn& one : columns) {
    if (one.name == column.name) found = &one;
  }
  if (!found) schema_differs(table, fmt::format("column {} is missing", column.name));
  const KeyType wanted = *key_type(column.type);
  const std::optional<KeyType> natural = natural_type(found->type, found->is_enum);
  const std::string name = identifier(column.name);
  const std::optional<std::string> value = converted(name, found->type, wanted, kMaxColumnText);
  // Numbers of any length may be meant as whole ones. Nothing else is read as what it is not.
  const bool numeric = natural == KeyType::real && wanted == KeyType::integer;
  if (!natural || !value || (natural != wanted && !numeric)) {
    schema_differs(
        table, fmt::format("column {} is {}, the policy says {}", column.name,
                           natural ? to_string(*natural) : "of another type", to_string(wanted)));
  }
  if (!found->readable) {
    throw Error(ErrorCode::unavailable,
                fmt::format("column {} of table {} may not be read by the server's user; grant "
                            "SELECT on it",
                            column.name, table.name));
  }
  // Rounding could make one person of two, who would then be protected as one.
  if (numeric && policy.tells_people_apart(table, column.name))
    return fmt::format("CASE WHEN {0} = ROUND({0}) THEN {1} END AS {0}", name, *value);
  return fmt::format("{} AS {}", *value, name);
}

}  // namespace

void check_server(PostgresConnection& connection) {
  int version = 0;
  std::string encoding;
  connection.rows(
      "SELECT current_setting('server_version_num'), current_setting('server_encoding')", {},
      [&](const PostgresRow& row) {
        const std::string_view text = row.at(0).value();
        std::from_chars(text.data(), text.data() + text.size(), version);
        encoding = row.at(1).value();
      });
  if (version < kOldestServer) {
    throw Error(ErrorCode::unavailable,
                fmt::format("the PostgreSQL server has version {}; {} or later is needed: upgrade "
                            "it",
                            version / 10000, kOldestServer / 10000));
  }
  // Other encodings have texts that cannot be converted, and a row could make a question fail.
  if (encoding != "UTF8") {
    throw Error(ErrorCode::unavailable,
                fmt::format("the database stores text as {}; it must be UTF8: make one with "
                            "CREATE DATABASE ... ENCODING 'UTF8'",
                            printable(encoding, 40)));
  }
}

std::string postgres_view(PostgresConnection& connection, const catalog::Policy& policy,
                          const catalog::Table& table) {
  const ServerName name = name_of(table);
  const std::vector<ServerColumn> columns = server_columns(connection, name);
  if (columns.empty()) {
    throw Error(ErrorCode::not_found,
                fmt::format("table {} is not on the server: there is no {}.{}; correct its source "
                            "in the policy, or PGDATABASE",
                            table.name, printable(name.schema, 100), printable(name.table, 100)));
  }
  std::string items;
  for (const catalog::Column& column : table.columns) {
    if (column.type == catalog::ColumnType::other) continue;
    items += (items.empty() ? "" : ", ") + view_column(policy, table, column, columns);
  }
  return fmt::format("{} AS NOT MATERIALIZED (SELECT {} FROM {}.{})", identifier(table.name), items,
                     identifier(name.schema), identifier(name.table));
}

}  // namespace shoal::engine
