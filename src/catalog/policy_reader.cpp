// Reads a policy's TOML strictly: every key known, every value of its type and in range, and an
// error that names the key, the line and the remedy.
#include "catalog/policy_section.hpp"

#include <shoal/base/digest.hpp>
#include <shoal/base/error.hpp>
#include <shoal/base/ledger_place.hpp>
#include <shoal/base/text.hpp>
#include <shoal/catalog/policy.hpp>

#include <algorithm>
#include <cmath>

namespace shoal::catalog {
namespace {

ColumnType parse_type(const Section& section) {
  const std::string text = section.required_text("type", "type = \"integer\"");
  for (int i = 0; i <= static_cast<int>(ColumnType::other); ++i) {
    const auto type = static_cast<ColumnType>(i);
    if (to_string(type) == text) return type;
  }
  refuse(*section.get("type"), section.key("type"),
         fmt::format("is \"{}\"; it must be integer, real, text, boolean, date, timestamp or other",
                     printable(text, 40)));
}

std::optional<Bounds> parse_bounds(const Section& section, ColumnType type) {
  const toml::node* node = section.get("bounds");
  if (!node) return std::nullopt;
  const std::string key = section.key("bounds");
  const toml::array* pair = node->as_array();
  if (!pair || pair->size() != 2 || !pair->get(0)->is_number() || !pair->get(1)->is_number()) {
    refuse(*node, key, "must be two numbers, such as [0, 120]");
  }
  if (!is_numeric(type)) {
    refuse(
        *node, key,
        fmt::format("are given for a column of type {}; only integer and real columns have bounds",
                    to_string(type)));
  }
  const Bounds bounds{*pair->get(0)->value<double>(), *pair->get(1)->value<double>()};
  if (!std::isfinite(bounds.lower) || !std::isfinite(bounds.upper) ||
      !(bounds.lower < bounds.upper)) {
    refuse(*node, key,
           fmt::format("are [{}, {}]; they must be finite, the lower below the upper",
                       format_number(bounds.lower), format_number(bounds.upper)));
  }
  if (std::max(std::fabs(bounds.lower), std::fabs(bounds.upper)) > 1e100 ||
      bounds.upper - bounds.lower < 1e-100) {
    refuse(*node, key, "must lie between -1e100 and 1e100 and be at least 1e-100 apart");
  }
  return bounds;
}

// A category as the text of the column's notation; nothing if the node is of another type.
std::optional<std::string> category_text(const toml::node& node, ColumnType type) {
  switch (type) {
    case ColumnType::text:
      return node.value_exact<std::string>();
    case ColumnType::integer:
      if (const auto value = node.value_exact<std::int64_t>()) return std::to_string(*value);
      return std::nullopt;
    case ColumnType::boolean:
      if (const auto value = node.value_exact<bool>()) return *value ? "true" : "false";
      return std::nullopt;
    case ColumnType::date:
      if (const auto value = node.value_exact<toml::date>()) {
        return fmt::format("{:04}-{:02}-{:02}", value->year, value->month, value->day);
      }
      return std::nullopt;
    case ColumnType::real:
    case ColumnType::timestamp:
    case ColumnType::other:
      break;
  }
  return std::nullopt;
}

std::vector<std::string> parse_categories(const Section& section, ColumnType type) {
  const toml::node* node = section.get("categories");
  if (!node) return {};
  const std::string key = section.key("categories");
  const toml::array* list = node->as_array();
  if (!list) refuse(*node, key, "must be a list, such as [\"yes\", \"no\"]");
  if (type == ColumnType::real || type == ColumnType::timestamp || type == ColumnType::other) {
    refuse(*node, key,
           fmt::format("are given for a column of type {}; text, integer, boolean and date columns "
                       "have categories",
                       to_string(type)));
  }
  std::vector<std::string> categories;
  for (const toml::node& item : *list) {
    const auto value = category_text(item, type);
    if (!value) {
      refuse(item, key,
             fmt::format("must be a list of values of type {}, such as {}", to_string(type),
                         type == ColumnType::text      ? "[\"yes\", \"no\"]"
                         : type == ColumnType::integer ? "[1, 2, 3]"
                         : type == ColumnType::boolean ? "[true, false]"
                                                       : "[2024-01-31, 2024-02-29]"));
    }
    if (std::find(categories.begin(), categories.end(), *value) != categories.end()) {
      refuse(item, key, fmt::format("name \"{}\" twice", printable(*value, 60)));
    }
    categories.push_back(*value);
  }
  return categories;
}

Column parse_column(const std::string& name, const Section& section) {
  section.allow_only({"type", "bounds", "categories", "nulls", "queryable", "unique", "trim"});
  Column column;
  column.name = name;
  column.type = parse_type(section);
  column.bounds = parse_bounds(section, column.type);
  column.categories = parse_categories(section, column.type);
  column.nulls = section.flag("nulls").value_or(true);
  column.queryable = section.flag("queryable").value_or(column.type != ColumnType::other);
  column.unique = section.flag("unique").value_or(false);
  column.trim = section.flag("trim").value_or(false);
  if (section.get("trim") && column.type != ColumnType::text) {
    refuse(*section.get("trim"), section.key("trim"),
           fmt::format("is given for a column of type {}; only blanks around text are trimmed",
                       to_string(column.type)));
  }
  return column;
}

std::vector<std::string> parse_header(const Section& section) {
  const toml::node* node = section.get("header");
  if (!node) return {};
  const std::string key = section.key("header");
  const toml::array* list = node->as_array();
  if (!list || list->empty())
    refuse(*node, key, "must be a list of names, such as [\"id\", \"age\"]");
  std::vector<std::string> names;
  for (const toml::node& item : *list) {
    const auto name = item.value_exact<std::string>();
    if (!name || name->empty()) refuse(item, key, "must be a list of names in quotes");
    if (std::find(names.begin(), names.end(), *name) != names.end())
      refuse(item, key, fmt::format("names \"{}\" twice", printable(*name, 60)));
    names.push_back(*name);
  }
  return names;
}

// What is said of a table's file alone.
void parse_file_keys(const Section& section, Table& table) {
  const auto only = [&](const char* name, bool allowed, const char* where) {
    if (section.get(name) && !allowed)
      refuse(*section.get(name), section.key(name), fmt::format("is given, but {}", where));
  };
  only("header", table.format == SourceFormat::csv, "only a CSV file can lack a line of names");
  only("trim", table.format != SourceFormat::postgresql, "a server's text is asked as it is");
  table.csv.header = parse_header(section);
  const bool all = section.flag("trim").value_or(false);
  for (Column& column : table.columns) {
    if (column.trim && table.format == SourceFormat::postgresql) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("table.{}.column.{}.trim is given, but a server's text is asked as it "
                      "is; trim it in a view",
                      table.name, printable(column.name, 60)));
    }
    const Section own = *section.required_section("column").section(column.name);
    if (column.type == ColumnType::text && !own.get("trim")) column.trim = all;
  }
}

