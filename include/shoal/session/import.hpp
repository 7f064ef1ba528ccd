// Importing rows in a form that questions read fast: Parquet in the policy's types, ordered by
// person.
#pragma once

#include <shoal/engine/inspect.hpp>

#include <filesystem>
#include <string>

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

}  // namespace shoal::session
