#include "session/account_ledger.hpp"
#include "session/paths.hpp"
#include "session/settled_data.hpp"

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
#include <functional>
#include <map>
#include <utility>

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

std::vector<fs::path> private_files(const catalog::Policy& policy) { return place_of(policy).data; }

// Budgets of the files that are there already. All files of a policy must share one.
std::optional<catalog::BudgetMark> existing_budget(const catalog::Policy& policy) {
  std::optional<catalog::BudgetMark> shared;
  for (const fs::path& file : private_files(policy)) {
    const auto marks = catalog::read_marks(file);
    if (marks.empty()) continue;
    if (shared && shared->lineage != marks.front().lineage) {
      throw Error(
          ErrorCode::conflict,
          fmt::format("the files belong to different budgets, {} and {}; make a policy for each",
                      shared->lineage, marks.front().lineage));
    }
    // That a budget was opened, one of its files knows.
    if (!shared || marks.front().opened) shared = marks.front();
  }
  return shared;
}

// What a shared budget promises: what its account was opened with, or what its marker says. None if
// neither is there.
struct SharedTerms {
  catalog::BudgetTerms terms;
  bool opened;
};
std::optional<SharedTerms> shared_terms(const catalog::BudgetMark& budget,
                                        const catalog::Policy& policy) {
  const auto found = existing_account({budget.lineage, budget.ledger, {}, private_files(policy)});
  if (found) {
    const ledger::Account account = *found->ledger().account(budget.lineage);
    return SharedTerms{
        {account.budget.epsilon, account.budget.delta, account.neighbors, account.unit}, true};
  }
  if (!budget.terms) return std::nullopt;
  return SharedTerms{*budget.terms, false};
}

// A shared budget brings its total and its relation along, so that the new policy does not
// contradict it. What it protects cannot be another unit. While nothing was asked, the owner may
// replace the policy and say all of it anew.
void take_terms(const catalog::BudgetMark& budget, bool replace, catalog::Policy& policy,
                std::vector<std::string>& hints) {
  const auto shared = shared_terms(budget, policy);
  if (!shared || (!shared->opened && replace)) return;
  const catalog::BudgetTerms& terms = shared->terms;
  if (!ledger::same_unit(terms.unit, policy.unit_in_words())) {
    throw Error(
        ErrorCode::conflict,
        fmt::format(
            "the data has a budget that protects {}, and this policy would protect {}; ask for the "
            "same with --unit, {}or start another budget with --new-budget",
            terms.unit, policy.unit_in_words(),
            shared->opened ? ""
                           : "replace the first policy with --replace, as nothing was asked "));
  }
  if (terms.unit != policy.unit_in_words()) {
    hints.push_back(
        fmt::format("the budget in use protects {}, this policy {}: both must name the same people",
                    terms.unit, policy.unit_in_words()));
  }
  policy.epsilon = terms.epsilon;
  policy.delta = terms.delta;
  policy.neighbors = terms.neighbors;
  hints.push_back(
      fmt::format("total (epsilon {}, delta {}) and relation ({}) are those of the budget in use",
                  format_number(policy.epsilon.value()), format_number(policy.delta.value()),
                  to_string(policy.neighbors)));
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

// Ties the files to the policy's budget. `shared` is what was found before the rows were checked:
// of two commands that make a budget at once, the second finds the first one's, and must share it.
void mark_files(const catalog::Policy& policy, const InitRequest& request,
                const std::optional<catalog::BudgetMark>& shared, const fs::path& ledger) {
  const std::vector<fs::path> files = private_files(policy);
  catalog::LockedMarkers locked(files);
  const auto now = request.new_budget ? std::nullopt : existing_budget(policy);
  if (now.has_value() != shared.has_value() || (now && now->lineage != shared->lineage)) {
    throw Error(ErrorCode::conflict,
                "the data got a budget while its rows were checked; run the same command again to "
                "share it");
  }
  const catalog::BudgetTerms terms = terms_of(policy).terms;
  for (const fs::path& data : files) {
    std::vector<catalog::BudgetMark> marks = locked.read(data);
    catalog::BudgetMark* mine = catalog::find_lineage(marks, policy.lineage);
    // The newest budget stands first: it is the one that later policies share.
    if (!mine) mine = &*marks.insert(marks.begin(), {policy.lineage, ledger});
    if (!mine->opened) mine->terms = terms;
    locked.write(data, marks);
  }
}

// Settles the rows of every table. `mark` ties the data to the budget: before a copy of it has a
// name, and not before that, since what cannot be read gets no policy.
std::vector<std::pair<std::string, engine::RowReport>> settle_all(
    const catalog::Policy& policy, const std::function<void()>& mark,
    const engine::TableProgress& progress) {
  const engine::NameCopy copies = mark_copies(policy);
  const engine::NameCopy name_copy = [&](const catalog::Table& table, const fs::path& copy,
                                         const std::function<void()>& give_name) {
    mark();
    copies(table, copy, give_name);
  };
  std::map<std::string, engine::RowReport> reports;
  // Only a Parquet file can turn out to be unreadable.
  for (const auto format : {catalog::SourceFormat::parquet, catalog::SourceFormat::csv}) {
    for (const catalog::Table& table : policy.tables) {
      if (table.format != format) continue;
      reports[table.name] = engine::settle_rows(policy, table, name_copy, [&](double share) {
                              if (progress) progress(table.name, share);
                            }).rows;
    }
  }
  std::vector<std::pair<std::string, engine::RowReport>> all;
  for (const catalog::Table& table : policy.tables)
    all.emplace_back(table.name, reports[table.name]);
  return all;
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
    catalog::Table table = engine::inspect_file(file, request.header);
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
    take_terms(*existing, request.replace, policy, result.hints);
  } else {
    policy.lineage = new_lineage(policy.name);
    ledger = request.ledger.empty() ? with_extension(output, ".ledger") : request.ledger;
    if (!server_schema(ledger)) ledger = normal_path(ledger);
  }
  policy.ledger = server_schema(ledger) ? ledger : as_seen_from(policy.folder, ledger);
  result.lineage = policy.lineage;
  const std::string text = catalog::draft_policy(policy);
  const catalog::Policy written = catalog::parse_policy(text, policy.folder);
  bool marked = false;
  const auto mark = [&] {
    if (!std::exchange(marked, true)) mark_files(policy, request, existing, ledger);
  };
  if (request.check) result.tables = settle_all(written, mark, request.progress);
  mark();
  write_file_durably(output, text, request.replace ? IfExists::replace : IfExists::refuse);
  for (std::string& hint : hints_for(policy)) result.hints.push_back(std::move(hint));
  return result;
}

}  // namespace shoal::session