constexpr long long kMostContributions = 1'000'000;

PersonPath parse_path(const Section& section) {
  const Section via = section.required_section("via");
  via.allow_only({"column", "references"});
  PersonPath path;
  path.column = via.required_text("column", "via = {column = \"order_id\", ...}");
  const std::string target =
      via.required_text("references", "via = {..., references = \"orders.order_id\"}");
  const std::size_t dot = target.find('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == target.size()) {
    refuse(*via.get("references"), via.key("references"),
           fmt::format("is \"{}\"; write a table and a column, such as \"orders.order_id\"",
                       printable(target, 60)));
  }
  path.table = target.substr(0, dot);
  path.referenced = target.substr(dot + 1);
  return path;
}

void refuse_unit_keys(const Section& section, const char* why) {
  for (const char* name : {"person_column", "max_rows_per_person", "max_groups_per_person",
                           "max_rows_per_group", "clustered", "via"}) {
    if (section.get(name)) refuse(*section.get(name), section.key(name), why);
  }
}

const Column& person_key(const Section& section, std::string_view name, const std::string& column,
                         const Table& table) {
  const Column* found = table.find_column(column, true);
  if (!found) {
    refuse(*section.get(name), section.key(name),
           fmt::format("is \"{}\", which is no column of the table", printable(column, 60)));
  }
  // Numbers that are not whole, or beyond 64 bits, are rounded when they are read: two people could
  // become one.
  if (found->type == ColumnType::other || found->type == ColumnType::real) {
    refuse(*section.get(name), section.key(name),
           fmt::format("is \"{}\", a column of a type that cannot identify a person; store it as "
                       "text or as a whole number of 64 bits",
                       printable(column, 60)));
  }
  return *found;
}

void parse_unit(const Section& section, PrivacyUnit unit, Table& table) {
  if (table.is_public) {
    return refuse_unit_keys(section, "is given, but the table is public: it protects nobody");
  }
  if (unit == PrivacyUnit::row) {
    return refuse_unit_keys(section,
                            "is given, but privacy.unit is \"row\"; set it to \"person\" to "
                            "protect all rows of a person");
  }
  table.max_rows_per_person = section.whole("max_rows_per_person", 1, kMostContributions);
  table.max_groups_per_person = section.whole("max_groups_per_person", 1, kMostContributions);
  table.max_rows_per_group = section.whole("max_rows_per_group", 1, kMostContributions);
  table.clustered = section.flag("clustered").value_or(false);
  table.person_column = section.text("person_column").value_or("");
  if (section.get("via")) {
    if (!table.person_column.empty()) {
      refuse(*section.get("via"), section.key("via"),
             "is given beside person_column; keep the one that says whose a row is");
    }
    table.person_path = parse_path(section);
    person_key(section, "via", table.person_path->column, table);
    return;
  }
  if (table.person_column.empty()) {
    missing(section.key("person_column"), "person_column = \"person_id\" (the unit is a person)");
  }
  person_key(section, "person_column", table.person_column, table);
}

