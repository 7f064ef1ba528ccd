// What was spent and what is left, as text for people.
#pragma once

#include <shoal/session/session.hpp>

#include <string>

namespace shoal::cli {

std::string budget_table(const session::BudgetReport& report);

}  // namespace shoal::cli
