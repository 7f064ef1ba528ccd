// The policy: what the owner of the data declares. It is all that a plan may look at: schema,
// public bounds, privacy unit, neighbouring relation, total budget. Nothing in it is read off
// private rows.
//
// The file is TOML; docs/reference/policy.md describes each key. Unknown keys are refused, so that
// a mistyped bound is never silently ignored.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/catalog/grid.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::catalog {

enum class ColumnType { integer, real, text, boolean, date, timestamp, other };

std::string_view to_string(ColumnType type);
bool is_numeric(ColumnType type);

struct Column {
  std::string name;
  ColumnType type = ColumnType::other;
  std::optional<Bounds> bounds;  // for numeric columns
  // Public list of values, as text in the column's notation: for every type but real and other.
  std::vector<std::string> categories;
  bool nulls = true;      // false: a NULL counts as the middle of the bounds
  bool queryable = true;  // false: no query may name it
  bool unique = false;    // in a public table: no two rows share a value
  bool trim = false;      // of a text column of a CSV file: blanks at either end are dropped

  bool operator==(const Column&) const = default;
};

// The last is a table of a server; its `source` is the table's name there.
enum class SourceFormat { csv, parquet, postgresql };

struct CsvFormat {
  char delimiter = ',';
  char quote = '"';
  std::vector<std::string> header = {};  // the columns' names, if the file has no line of them
  bool operator==(const CsvFormat&) const = default;
};

// The person of a row is that of the row it refers to: `column` here equals `referenced` there.
struct PersonPath {
  std::string column;
  std::string table;
  std::string referenced;
  bool operator==(const PersonPath&) const = default;
};

struct Table {
  std::string name;
  std::filesystem::path source;  // absolute, or relative to the policy's folder as written
  SourceFormat format = SourceFormat::csv;
  CsvFormat csv;
  std::string person_column;                     // if the unit is a person
  std::optional<PersonPath> person_path;         // instead of the column
  std::optional<long long> max_rows_per_person;  // in an answer that is not grouped
  std::optional<long long> max_groups_per_person;
  std::optional<long long> max_rows_per_group;  // of a person; none: max_rows_per_person
  bool clustered = false;                       // ordered by person, as import writes it
  bool is_public = false;                       // protects nobody: may be joined freely
  std::vector<Column> columns;

  const Column* find_column(std::string_view name, bool exact) const;
  // Whether questions get the rows ordered by person: settling orders those of a CSV file.
  bool ordered_by_person() const {
    return clustered || (format == SourceFormat::csv && !person_column.empty());
  }
};

// The engine's resources are the owner's to set: an asker who chose the memory could make a
// question fail or not according to the rows.
struct EngineSettings {
  int threads = 0;     // 0: one a core
  std::string memory;  // such as "4GB"; empty: the engine's default
};

enum class PrivacyUnit { row, person };

// What a question gets that does not say it itself.
struct QueryDefaults {
  std::optional<double> epsilon;
  std::optional<double> delta;
  std::optional<double> confidence;
  // An answer leaves at a time of a grid, with so many points to a doubling, so that how long it
  // took tells next to nothing. 0: as soon as it is there.
  int time_steps = 1;
};

struct Policy {
  std::filesystem::path folder;  // of the policy file: relative paths start there
  std::string name;
  std::string lineage;  // names the budget that belongs to the data
  PrivacyUnit unit = PrivacyUnit::row;
  Neighbors neighbors = Neighbors::add_remove;
  Epsilon epsilon{0};  // the total
  Delta delta{0};
  std::optional<Delta> failures;  // the part of delta for what can fail; none: failures_share()
  std::optional<Epsilon> max_epsilon_per_query;
  // So many failures after private data was read close the data set until its owner has looked.
  int max_failures = 1;
  long long min_units = 1;  // groups of fewer units are never shown
  QueryDefaults query;
  std::filesystem::path ledger;  // as written: a file, or "postgresql:<schema>"
  // As written: a witness beside those of the data (witness.hpp); empty for none.
  std::filesystem::path witness;
  EngineSettings engine;
  std::vector<Table> tables;
  std::string digest;  // of the file's text

  // What a new account sets aside of delta for what can fail, such as a hidden group that shows:
  // Whether the column says whose a row is, by itself or on the way to another table.
  bool tells_people_apart(const Table& table, const std::string& column) const;

  // `failures`, or half.
  Delta failures_share() const;

  const Table* find_table(std::string_view table_name, bool exact) const;
  std::filesystem::path resolve(const std::filesystem::path& path) const;
  // The ledger's file, or its place on a server as it is written.
  std::filesystem::path ledger_place() const;
  // The witness's file; empty for none.
  std::filesystem::path witness_place() const;
  // The owner's log: beside the ledger's file, or beside the policy.
  std::filesystem::path owner_log() const;
  // The unit in words, as the ledger stores it: "one row", or "one person" and, in brackets, the
  // columns that tell people apart.
  std::string unit_in_words() const;
};

// The data engine reads a path with one of * ? [ ] { } as a pattern, which other files match as
// well: their rows would be read under this table's budget. Throws invalid_argument that starts
// with `what`.
void require_one_file(const std::filesystem::path& path, std::string_view what);

// Both throw not_found, parse_error (with line and column) or invalid_argument (with the key).
// Loading also throws conflict if a table is called public whose file has a budget
// (budget_marker.hpp).
Policy load_policy(const std::filesystem::path& path);
Policy parse_policy(std::string_view text, const std::filesystem::path& folder);

}  // namespace shoal::catalog
