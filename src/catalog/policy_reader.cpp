// Reads a policy's TOML strictly: every key known, every value of its type and in range, and an
// error that names the key, the line and the remedy.
#include <shoal/base/digest.hpp>
#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/catalog/policy.hpp>

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace shoal::catalog {
namespace {

std::string place(const toml::node& node, const std::string& key) {
  return fmt::format("policy line {}: {}", node.source().begin.line, key);
}

[[noreturn]] void refuse(const toml::node& node, const std::string& key, const std::string& why) {
  throw Error(ErrorCode::invalid_argument, fmt::format("{} {}", place(node, key), why));
}

[[noreturn]] void missing(const std::string& key, const char* example) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("the policy has no {}; add for example {}", key, example));
}

// A table of the file, with the path that leads to it.
class Section {
 public:
  Section(const toml::table& table, std::string path) : table_(table), path_(std::move(path)) {}

  std::string key(std::string_view name) const {
    return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
  }

  void allow_only(std::initializer_list<const char*> names) const {
    std::vector<std::string> known(names.begin(), names.end());
    for (const auto& [name, node] : table_) {
      if (std::find(known.begin(), known.end(), name.str()) != known.end()) continue;
      const auto meant = nearest_name(name.str(), known);
      refuse(node, key(printable(name.str(), 60)),
             "is no key of a policy; " + (meant ? fmt::format("did you mean {}?", *meant)
                                                : "allowed here: " + join_names(known)));
    }
  }

  const toml::node* get(std::string_view name) const { return table_.get(name); }

  std::optional<Section> section(std::string_view name) const {
    const toml::node* node = get(name);
    if (!node) return std::nullopt;
    if (!node->is_table())
      refuse(*node, key(name), fmt::format("must be a section, [{}]", key(name)));
    return Section(*node->as_table(), key(name));
  }

  Section required_section(std::string_view name) const {
    auto found = section(name);
    if (!found)
      missing(fmt::format("section [{}]", key(name)), fmt::format("[{}]", key(name)).c_str());
    return *found;
  }

  std::optional<std::string> text(std::string_view name) const {
    const toml::node* node = get(name);
    if (!node) return std::nullopt;
    auto value = node->value_exact<std::string>();
    if (!value || value->empty()) refuse(*node, key(name), "must be a text in quotes");
    return value;
  }

  std::string required_text(std::string_view name, const char* example) const {
    auto value = text(name);
    if (!value) missing(key(name), example);
    return *value;
  }

  std::optional<double> number(std::string_view name) const {
    const toml::node* node = get(name);
    if (!node) return std::nullopt;
    if (!node->is_number()) refuse(*node, key(name), "must be a number");
    return node->value<double>();
  }

  std::optional<bool> flag(std::string_view name) const {
    const toml::node* node = get(name);
    if (!node) return std::nullopt;
    if (!node->is_boolean()) refuse(*node, key(name), "must be true or false");
    return node->value<bool>();
  }

  std::optional<char> character(std::string_view name) const {
    const auto value = text(name);
    if (!value) return std::nullopt;
    if (value->size() != 1) refuse(*get(name), key(name), "must be one character");
    return value->front();
  }

  const toml::table& table() const { return table_; }
  const std::string& path() const { return path_; }

 private:
  const toml::table& table_;
  std::string path_;
};

// Runs a validating constructor and adds the key to its complaint.
template <typename Quantity>
Quantity quantity(const Section& section, std::string_view name, double value) {
  try {
    return Quantity(value);
  } catch (const Error& error) {
    refuse(*section.get(name), section.key(name), fmt::format("is wrong: {}", error.what()));
  }
}

Epsilon positive_epsilon(const Section& section, std::string_view name, double value) {
  if (!(value > 0)) {
    refuse(*section.get(name), section.key(name),
           fmt::format("is {}; it must be above 0", format_number(value)));
  }
  return quantity<Epsilon>(section, name, value);
}

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

std::vector<std::string> parse_categories(const Section& section, ColumnType type) {
  const toml::node* node = section.get("categories");
  if (!node) return {};
  const std::string key = section.key("categories");
  const toml::array* list = node->as_array();
  if (!list) refuse(*node, key, "must be a list of texts, such as [\"yes\", \"no\"]");
  if (type != ColumnType::text) {
    refuse(*node, key,
           fmt::format("are given for a column of type {}; only text columns have categories",
                       to_string(type)));
  }
  std::vector<std::string> categories;
  for (const toml::node& item : *list) {
    const auto value = item.value_exact<std::string>();
    if (!value) refuse(item, key, "must be a list of texts, such as [\"yes\", \"no\"]");
    if (std::find(categories.begin(), categories.end(), *value) != categories.end()) {
      refuse(item, key, fmt::format("name \"{}\" twice", printable(*value, 60)));
    }
    categories.push_back(*value);
  }
  return categories;
}

