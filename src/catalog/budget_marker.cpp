#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/ledger_place.hpp>
#include <shoal/base/text.hpp>
#include <shoal/catalog/budget_marker.hpp>
#include <shoal/catalog/draft.hpp>
#include <shoal/catalog/witness.hpp>

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>

namespace shoal::catalog {
namespace {

std::filesystem::path real_path(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, error);
  return error ? std::filesystem::absolute(path).lexically_normal() : real;
}

// A file without detours, from a folder if it is relative; a place on a server as it is.
std::filesystem::path absolute_ledger(const std::filesystem::path& ledger,
                                      const std::filesystem::path& folder) {
  return server_schema(ledger) ? ledger : real_path(folder / ledger);
}

// Beside the data a relative path survives moving the folder; elsewhere only an absolute one makes
// sense.
std::string stored_ledger(const std::filesystem::path& data, const std::filesystem::path& ledger) {
  if (server_schema(ledger)) return ledger.string();
  const std::filesystem::path folder = real_path(data).parent_path();
  const std::filesystem::path relative = real_path(ledger).lexically_relative(folder);
  return !relative.empty() && *relative.begin() != ".." ? relative.string()
                                                        : real_path(ledger).string();
}

std::optional<BudgetTerms> parse_terms(const toml::table& budget) {
  if (!budget.contains("epsilon")) return std::nullopt;
  return BudgetTerms{Epsilon(budget["epsilon"].value<double>().value()),
                     Delta(budget["delta"].value<double>().value()),
                     parse_neighbors(budget["neighbors"].value<std::string>().value()),
                     budget["unit"].value<std::string>().value()};
}

std::string mark_text(const std::filesystem::path& data, const BudgetMark& mark) {
  std::string text =
      fmt::format("\n[[budget]]\nlineage = {}\nledger = {}\nopened = {}\nwitness = {}\n",
                  toml_text(mark.lineage), toml_text(stored_ledger(data, mark.ledger)), mark.opened,
                  mark.witnessed);
  if (mark.terms) {
    text += fmt::format("epsilon = {}\ndelta = {}\nneighbors = \"{}\"\nunit = {}\n",
                        toml_number(mark.terms->epsilon.value()),
                        toml_number(mark.terms->delta.value()), to_string(mark.terms->neighbors),
                        toml_text(mark.terms->unit));
  }
  return text;
}

bool same_source(const Policy& policy, const Table& one, const Table& other) {
  const bool server = one.format == SourceFormat::postgresql;
  if (server != (other.format == SourceFormat::postgresql)) return false;
  return server ? one.source == other.source
                : real_path(policy.resolve(one.source)) == real_path(policy.resolve(other.source));
}

}  // namespace

std::filesystem::path marker_path(const std::filesystem::path& data) {
  return real_path(data).string() + ".shoal";
}