// Each path must lead, in few steps and without a circle, to a table that has the person itself.
void check_paths(const Policy& policy) {
  for (const Table& start : policy.tables) {
    const Table* table = &start;
    for (std::size_t steps = 0; table->person_path; ++steps) {
      const PersonPath& path = *table->person_path;
      const Table* next = policy.find_table(path.table, true);
      if (!next || !next->find_column(path.referenced, true)) {
        throw Error(
            ErrorCode::invalid_argument,
            fmt::format("table.{}.via references {}.{}, which the policy does not have; "
                        "name a table and a column of it",
                        table->name, printable(path.table, 60), printable(path.referenced, 60)));
      }
      const ColumnType type = table->find_column(path.column, true)->type;
      if (next->find_column(path.referenced, true)->type != type) {
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("table.{}.via compares {} with {}.{}, which has another type; give "
                                "both the same",
                                table->name, printable(path.column, 60), printable(path.table, 60),
                                printable(path.referenced, 60)));
      }
      if (next->is_public || steps > policy.tables.size()) {
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("table.{}.via leads to no person: {}", start.name,
                                next->is_public ? next->name + " is public"
                                                : "the references go in a circle"));
      }
      table = next;
    }
  }
}

// A relative source starts at the policy's folder, whose name is part of what the engine reads.
void check_sources(const Policy& policy) {
  for (const Table& table : policy.tables) {
    if (table.format == SourceFormat::postgresql) continue;
    require_one_file(policy.resolve(table.source), fmt::format("table.{}.source", table.name));
  }
}

Table parse_table(const std::string& name, const Section& section, PrivacyUnit unit) {
  section.allow_only({"source", "format", "delimiter", "quote", "public", "person_column", "via",
                      "max_rows_per_person", "max_groups_per_person", "max_rows_per_group",
                      "clustered", "header", "trim", "column"});
  Table table;
  table.name = name;
  table.source = section.required_text("source", "source = \"people.csv\"");
  const std::string format = section.required_text("format", "format = \"csv\"");
  if (format != "csv" && format != "parquet" && format != "postgresql") {
    refuse(*section.get("format"), section.key("format"),
           fmt::format("is \"{}\"; it must be \"csv\", \"parquet\" or \"postgresql\"",
                       printable(format, 40)));
  }
  table.format = format == "csv"       ? SourceFormat::csv
                 : format == "parquet" ? SourceFormat::parquet
                                       : SourceFormat::postgresql;
  table.is_public = section.flag("public").value_or(false);
  table.csv.delimiter = section.character("delimiter").value_or(',');
  table.csv.quote = section.character("quote").value_or('"');
  const Section columns = section.required_section("column");
  for (const std::string& column_name : columns.names_in_order()) {
    const auto column = columns.section(column_name);
    if (table.find_column(column_name, false)) {
      refuse(*columns.get(column_name), column->path(),
             "differs from another column only in upper and lower case; rename one");
    }
    table.columns.push_back(parse_column(column_name, *column));
  }
  if (table.columns.empty()) missing(section.key("column"), "[table.people.column.age]");
  parse_file_keys(section, table);
  parse_unit(section, unit, table);
  return table;
}

void parse_privacy(const Section& root, Policy& policy) {
  const Section privacy = root.required_section("privacy");
  privacy.allow_only({"unit", "neighbors"});
  const std::string unit = privacy.required_text("unit", "unit = \"row\"");
  if (unit != "row" && unit != "person") {
    refuse(*privacy.get("unit"), privacy.key("unit"),
           fmt::format("is \"{}\"; it must be \"row\" or \"person\"", printable(unit, 40)));
  }
  policy.unit = unit == "row" ? PrivacyUnit::row : PrivacyUnit::person;
  const std::string neighbors = privacy.required_text("neighbors", "neighbors = \"add_remove\"");
  try {
    policy.neighbors = parse_neighbors(neighbors);
  } catch (const Error& error) {
    refuse(*privacy.get("neighbors"), privacy.key("neighbors"), error.what());
  }
}