Column parse_column(const std::string& name, const Section& section) {
  section.allow_only({"type", "bounds", "categories", "nulls", "queryable"});
  Column column;
  column.name = name;
  column.type = parse_type(section);
  column.bounds = parse_bounds(section, column.type);
  column.categories = parse_categories(section, column.type);
  column.nulls = section.flag("nulls").value_or(true);
  column.queryable = section.flag("queryable").value_or(column.type != ColumnType::other);
  return column;
}

void parse_unit(const Section& section, PrivacyUnit unit, Table& table) {
  table.person_column = section.text("person_column").value_or("");
  if (const auto rows = section.number("max_rows_per_person")) {
    if (!(*rows >= 1 && *rows <= 1'000'000 && std::floor(*rows) == *rows)) {
      refuse(
          *section.get("max_rows_per_person"), section.key("max_rows_per_person"),
          fmt::format("is {}; it must be a whole number from 1 to 1000000", format_number(*rows)));
    }
    table.max_rows_per_person = static_cast<long long>(*rows);
  }
  if (unit == PrivacyUnit::row) {
    for (const char* name : {"person_column", "max_rows_per_person"}) {
      if (section.get(name)) {
        refuse(*section.get(name), section.key(name),
               "is given, but privacy.unit is \"row\"; set it to \"person\" to protect all rows of "
               "a person");
      }
    }
    return;
  }
  if (table.person_column.empty()) {
    missing(section.key("person_column"), "person_column = \"person_id\" (the unit is a person)");
  }
  const Column* person = table.find_column(table.person_column, true);
  if (!person) {
    refuse(*section.get("person_column"), section.key("person_column"),
           fmt::format("is \"{}\", which is no column of the table",
                       printable(table.person_column, 60)));
  }
  if (person->type == ColumnType::other) {
    refuse(*section.get("person_column"), section.key("person_column"),
           fmt::format("is \"{}\", a column of a type that cannot identify a person",
                       printable(table.person_column, 60)));
  }
}

Table parse_table(const std::string& name, const Section& section, PrivacyUnit unit) {
  section.allow_only(
      {"source", "format", "delimiter", "quote", "person_column", "max_rows_per_person", "column"});
  Table table;
  table.name = name;
  table.source = section.required_text("source", "source = \"people.csv\"");
  const std::string format = section.required_text("format", "format = \"csv\"");
  if (format != "csv" && format != "parquet") {
    refuse(*section.get("format"), section.key("format"),
           fmt::format("is \"{}\"; it must be \"csv\" or \"parquet\"", printable(format, 40)));
  }
  table.format = format == "csv" ? SourceFormat::csv : SourceFormat::parquet;
  table.csv.delimiter = section.character("delimiter").value_or(',');
  table.csv.quote = section.character("quote").value_or('"');
  const Section columns = section.required_section("column");
  for (const auto& [column_name, node] : columns.table()) {
    const auto column = columns.section(column_name.str());
    if (table.find_column(column_name.str(), false)) {
      refuse(node, column->path(),
             "differs from another column only in upper and lower case; rename one");
    }
    table.columns.push_back(parse_column(std::string(column_name.str()), *column));
  }
  if (table.columns.empty()) missing(section.key("column"), "[table.people.column.age]");
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
  budget.allow_only({"epsilon", "delta", "max_epsilon_per_query", "ledger"});
  const auto epsilon = budget.number("epsilon");
  if (!epsilon) missing(budget.key("epsilon"), "epsilon = 1.0");
  policy.epsilon = positive_epsilon(budget, "epsilon", *epsilon);
  const auto delta = budget.number("delta");
  if (!delta) missing(budget.key("delta"), "delta = 1e-6 (or 0 for pure differential privacy)");
  policy.delta = quantity<Delta>(budget, "delta", *delta);
  if (const auto most = budget.number("max_epsilon_per_query")) {
    policy.max_epsilon_per_query = positive_epsilon(budget, "max_epsilon_per_query", *most);
  }
  policy.ledger = budget.required_text("ledger", "ledger = \"people.ledger\"");
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
  if (const auto threads = engine->number("threads")) {
    if (!(*threads >= 1 && *threads <= 1024 && std::floor(*threads) == *threads)) {
      refuse(
          *engine->get("threads"), engine->key("threads"),
          fmt::format("is {}; it must be a whole number from 1 to 1024", format_number(*threads)));
    }
    policy.engine.threads = static_cast<int>(*threads);
  }
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
  root.allow_only({"dataset", "privacy", "budget", "engine", "table"});
  Policy policy;
  policy.folder = folder;
  policy.digest = to_hex(sha256(text));
  const Section dataset = root.required_section("dataset");
  dataset.allow_only({"name", "lineage"});
  policy.name = dataset.required_text("name", "name = \"people\"");
  policy.lineage = dataset.required_text("lineage", "lineage = \"people-2025\"");
  parse_privacy(root, policy);
  parse_budget(root, policy);
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
  return policy;
}

}  // namespace shoal::catalog
