#include "session/paths.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/ledger_place.hpp>
#include <shoal/base/text.hpp>
#include <shoal/catalog/budget_marker.hpp>
#include <shoal/catalog/draft.hpp>
#include <shoal/ledger/ledger.hpp>
#include <shoal/random/secure_source.hpp>
#include <shoal/session/owner.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace shoal::session {
namespace {

namespace fs = std::filesystem;

// A policy is beside its data and named for it.
fs::path with_extension(fs::path path, const char* extension) {
  return path.replace_extension(extension);
}

std::string new_lineage(const std::string& name) {
  random::SecureSource bits;
  return fmt::format("{}-{:016x}", name, bits.next_u64());
}

void set_unit(const InitRequest& request, catalog::Policy& policy) {
  if (request.person_column.empty()) {
    if (request.max_rows_per_person) {
      throw Error(
          ErrorCode::invalid_argument,
          "max rows per person is given, but no person column; add for example --unit person_id");
    }
    return;
  }
  if (request.max_rows_per_person && *request.max_rows_per_person < 1) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("max rows per person is {}; it must be at least 1",
                            *request.max_rows_per_person));
  }
  policy.unit = catalog::PrivacyUnit::person;
  for (catalog::Table& table : policy.tables) {
    if (table.is_public) continue;
    const catalog::Column* column = table.find_column(request.person_column, false);
    if (!column) {
      throw Error(
          ErrorCode::not_found,
          fmt::format("{0} has no column {1}; name the column that identifies the person. If it "
                      "refers to a table that has one, leave the file out here and add it to the "
                      "policy with via; if its rows are no secret, give it as --public {0}",
                      table.source.string(), printable(request.person_column, 60)));
    }
    table.person_column = column->name;
    table.max_rows_per_person = request.max_rows_per_person;
  }
}

// Budgets of the files that are there already. All files of a policy must share one.
std::optional<catalog::BudgetMark> existing_budget(const catalog::Policy& policy) {
  std::optional<catalog::BudgetMark> shared;
  for (const catalog::Table& table : policy.tables) {
    if (table.is_public) continue;
    const auto marks = catalog::read_marks(policy.resolve(table.source));
    if (marks.empty()) continue;
    if (shared && shared->lineage != marks.front().lineage) {
      throw Error(
          ErrorCode::conflict,
          fmt::format("the files belong to different budgets, {} and {}; make a policy for each",
                      shared->lineage, marks.front().lineage));
    }
    shared = marks.front();
  }
  return shared;
}

// A shared budget brings its total and its relation along, so that the new policy does not
// contradict the ledger. What it protects cannot be another unit. True if it was opened.
bool take_account(const catalog::BudgetMark& budget, catalog::Policy& policy,
                  std::vector<std::string>& hints) {
  std::error_code ignored;
  if (!server_schema(budget.ledger) && !fs::exists(budget.ledger, ignored)) return false;
  const ledger::Ledger ledger(budget.ledger);
  const auto account = ledger.account(budget.lineage);
  if (!account) return false;
  if (!ledger::same_unit(account->unit, policy.unit_in_words())) {
    throw Error(
        ErrorCode::conflict,
        fmt::format(
            "the data has a budget that protects {}, and this policy would protect {}; ask for the "
            "same with --unit, or start another budget with --new-budget",
            account->unit, policy.unit_in_words()));
  }
  if (account->unit != policy.unit_in_words()) {
    hints.push_back(
        fmt::format("the budget in use protects {}, this policy {}: both must name the same people",
                    account->unit, policy.unit_in_words()));
  }
  policy.epsilon = account->budget.epsilon;
  policy.delta = account->budget.delta;
  policy.neighbors = account->neighbors;
  return true;
}

std::vector<std::string> hints_for(const catalog::Policy& policy) {
  std::vector<std::string> hints;
  for (const catalog::Table& table : policy.tables) {
    if (table.is_public) continue;
    for (const catalog::Column& column : table.columns) {
      const std::string name = to_lower(column.name);
      const bool identifier =
          name == "id" || name.ends_with("_id") || name == "person" || name == "user";
      if (policy.unit == catalog::PrivacyUnit::row && identifier) {
        hints.push_back(fmt::format(
            "{} may identify a person; if somebody can have several rows in {}, protect the "
            "person: shoal init --unit {}",
            column.name, table.name, column.name));
      }
    }
    if (policy.unit == catalog::PrivacyUnit::person && !table.max_rows_per_person) {
      hints.push_back(fmt::format("set max_rows_per_person in [table.{}]: no query runs without it",
                                  table.name));
    }
  }
  hints.emplace_back(
      "SUM and AVG need public bounds: fill in the commented lines of their columns");
  return hints;
}

