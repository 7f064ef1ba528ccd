// The owner's first step: drafting a policy for data files.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/engine/inspect.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shoal::session {

struct InitRequest {
  std::vector<std::filesystem::path> files;         // private
  std::vector<std::filesystem::path> public_files;  // protect nobody, and get no budget
  std::vector<std::string> header;                  // names for CSV files without a line of them
  std::filesystem::path output;                     // empty: beside the first file, with its name
  std::string person_column;                        // empty: the unit is a row
  std::optional<long long> max_rows_per_person;
  Neighbors neighbors = Neighbors::add_remove;
  double epsilon = 1.0;
  double delta = 1e-6;
  std::filesystem::path ledger;  // empty: beside the policy, with its name
  bool new_budget = false;       // although the data has one
  bool replace = false;          // an existing policy file
  engine::TableProgress progress = {};
  bool check = true;  // settle the rows and report what does not fit
};

struct InitResult {
  std::filesystem::path policy;
  std::vector<std::pair<std::string, engine::RowReport>> tables;  // if the rows were read
  bool shared_budget = false;  // the data had a budget already, and the policy names it
  std::string lineage;
  std::vector<std::string> hints;  // what the owner might want to change
};

// Writes a policy file for the owner to fill in, and the marker that ties the data to its budget.
// Throws not_found, invalid_argument, conflict (the policy exists) or io.
InitResult init_policy(const InitRequest& request);

}  // namespace shoal::session
