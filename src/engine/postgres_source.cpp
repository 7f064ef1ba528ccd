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

// Tables, partitioned tables and materialised views hold values; a view, a foreign table or a row's
// policy calculates, reads or judges them for each row, and can fail on one. The same holds for
// partitions and heirs. Without its contents a materialised view fails as a whole.
constexpr const char* kRelationSql =
    "WITH RECURSIVE all_of(oid) AS (SELECT c.oid FROM pg_catalog.pg_class AS c JOIN "
    "pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = "
    "$2 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') UNION SELECT i.inhrelid FROM "
    "pg_catalog.pg_inherits AS i JOIN all_of ON i.inhparent = all_of.oid) SELECT c.relkind, "
    "pg_catalog.row_security_active(c.oid), c.relispopulated FROM all_of JOIN pg_catalog.pg_class "
    "AS c ON c.oid = all_of.oid";

constexpr const char* kColumnsSql =
    "SELECT a.attname, CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END, "
    "COALESCE(b.typtype, t.typtype) = 'e', has_schema_privilege(n.oid, 'USAGE') AND "
    "has_column_privilege(c.oid, a.attnum, 'SELECT'), a.attgenerated NOT IN ('', 's') FROM "
    "pg_catalog.pg_class AS c JOIN "
    "pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_catalog.pg_attribute AS a ON "
    "a.attrelid = c.oid JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid LEFT JOIN "
    "pg_catalog.pg_type AS b ON t.typtype = 'd' AND b.oid = t.typbasetype WHERE n.nspname = $1 AND "
    "c.relname = $2 AND c.relkind IN ('r', 'p', 'm') AND a.attnum > 0 AND NOT "
    "a.attisdropped";

struct ServerColumn {
  std::string name;
  unsigned type = 0;
  bool is_enum = false;
  bool readable = false;
  bool calculated = false;  // for each row that is read, instead of when it was written
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
    column.calculated = row.at(4) == "t";
  });
  return columns;
}

[[noreturn]] void may_fail(const catalog::Table& table, std::string_view what,
                           std::string_view remedy) {
  throw Error(ErrorCode::unsupported,
              fmt::format("table {} {}, which can fail on a row and tell by it that the row is "
                          "there; {}",
                          table.name, what, remedy));
}

// Throws not_found, unsupported or unavailable unless reading the table cannot fail on a row.
void check_relation(PostgresConnection& connection, const catalog::Table& table,
                    const ServerName& name) {
  bool found = false;
  const std::array parameters{name.schema, name.table};
  connection.rows(kRelationSql, parameters, [&](const PostgresRow& row) {
    const std::string_view kind = row.at(0).value();
    const char* remedy =
        "name a table, or make a materialised view of it (CREATE MATERIALIZED VIEW)";
    if (kind == "v") may_fail(table, "is a view on the server", remedy);
    if (kind == "f") may_fail(table, "is a foreign table, or has one among its parts", remedy);
    if (row.at(1) == "t") {
      may_fail(table, "has row-level security",
               "let the server's user read every row (ALTER ROLE ... BYPASSRLS), or make a "
               "materialised view of those that it may read");
    }
    if (row.at(2) != "t") {
      throw Error(ErrorCode::unavailable,
                  fmt::format("table {} is a materialised view without contents; refresh it "
                              "(REFRESH MATERIALIZED VIEW)",
                              table.name));
    }
    found = true;
  });
  if (found) return;
  throw Error(ErrorCode::not_found,
              fmt::format("table {} is not on the server: there is no {}.{}; correct its source "
                          "in the policy, or PGDATABASE",
                          table.name, printable(name.schema, 100), printable(name.table, 100)));
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
  if (found->calculated) {
    may_fail(table, fmt::format("has the virtual column {}", column.name),
             "leave it out of the policy, or store it (GENERATED ALWAYS AS ... STORED)");
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
  check_relation(connection, table, name);
  const std::vector<ServerColumn> columns = server_columns(connection, name);
  std::string items;
  for (const catalog::Column& column : table.columns) {
    if (column.type == catalog::ColumnType::other) continue;
    items += (items.empty() ? "" : ", ") + view_column(policy, table, column, columns);
  }
  return fmt::format("{} AS NOT MATERIALIZED (SELECT {} FROM {}.{})", identifier(table.name), items,
                     identifier(name.schema), identifier(name.table));
}

}  // namespace shoal::engine
