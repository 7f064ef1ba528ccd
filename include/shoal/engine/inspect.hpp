// Looking at a data file for its owner: its schema, and what in its rows does not fit. Only the
// owner's commands (init, import) come here; what they print must not reach an analyst.
#pragma once

#include <shoal/catalog/policy.hpp>
#include <shoal/catalog/rows_manifest.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace shoal::engine {

// A table with the file's format, column names and types; no bounds. Of a CSV file the types are
// those that at least 95 of 100 values of the first 100,000 rows have. `header` names the columns
// of a CSV file that has no line of names. Throws not_found, invalid_argument (neither CSV nor
// Parquet; a CSV file whose first line is a row, but no header is given).
catalog::Table inspect_file(const std::filesystem::path& path,
                            const std::vector<std::string>& header = {});

// What the owner should know of the rows before queries treat it by the public rules.
struct RowReport {
  std::int64_t rows = 0;
  std::vector<catalog::RowProblem> problems;
};

// Told now and then how much of the work is done, from 0 to 1, never less than before.
using Progress = std::function<void(double)>;
using TableProgress = std::function<void(const std::string& table, double share)>;

// Called when the file is whole, to call in turn what gives it its name.
using Naming = std::function<void(const std::function<void()>& give_name)>;

// Writes the table as Parquet, in the policy's types, ordered by person where the unit is one.
// Whoever can read the source can read it. Throws conflict if the output exists, io if it cannot be
// written.
RowReport import_rows(const catalog::Policy& policy, const catalog::Table& table,
                      const std::filesystem::path& output, const Progress& progress = {},
                      const Naming& naming = {});

}  // namespace shoal::engine