void parse_budget(const Section& root, Policy& policy) {
  const Section budget = root.required_section("budget");
  budget.allow_only({"epsilon", "delta", "failures", "max_epsilon_per_query", "max_failures",
                     "ledger", "witness"});
  const auto epsilon = budget.number("epsilon");
  if (!epsilon) missing(budget.key("epsilon"), "epsilon = 1.0");
  policy.epsilon = positive_epsilon(budget, "epsilon", *epsilon);
  const auto delta = budget.number("delta");
  if (!delta) missing(budget.key("delta"), "delta = 1e-6 (or 0 for pure differential privacy)");
  policy.delta = quantity<Delta>(budget, "delta", *delta);
  if (const auto failures = budget.number("failures")) {
    policy.failures = quantity<Delta>(budget, "failures", *failures);
    if (policy.failures->value() > policy.delta.value()) {
      refuse(*budget.get("failures"), budget.key("failures"),
             fmt::format("is {}, above delta, which is {}; it is a part of it",
                         format_number(*failures), format_number(policy.delta.value())));
    }
  }
  if (const auto most = budget.number("max_epsilon_per_query")) {
    policy.max_epsilon_per_query = positive_epsilon(budget, "max_epsilon_per_query", *most);
  }
  policy.max_failures = static_cast<int>(budget.whole("max_failures", 1, 1000).value_or(1));
  policy.ledger = budget.required_text("ledger", "ledger = \"people.ledger\"");
  policy.witness = budget.text("witness").value_or("");
  if (server_schema(policy.witness)) {
    refuse(*budget.get("witness"), budget.key("witness"),
           "is on a server; it must be a file, on another disk than the ledger");
  }
}

void parse_query(const Section& root, Policy& policy) {
  const auto query = root.section("query");
  if (!query) return;
  query->allow_only({"epsilon", "delta", "confidence", "min_units", "time_steps"});
  if (const auto epsilon = query->number("epsilon")) {
    policy.query.epsilon = positive_epsilon(*query, "epsilon", *epsilon).value();
  }
  if (const auto delta = query->number("delta")) {
    policy.query.delta = quantity<Delta>(*query, "delta", *delta).value();
  }
  if (const auto confidence = query->number("confidence")) {
    policy.query.confidence = quantity<Confidence>(*query, "confidence", *confidence).value();
  }
  policy.query.time_steps = static_cast<int>(query->whole("time_steps", 0, 16).value_or(1));
  policy.min_units = query->whole("min_units", 1, kMostContributions).value_or(1);
}

bool is_memory_size(std::string_view text) {
  const std::size_t unit = text.find_first_not_of("0123456789.");
  if (unit == 0 || unit == std::string_view::npos) return false;
  for (const std::string_view known : {"MB", "GB", "TB", "MiB", "GiB", "TiB"}) {
    if (text.substr(unit) == known) return true;
  }
  return false;
}

void parse_engine(const Section& root, Policy& policy) {
  const auto engine = root.section("engine");
  if (!engine) return;
  engine->allow_only({"threads", "memory"});
  policy.engine.threads = static_cast<int>(engine->whole("threads", 1, 1024).value_or(0));
  policy.engine.memory = engine->text("memory").value_or("");
  if (!policy.engine.memory.empty() && !is_memory_size(policy.engine.memory)) {
    refuse(*engine->get("memory"), engine->key("memory"),
           fmt::format("is \"{}\"; write a size, such as \"4GB\"",
                       printable(policy.engine.memory, 40)));
  }
}

toml::table parse_toml(std::string_view text) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw Error(ErrorCode::parse_error,
                fmt::format("policy line {}, column {}: {}", error.source().begin.line,
                            error.source().begin.column, printable(error.description(), 200)));
  }
}

}  // namespace

Policy parse_policy(std::string_view text, const std::filesystem::path& folder) {
  const toml::table file = parse_toml(text);
  const Section root(file, "");
  root.allow_only({"dataset", "privacy", "budget", "query", "engine", "table"});
  Policy policy;
  policy.folder = folder;
  policy.digest = to_hex(sha256(text));
  const Section dataset = root.required_section("dataset");
  dataset.allow_only({"name", "lineage"});
  policy.name = dataset.required_text("name", "name = \"people\"");
  policy.lineage = dataset.required_text("lineage", "lineage = \"people-2025\"");
  parse_privacy(root, policy);
  parse_budget(root, policy);
  parse_query(root, policy);
  parse_engine(root, policy);
  const Section tables = root.required_section("table");
  for (const auto& [name, node] : tables.table()) {
    const auto table = tables.section(name.str());
    if (policy.find_table(name.str(), false)) {
      refuse(node, table->path(),
             "differs from another table only in upper and lower case; rename one");
    }
    policy.tables.push_back(parse_table(std::string(name.str()), *table, policy.unit));
  }
  if (policy.tables.empty()) missing("table", "[table.people]");
  check_sources(policy);
  check_paths(policy);
  return policy;
}

}  // namespace shoal::catalog
