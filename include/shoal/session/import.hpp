// The owner's say over the rows: settling them anew when the data has changed, and writing them in
// a form that questions read fast under a name of their own.
#pragma once

#include <shoal/engine/inspect.hpp>
#include <shoal/engine/settle.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace shoal::session {

struct ImportRequest {
  std::filesystem::path policy;
  std::string table = {};             // empty: the one that reads `data`, or the only one
  std::filesystem::path data = {};    // empty: that of the table
  std::filesystem::path output = {};  // empty: beside the data
  bool update_policy = false;         // so that questions read what was written
};

struct ImportResult {
  std::filesystem::path output;
  engine::RowReport report;
  std::string source;      // what the policy has to say for it
  bool clustered = false;  // ordered by person
};

// Writes a table of a policy as Parquet and ties the new file to the same budget. Throws not_found,
// invalid_argument, conflict (the output exists), unsupported or io.
ImportResult import_table(const ImportRequest& request, const engine::Progress& progress = {});

struct SettledTable {
  std::string table;
  engine::SettledReport report;
};

// Settles the rows of every file of a policy that was never settled or has changed since
// (engine/settle.hpp). The budget goes on. Throws what engine::settle_rows() throws.
std::vector<SettledTable> settle_data(const std::filesystem::path& policy,
                                      const engine::TableProgress& progress = {});

}  // namespace shoal::session
