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
  std::string policy, format = "table";
  bool accept = false;
};

double delta_of(const privacy::Charge& charge) {
  return numeric::from_units_up(charge.delta_units, privacy::kDeltaDecimals);
}

void print_json(const session::BudgetReport& report) {
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
  try {
    const privacy::Certified certified = session::certified_total(report);
    json["certified_if_fixed_in_advance"] = {
        {"epsilon", {{"lower", certified.bounds.lower}, {"upper", certified.bounds.upper}}},
        {"delta", report.total.delta.value()},
        {"method", to_string(certified.engine)}};
  } catch (const Error&) {
    // Left out: the events have no profile under this relation.
  }
  json["spends"] = Json::array();
  for (const ledger::Spend& spend : report.spends) {
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
  CLI::App* command = app.add_subcommand("budget",
                                         "show what was spent, what is left and what it "
                                         "guarantees\n\nVerifies the ledger's whole chain.\n\n"
                                         "Example: shoal budget people.toml");
  command->add_option("policy", arguments->policy, "the policy file")->required();
  command->add_option("--format", arguments->format, "how to print")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->add_flag("--accept-policy", arguments->accept,
                    "for the owner: make the policy's total the ledger's, larger or smaller");
  command->callback([arguments] {
    session::Session session(arguments->policy);
    if (arguments->accept) session.accept_policy_budget();
    const session::BudgetReport report = session.budget();
    if (arguments->format == "json") {
      print_json(report);
    } else {
      fmt::print("{}", budget_table(report));
    }
  });
}

}  // namespace shoal::cli