std::vector<BudgetMark> read_marks(const std::filesystem::path& data) {
  const std::filesystem::path path = marker_path(data);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  std::vector<BudgetMark> marks;
  try {
    const toml::table file = toml::parse(read_file(path));
    const toml::array* budgets = file["budget"].as_array();
    for (std::size_t i = 0; budgets && i < budgets->size(); ++i) {
      const toml::table& budget = *budgets->get(i)->as_table();
      const std::filesystem::path ledger = budget["ledger"].value<std::string>().value();
      marks.push_back({budget["lineage"].value<std::string>().value(),
                       absolute_ledger(ledger, path.parent_path()),
                       budget["opened"].value<bool>().value(),
                       budget["witness"].value<bool>().value_or(false), parse_terms(budget)});
    }
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {
    marks.clear();
  }
  if (marks.empty()) {
    throw Error(
        ErrorCode::corrupt,
        fmt::format("{} cannot be read; it ties the data to its budget: restore it from a backup",
                    path.string()));
  }
  return marks;
}

BudgetMark* find_lineage(std::vector<BudgetMark>& marks, const std::string& lineage) {
  const auto found = std::find_if(marks.begin(), marks.end(),
                                  [&](const BudgetMark& mark) { return mark.lineage == lineage; });
  return found == marks.end() ? nullptr : &*found;
}

BudgetMark* require_mark(const std::filesystem::path& data, std::vector<BudgetMark>& marks,
                         const std::string& lineage, const std::filesystem::path& ledger) {
  if (marks.empty()) return nullptr;
  BudgetMark* found = find_lineage(marks, lineage);
  if (found && found->ledger == absolute_ledger(ledger, {})) return found;
  throw Error(
      ErrorCode::conflict,
      fmt::format(
          "{} has a budget already, {} in {}, and a second policy does not make a new one; name "
          "that lineage and ledger in the policy, or, if the owner means to spend twice, make a "
          "policy with shoal init --new-budget",
          data.string(), marks.front().lineage, marks.front().ledger.string()));
}

LockedMarkers::LockedMarkers(std::span<const std::filesystem::path> data) {
  // In one order for all processes.
  for (const std::filesystem::path& file : data) locks_.try_emplace(marker_path(file));
  for (auto& [marker, lock] : locks_) {
    lock = std::make_unique<LockedFile>(marker.string() + ".lock", LockedFile::Make::yes);
  }
}

std::vector<BudgetMark> LockedMarkers::read(const std::filesystem::path& data) const {
  SHOAL_CHECK(locks_.contains(marker_path(data)));
  return read_marks(data);
}

void LockedMarkers::write(const std::filesystem::path& data, const std::vector<BudgetMark>& marks) {
  SHOAL_CHECK(locks_.contains(marker_path(data)));
  std::string text =
      "# Ties the data file of this name to its privacy budget. Keep it beside the data; written "
      "by shoal.\n";
  for (const BudgetMark& mark : marks) text += mark_text(data, mark);
  write_file_durably(marker_path(data), text, IfExists::replace);
}

void claim_budget(const std::filesystem::path& data, const BudgetMark& budget) {
  std::vector<BudgetMark> marks = read_marks(data);
  if (require_mark(data, marks, budget.lineage, budget.ledger)) return;
  LockedMarkers locked(std::span(&data, 1));
  marks = locked.read(data);
  if (!require_mark(data, marks, budget.lineage, budget.ledger)) locked.write(data, {budget});
}

namespace {

// The witnesses stand beside the copy before its marker says that they do.
void copy_witnesses(const std::filesystem::path& data, const std::filesystem::path& copy,
                    const std::vector<BudgetMark>& marks) {
  for (const BudgetMark& mark : marks) {
    if (!mark.witnessed) continue;
    Witness(witness_path(copy, mark.lineage), mark.lineage)
        .keep(existing_witness(data, mark.lineage));
  }
}

}  // namespace

void name_copy(const std::filesystem::path& data, const std::filesystem::path& copy,
               const std::function<void()>& give_name) {
  const std::array both = {data, copy};
  LockedMarkers locked(both);
  const std::vector<BudgetMark> marks = locked.read(data);
  std::error_code ignored;
  if (std::filesystem::exists(copy, ignored)) {
    throw Error(ErrorCode::conflict,
                fmt::format("{} exists already; remove it or choose another name", copy.string()));
  }
  copy_witnesses(data, copy, marks);
  try {
    locked.write(copy, marks);
    give_name();
  } catch (...) {
    if (!std::filesystem::exists(copy, ignored))
      std::filesystem::remove(marker_path(copy), ignored);
    throw;
  }
}

void check_public_sources(const Policy& policy) {
  for (const Table& table : policy.tables) {
    if (!table.is_public) continue;
    for (const Table& other : policy.tables) {
      if (other.is_public || !same_source(policy, table, other)) continue;
      throw Error(ErrorCode::conflict,
                  fmt::format("tables {} and {} have the same source, {}, public in one and "
                              "private in the other; remove one of them from the policy",
                              table.name, other.name, table.source.string()));
    }
    if (table.format == SourceFormat::postgresql) continue;
    const std::filesystem::path data = policy.resolve(table.source);
    const std::vector<BudgetMark> marks = read_marks(data);
    if (marks.empty()) continue;
    throw Error(ErrorCode::conflict,
                fmt::format("table {} is called public, but {} has a budget, {} in {}, so its rows "
                            "are private; leave public = true out. If they never were private, "
                            "remove {}",
                            table.name, data.string(), marks.front().lineage,
                            marks.front().ledger.string(), marker_path(data).string()));
  }
}

}  // namespace shoal::catalog