void mark_files(const catalog::Policy& policy, bool shared, const fs::path& ledger) {
  for (const catalog::Table& table : policy.tables) {
    if (table.is_public) continue;
    const fs::path data = policy.resolve(table.source);
    std::vector<catalog::BudgetMark> marks = catalog::read_marks(data);
    const bool known = std::any_of(
        marks.begin(), marks.end(),
        [&](const catalog::BudgetMark& mark) { return mark.lineage == policy.lineage; });
    if (known && shared) continue;
    // The newest budget stands first: it is the one that later policies share.
    marks.insert(marks.begin(), {policy.lineage, ledger, false});
    catalog::write_marks(data, marks);
  }
}

catalog::Policy draft(const InitRequest& request, const fs::path& output) {
  catalog::Policy policy;
  policy.folder = output.has_parent_path() ? normal_path(output).parent_path() : fs::current_path();
  policy.name = output.stem().string();
  policy.neighbors = request.neighbors;
  policy.epsilon = Epsilon(request.epsilon);
  policy.delta = Delta(request.delta);
  if (request.epsilon <= 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("epsilon is {}; a total budget must be above 0",
                            format_number(request.epsilon)));
  }
  const auto add = [&](const fs::path& file, bool is_public) {
    catalog::Table table = engine::inspect_file(file);
    table.is_public = is_public;
    if (policy.find_table(table.name, false)) {
      throw Error(ErrorCode::conflict,
                  fmt::format("two files give a table named {}; rename one", table.name));
    }
    table.source = as_seen_from(policy.folder, file);
    policy.tables.push_back(std::move(table));
  };
  for (const fs::path& file : request.files) add(file, false);
  for (const fs::path& file : request.public_files) add(file, true);
  catalog::check_public_sources(policy);
  set_unit(request, policy);
  return policy;
}

}  // namespace

InitResult init_policy(const InitRequest& request) {
  SHOAL_CHECK(!request.files.empty());
  const fs::path output =
      request.output.empty() ? with_extension(request.files.front(), ".toml") : request.output;
  std::error_code ignored;
  if (!request.replace && fs::exists(output, ignored)) {
    throw Error(
        ErrorCode::conflict,
        fmt::format(
            "{} exists already; add --replace to write it anew, or --output for another name",
            output.string()));
  }
  catalog::Policy policy = draft(request, output);

  InitResult result;
  result.policy = output;
  const auto existing = request.new_budget ? std::nullopt : existing_budget(policy);
  fs::path ledger;
  if (existing) {
    result.shared_budget = true;
    policy.lineage = existing->lineage;
    ledger = existing->ledger;
    if (take_account(*existing, policy, result.hints)) {
      result.hints.push_back(fmt::format(
          "total (epsilon {}, delta {}) and relation ({}) are those of the budget in use",
          format_number(policy.epsilon.value()), format_number(policy.delta.value()),
          to_string(policy.neighbors)));
    }
  } else {
    policy.lineage = new_lineage(policy.name);
    ledger = request.ledger.empty() ? with_extension(output, ".ledger") : request.ledger;
    if (!server_schema(ledger)) ledger = normal_path(ledger);
  }
  policy.ledger = server_schema(ledger) ? ledger : as_seen_from(policy.folder, ledger);
  result.lineage = policy.lineage;
  if (request.check) {
    for (const catalog::Table& table : policy.tables) {
      result.tables.emplace_back(table.name, engine::check_rows(policy, table));
    }
  }
  const std::string text = catalog::draft_policy(policy);
  catalog::parse_policy(text, policy.folder);  // what is written must read back
  mark_files(policy, existing.has_value(), ledger);
  write_file_durably(output, text, request.replace ? IfExists::replace : IfExists::refuse);
  for (std::string& hint : hints_for(policy)) result.hints.push_back(std::move(hint));
  return result;
}

}  // namespace shoal::session
