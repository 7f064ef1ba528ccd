// shoal budget: what was spent, what is left, and what that guarantees.
#include "budget_text.hpp"
#include "commands.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/session/session.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>

namespace shoal::cli {
namespace {

using Json = nlohmann::ordered_json;

struct BudgetArguments {
  std::string policy, format = "table", backup;
  bool accept = false;
  BudgetShown shown;
};

double delta_of(const privacy::Charge& charge) {
  return numeric::from_units_up(charge.delta_units, privacy::kDeltaDecimals);
}

session::BudgetDetail detail_of(const BudgetShown& shown) {
  session::BudgetDetail detail;
  if (shown.all || shown.certified) detail.last_spends = session::BudgetDetail::kAllSpends;
  detail.verify = shown.verified;
  return detail;
}

// Null if the events have no profile under this relation.
Json certified_json(const session::BudgetReport& report) {
  try {
    const privacy::Certified certified = session::certified_total(report);
    return {{"epsilon", {{"lower", certified.bounds.lower}, {"upper", certified.bounds.upper}}},
            {"delta", report.total.delta.value()},
            {"method", to_string(certified.engine)}};
  } catch (const Error&) {
    return nullptr;
  }
}

void print_json(const session::BudgetReport& report, const BudgetShown& shown) {
  Json json = {{"name", report.name},
               {"lineage", report.lineage},
               {"unit", report.unit},
               {"neighbors", to_string(report.neighbors)},
               {"epsilon", report.total.epsilon.value()},
               {"delta", report.total.delta.value()},
               {"epsilon_spent", report.epsilon_spent},
               {"epsilon_at_any_time", report.epsilon_at_any_time},
               {"epsilon_left", report.epsilon_left},
               {"statement", report.statement},
               {"ledger", report.ledger.string()}};
  // Not a filter: what the same events cost as one plan, declared in advance.
  json["certified_if_fixed_in_advance"] = nullptr;
  if (shown.certified) json["certified_if_fixed_in_advance"] = certified_json(report);
  json["spend_count"] = report.spend_count;
  json["spends"] = Json::array();
  for (const ledger::Spend& spend : shown_spends(report, shown.all)) {
    Json row = {{"entry", spend.entry},
                {"time", spend.time},
                {"state", spend.state},
                {"question", spend.description},
                {"key", spend.request_key}};
    row["epsilon"] = nullptr;
    if (spend.charge.epsilon_units) {
      row["epsilon"] =
          numeric::decimal_from_units(*spend.charge.epsilon_units, privacy::kEpsilonDecimals);
    }
    row["rho"] = numeric::from_units_up(spend.charge.rho_units, privacy::kRhoDecimals);
    if (spend.charge.delta_units > 0) row["delta"] = delta_of(spend.charge);
    row["event"] = Json::parse(privacy::to_json(spend.event));
    json["spends"].push_back(row);
  }
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

void add_budget(CLI::App& app) {
  auto arguments = std::make_shared<BudgetArguments>();
  CLI::App* command =
      app.add_subcommand("budget",
                         "show what was spent, what is left and what it "
                         "guarantees\n\nNeeds no right to write: the ledger and its "
                         "folder may be read-only.\n\n"
                         "Example: shoal budget people.toml");
  command->add_option("policy", arguments->policy, "the policy file")->required();
  command->add_option("--format", arguments->format, "how to print")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->add_flag("--all", arguments->shown.all, "list every spend, not the last 20");
  command->add_flag("--certify", arguments->shown.certified,
                    "also what the spends cost as one plan that was fixed in advance; takes a "
                    "while for many kinds of spends");
  command->add_flag("--verify", arguments->shown.verified,
                    "verify every entry of the ledger, not those since its last checkpoint");
  command->add_option("--backup", arguments->backup,
                      "copy the ledger, in use or not, to this new file, and verify the copy");
  command->add_flag("--accept-policy", arguments->accept,
                    "for the owner: make the policy's total the ledger's, larger or smaller");
  command->callback([arguments] {
    session::Session session(arguments->policy);
    if (arguments->accept) session.accept_policy_budget();
    if (!arguments->backup.empty()) session.backup(arguments->backup);
    const session::BudgetReport report = session.budget(detail_of(arguments->shown));
    if (arguments->format == "json") {
      print_json(report, arguments->shown);
    } else {
      fmt::print("{}", budget_table(report, arguments->shown));
    }
  });
}

}  // namespace shoal::cli
