// What was spent and what is left, as text for people.
#pragma once

#include <shoal/session/session.hpp>

#include <span>
#include <string>

namespace shoal::cli {

// What of a report is shown: beside the last spends all of them, what they cost as one plan (the
// report must list all for that), and that the whole chain was verified.
struct BudgetShown {
  bool all = false;
  bool certified = false;
  bool verified = false;
};

// The spends of a report that are shown, the last ones.
std::span<const ledger::Spend> shown_spends(const session::BudgetReport& report, bool all);

std::string budget_table(const session::BudgetReport& report, const BudgetShown& shown = {});

}  // namespace shoal::cli
