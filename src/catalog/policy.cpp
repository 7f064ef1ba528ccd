#include <shoal/base/digest.hpp>
#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/ledger_place.hpp>
#include <shoal/base/text.hpp>
#include <shoal/catalog/budget_marker.hpp>
#include <shoal/catalog/policy.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace shoal::catalog {

namespace {

constexpr std::array<std::string_view, 7> kTypeNames = {"integer", "real",      "text", "boolean",
                                                        "date",    "timestamp", "other"};

template <typename Items>
auto* find_named(Items& items, std::string_view name, bool exact) {
  const auto found = std::find_if(items.begin(), items.end(), [&](const auto& item) {
    return exact ? item.name == name : equals_ignoring_case(item.name, name);
  });
  return found == items.end() ? nullptr : &*found;
}

}  // namespace

std::string_view to_string(ColumnType type) {
  return kTypeNames.at(static_cast<std::size_t>(type));
}

bool is_numeric(ColumnType type) { return type == ColumnType::integer || type == ColumnType::real; }

const Column* Table::find_column(std::string_view column_name, bool exact) const {
  return find_named(columns, column_name, exact);
}

bool Policy::tells_people_apart(const Table& table, const std::string& column) const {
  if (table.person_column == column) return true;
  if (table.person_path && table.person_path->column == column) return true;
  return std::any_of(tables.begin(), tables.end(), [&](const Table& other) {
    return other.person_path && other.person_path->table == table.name &&
           other.person_path->referenced == column;
  });
}

Delta Policy::failures_share() const { return failures.value_or(Delta(delta.value() / 2)); }

const Table* Policy::find_table(std::string_view table_name, bool exact) const {
  return find_named(tables, table_name, exact);
}

std::filesystem::path Policy::resolve(const std::filesystem::path& path) const {
  return (path.is_absolute() ? path : folder / path).lexically_normal();
}

std::filesystem::path Policy::ledger_place() const {
  return server_schema(ledger) ? ledger : resolve(ledger);
}

std::filesystem::path Policy::witness_place() const {
  return witness.empty() ? witness : resolve(witness);
}

std::filesystem::path Policy::owner_log() const {
  if (const auto schema = server_schema(ledger)) return resolve(*schema + ".ledger.log");
  return resolve(ledger).string() + ".log";
}

std::string Policy::unit_in_words() const {
  if (unit == PrivacyUnit::row) return "one row";
  std::vector<std::string> columns;
  // Public tables have no person, and a path leads to a table that has one.
  for (const Table& table : tables) {
    if (!table.person_column.empty()) columns.push_back(table.person_column);
  }
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return "one person (" + join_names(columns) + ")";
}

void require_one_file(const std::filesystem::path& path, std::string_view what) {
  const std::string text = path.string();
  const std::size_t at = text.find_first_of("*?[]{}");
  if (at == std::string::npos) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} is {}, with a {} in its path; a path with one of * ? [ ] {{ }} would "
                          "stand for several files: rename the file or its folder",
                          what, printable(text, 300), text[at]));
}

Policy load_policy(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  Policy policy = parse_policy(text, std::filesystem::absolute(path).parent_path());
  check_public_sources(policy);
  return policy;
}

}  // namespace shoal::catalog
