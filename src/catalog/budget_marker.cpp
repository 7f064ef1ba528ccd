#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/ledger_place.hpp>
#include <shoal/base/text.hpp>
#include <shoal/catalog/budget_marker.hpp>
#include <shoal/catalog/draft.hpp>

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>

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

BudgetMark* find(std::vector<BudgetMark>& marks, const std::string& lineage) {
  const auto found = std::find_if(marks.begin(), marks.end(),
                                  [&](const BudgetMark& mark) { return mark.lineage == lineage; });
  return found == marks.end() ? nullptr : &*found;
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
                       budget["opened"].value<bool>().value()});
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

void write_marks(const std::filesystem::path& data, const std::vector<BudgetMark>& marks) {
  std::string text =
      "# Ties the data file of this name to its privacy budget. Keep it beside the data; written "
      "by shoal.\n";
  for (const BudgetMark& mark : marks) {
    text += fmt::format("\n[[budget]]\nlineage = {}\nledger = {}\nopened = {}\n",
                        toml_text(mark.lineage), toml_text(stored_ledger(data, mark.ledger)),
                        mark.opened);
  }
  write_file_durably(marker_path(data), text, IfExists::replace);
}

void claim_budget(const std::filesystem::path& data, const BudgetMark& budget) {
  std::vector<BudgetMark> marks = read_marks(data);
  if (marks.empty()) {
    write_marks(data, {budget});
    return;
  }
  const BudgetMark* mark = find(marks, budget.lineage);
  if (mark && mark->ledger == absolute_ledger(budget.ledger, {})) return;
  throw Error(
      ErrorCode::conflict,
      fmt::format(
          "{} has a budget already, {} in {}, and a second policy does not make a new one; name "
          "that lineage and ledger in the policy, or, if the owner means to spend twice, make a "
          "policy with shoal init --new-budget",
          data.string(), marks.front().lineage, marks.front().ledger.string()));
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

bool was_opened(const std::filesystem::path& data, const std::string& lineage) {
  std::vector<BudgetMark> marks = read_marks(data);
  const BudgetMark* mark = find(marks, lineage);
  return mark && mark->opened;
}

void mark_opened(const std::filesystem::path& data, const std::string& lineage) {
  std::vector<BudgetMark> marks = read_marks(data);
  BudgetMark* mark = find(marks, lineage);
  SHOAL_CHECK(mark != nullptr);
  if (mark->opened) return;
  mark->opened = true;
  write_marks(data, marks);
}

}  // namespace shoal::catalog
