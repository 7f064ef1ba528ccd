// Answers and plans as text: tables for people, CSV and JSON for programs.
#pragma once

#include <shoal/session/session.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace shoal::cli {

std::string percent(double confidence);
std::string cost_text(double epsilon, double delta, double rho);

// What an answer to a question is made of: its groups, or one row where there is no GROUP BY.
enum class Rows { one, groups };
Rows rows_of(const plan::Plan& plan);

// With room for lines of so many characters intervals are drawn, too.
std::string answer_table(const session::Answer& answer, Rows rows, std::optional<std::size_t> room);
std::string answer_csv(const session::Answer& answer, Rows rows);
std::string answer_json(const session::Answer& answer, const session::BudgetReport& budget);

std::string plan_table(const plan::Plan& plan, const catalog::Policy& policy);
std::string plan_json(const plan::Plan& plan, const catalog::Policy& policy);

}  // namespace shoal::cli
