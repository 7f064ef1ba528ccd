// The budget marker: a small file beside the data, <data>.shoal, that says which budget the data
// belongs to. The budget belongs to the data: a second policy over the same file finds the marker
// and must name the same budget, unless the owner adds another on purpose. The marker also
// remembers that the budget was opened, so that a lost ledger is noticed instead of starting
// afresh.
//
// Format, TOML: [[budget]] lineage = "...", ledger = "<path>", opened = true|false.
#pragma once

#include <shoal/catalog/policy.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace shoal::catalog {

struct BudgetMark {
  std::string lineage;
  std::filesystem::path ledger;  // absolute, or on a server (base/ledger_place.hpp)
  bool opened = false;
};

// The marker's path: symbolic links in the data's path are followed first.
std::filesystem::path marker_path(const std::filesystem::path& data);

// The budgets that the data belongs to, newest first; empty if there is no marker. Throws corrupt.
std::vector<BudgetMark> read_marks(const std::filesystem::path& data);

// Replaces the marker, durably. Throws io if the folder cannot be written.
void write_marks(const std::filesystem::path& data, const std::vector<BudgetMark>& marks);

// Whether this budget is one of the data's. Throws conflict if the data has a budget and this is
// none of them; adds it if the data has none.
void claim_budget(const std::filesystem::path& data, const BudgetMark& budget);

// A public table's rows are no secret, so its file can neither belong to a budget nor be that of a
// private table of the same policy. Throws conflict.
void check_public_sources(const Policy& policy);

// Whether the marker says that the budget was opened, and saying so.
bool was_opened(const std::filesystem::path& data, const std::string& lineage);
void mark_opened(const std::filesystem::path& data, const std::string& lineage);

}  // namespace shoal::catalog
