// The budget marker: a small file beside the data, <data>.shoal, that says which budget the data
// belongs to. The budget belongs to the data: a second policy over the same file finds the marker
// and must name the same budget, unless the owner adds another on purpose. The marker also has the
// terms that the budget is to be opened with, so that no order of commands decides them, and
// remembers that it was opened, so that a lost ledger is noticed instead of starting afresh.
//
// Format, TOML: [[budget]] lineage = "...", ledger = "<path>", opened = true|false,
// witness = true|false (whether witness.hpp's file stands beside it), epsilon, delta, neighbors,
// unit. Markers of earlier versions lack all but the first three, and get them at the next use.
//
// It is read, changed and written under a lock, the file <data>.shoal.lock; and it is there before
// the data that it belongs to has its name.
#pragma once

#include <shoal/base/locked_file.hpp>
#include <shoal/base/neighbors.hpp>
#include <shoal/catalog/policy.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shoal::catalog {

// What a budget promises; the failures' part of delta and the rule are the account's own.
struct BudgetTerms {
  Epsilon epsilon{0};
  Delta delta{0};
  Neighbors neighbors = Neighbors::add_remove;
  std::string unit;  // in words, as the ledger has it
  bool operator==(const BudgetTerms&) const = default;
};

struct BudgetMark {
  std::string lineage;
  std::filesystem::path ledger;  // absolute, or on a server (base/ledger_place.hpp)
  bool opened = false;
  bool witnessed = false;
  std::optional<BudgetTerms> terms = {};
};

// The marker's path: symbolic links in the data's path are followed first.
std::filesystem::path marker_path(const std::filesystem::path& data);

// The budgets that the data belongs to, newest first; empty if there is no marker. Throws corrupt.
std::vector<BudgetMark> read_marks(const std::filesystem::path& data);

// That of the lineage; null if there is none.
BudgetMark* find_lineage(std::vector<BudgetMark>& marks, const std::string& lineage);

// That of the lineage and ledger; null if there is no mark at all. Throws conflict if there are
// others alone.
BudgetMark* require_mark(const std::filesystem::path& data, std::vector<BudgetMark>& marks,
                         const std::string& lineage, const std::filesystem::path& ledger);

// The markers of some files, for one process at a time to read, change and write.
class LockedMarkers {
 public:
  // Waits for all of them. Throws unavailable and io.
  explicit LockedMarkers(std::span<const std::filesystem::path> data);

  std::vector<BudgetMark> read(const std::filesystem::path& data) const;
  // Replaces the marker, durably. Throws io.
  void write(const std::filesystem::path& data, const std::vector<BudgetMark>& marks);

 private:
  std::map<std::filesystem::path, std::unique_ptr<LockedFile>> locks_;  // by marker
};

// Ties the data to this budget if it has none. Throws conflict if it has others alone.
void claim_budget(const std::filesystem::path& data, const BudgetMark& budget);

// Gives a copy of the data its name, which `give_name` does: it gets the data's marker and
// witnesses before, and loses the marker again if it got no name.
void name_copy(const std::filesystem::path& data, const std::filesystem::path& copy,
               const std::function<void()>& give_name);

// A public table's rows are no secret, so its file can neither belong to a budget nor be that of a
// private table of the same policy. Throws conflict.
void check_public_sources(const Policy& policy);

}  // namespace shoal::catalog
