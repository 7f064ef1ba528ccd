#include "answer_text.hpp"

#include "bars.hpp"
#include "found_text.hpp"
#include "row_file.hpp"
#include "table.hpp"

#include <shoal/base/text.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/plan/present.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace shoal::cli {
namespace {

using Json = nlohmann::ordered_json;
using session::Answer;
using session::AnswerColumn;

bool is_key(const AnswerColumn& column) { return column.aggregate == "key"; }

// The one row of an answer that is not grouped: its columns are better read below each other. How
// many rows a grouped answer has is told by the noise, so that it says nothing of its form.
bool is_upright(const Answer& answer, Rows rows) {
  return rows == Rows::one && answer.rows.size() == 1 &&
         std::none_of(answer.columns.begin(), answer.columns.end(), is_key);
}

int digits_of(const AnswerColumn& column) { return column.type == "integer" ? 18 : 7; }

std::string noise_text(const AnswerColumn& column) {
  std::string text;
  for (const session::AnswerNoise& noise : column.noise) {
    const auto is = [&noise](const char* law) {
      return noise.mechanism.find(law) != std::string::npos;
    };
    // What chooses a quantile has its scale in ranks, whatever the column's unit.
    const bool ranks = noise.mechanism.starts_with("quantile_");
    text += fmt::format("{}{} {}{}", text.empty() ? "" : " + ",
                        is("laplace")    ? "laplace"
                        : is("gaussian") ? "gaussian"
                                         : noise.mechanism,
                        format_rounded(noise.scale * noise.step, 4), ranks ? " ranks" : "");
  }
  return text;
}

std::string cell_text(const plan::Cell& cell, const AnswerColumn& column) {
  if (const auto* flag = std::get_if<bool>(&cell.value)) return *flag ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&cell.value)) return printable(*text, 60);
  if (const auto* value = std::get_if<double>(&cell.value)) {
    return is_key(column) ? format_number(*value) : grouped(*value, digits_of(column));
  }
  return "NULL";
}

std::string interval_text(const plan::Cell& cell, const AnswerColumn& column) {
  if (!cell.lower || !cell.upper) return "";
  return fmt::format("{} to {}", grouped(*cell.lower, digits_of(column)),
                     grouped(*cell.upper, digits_of(column)));
}

std::string upright_table(const Answer& answer) {
  TextTable table({"", "value", percent(answer.confidence) + " interval", "noise scale"},
                  {Align::left, Align::right, Align::left, Align::left});
  for (std::size_t i = 0; i < answer.columns.size(); ++i) {
    const AnswerColumn& column = answer.columns[i];
    const plan::Cell& cell = answer.rows[0][i];
    table.add(
        {column.name, cell_text(cell, column), interval_text(cell, column), noise_text(column)});
  }
  return table.text();
}

// Of one column, or none.
std::vector<std::string> bars_of(const Answer& answer, std::size_t column, std::size_t width) {
  std::vector<const plan::Cell*> cells;
  for (const session::AnswerRow& row : answer.rows) cells.push_back(&row[column]);
  return interval_bars(cells, width);
}

// Pictures of the intervals stand beside them if they have a width.
std::string wide_table(const Answer& answer, std::size_t bar_width) {
  std::vector<std::string> header;
  std::vector<Align> align;
  std::vector<std::vector<std::string>> bars;
  for (std::size_t i = 0; i < answer.columns.size(); ++i) {
    const AnswerColumn& column = answer.columns[i];
    header.push_back(column.name);
    align.push_back(is_key(column) && column.type != "integer" ? Align::left : Align::right);
    bars.emplace_back();
    if (is_key(column)) continue;
    header.push_back(percent(answer.confidence) + " interval");
    align.push_back(Align::left);
    bars.back() = bars_of(answer, i, bar_width);
    if (bars.back().empty()) continue;
    header.emplace_back();
    align.push_back(Align::left);
  }
  TextTable table(header, align);
  for (std::size_t r = 0; r < answer.rows.size(); ++r) {
    const session::AnswerRow& row = answer.rows[r];
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells.push_back(cell_text(row[i], answer.columns[i]));
      if (!is_key(answer.columns[i])) cells.push_back(interval_text(row[i], answer.columns[i]));
      if (!bars[i].empty()) cells.push_back(bars[i][r]);
    }
    table.add(std::move(cells));
  }
  return table.text();
}

// The widest pictures that fit into a line; none if there is no room.
std::string fitted_table(const Answer& answer, std::optional<std::size_t> room) {
  for (const std::size_t width : {32u, 24u, 16u, 10u}) {
    if (!room) break;
    const std::string text = wide_table(answer, width);
    if (widest_line(text) <= *room) return text;
  }
  return wide_table(answer, 0);
}

std::string plain(const plan::Cell& cell) {
  if (const auto* flag = std::get_if<bool>(&cell.value)) return *flag ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&cell.value)) return csv_field(*text);
  if (const auto* value = std::get_if<double>(&cell.value)) return format_number(*value);
  return "";
}

std::string end(const std::optional<double>& one) { return one ? format_number(*one) : ""; }

std::string upright_csv(const Answer& answer) {
  std::string text = "name,value,lower,upper,confidence,epsilon,delta\n";
  for (std::size_t i = 0; i < answer.columns.size(); ++i) {
    const plan::Cell& cell = answer.rows[0][i];
    text += fmt::format("{},{},{},{},{},{},{}\n", csv_field(answer.columns[i].name), plain(cell),
                        end(cell.lower), end(cell.upper), format_number(answer.confidence),
                        format_number(answer.epsilon), format_number(answer.delta));
  }
  return text;
}

std::string wide_csv(const Answer& answer) {
  std::string text;
  const auto add = [&](const std::string& field) {
    if (!text.empty() && text.back() != '\n') text += ',';
    text += field;
  };
  for (const AnswerColumn& column : answer.columns) {
    add(csv_field(column.name));
    if (is_key(column)) continue;
    add(csv_field(column.name + "_lower"));
    add(csv_field(column.name + "_upper"));
  }
  text += '\n';
  for (const session::AnswerRow& row : answer.rows) {
    bool first = true;
    const auto put = [&](const std::string& field) {
      if (!first) text += ',';
      first = false;
      text += field;
    };
    for (std::size_t i = 0; i < row.size(); ++i) {
      put(plain(row[i]));
      if (is_key(answer.columns[i])) continue;
      put(end(row[i].lower));
      put(end(row[i].upper));
    }
    text += '\n';
  }
  return text;
}

double rho_of(const plan::Plan& plan) {
  return numeric::from_units_up(plan.charge.rho_units, privacy::kRhoDecimals);
}

// What is expected of a column that is one aggregate; nothing for keys and expressions.
const plan::PlannedAggregate* aggregate_of(const plan::Plan& plan,
                                           const plan::PresentedColumn& column) {
  return column.bare ? &plan.aggregates[column.aggregates.front()] : nullptr;
}

bool per_row(const plan::PlannedAggregate& aggregate) {
  return aggregate.kind == plan::AggregateKind::average;
}

// How far off in rank a quantile that is chosen may be, whatever the values; none for a tree, and
// none before the noise is known. Values are no public fact, so there is no more to say in advance.
std::optional<double> rank_error_of(const plan::Plan& plan,
                                    const plan::PlannedAggregate& aggregate) {
  const mechanism::GroupedNoise& noise = plan.noises.front();
  if (!aggregate.quantile || plan::must_search(plan)) return std::nullopt;
  const mechanism::GroupQuantiles& quantiles =
      noise.quantiles.at(aggregate.statistic - noise.statistics.size());
  const auto* choices = std::get_if<std::vector<mechanism::QuantileChoice>>(&quantiles.method);
  if (!choices) return std::nullopt;
  double most = 0;
  for (const mechanism::QuantileChoice& choice : *choices) {
    most =
        std::max(most, mechanism::rank_error(choice.scale, mechanism::leaf_count(quantiles.range),
                                             plan.confidence));
  }
  return most;
}

std::string expected_error_text(const plan::Plan& plan, const plan::PresentedColumn& column) {
  const plan::PlannedAggregate* aggregate = aggregate_of(plan, column);
  if (column.is_key) return "key";
  if (aggregate && !aggregate->expected_error) {
    if (const auto ranks = rank_error_of(plan, *aggregate))
      return fmt::format("at most {} ranks off", grouped(*ranks, 4));
  }
  if (!aggregate || !aggregate->expected_error) return "depends on the answer";
  const std::string width = grouped(*aggregate->expected_error, 4);
  return per_row(*aggregate) ? fmt::format("about +-{} / number of rows", width)
                             : fmt::format("+-{}", width);
}

std::string groups_text(const plan::Plan& plan) {
  std::string text;
  for (std::size_t i = 0; i < plan.groupings.size(); ++i) {
    const plan::PlannedGrouping& grouping = plan.groupings[i];
    if (grouping.keys.empty()) continue;
    const mechanism::GroupedNoise& noise = plan.noises[i];
    text += fmt::format(
        "  groups  {}",
        plan.has_unit ? fmt::format("of each person at most {}; ", noise.max_groups) : "");
    if (noise.selection) {
      text += fmt::format(
          "keys are not public: a group shows if enough are in it, with an even chance at {}\n",
          mechanism::even_chance_size(*noise.selection));
    } else if (grouping.key_query) {
      text += "keys from a public table: each shows, also where nobody is\n";
    } else {
      text += fmt::format(
          "{} public keys: each shows, also where nobody is; NULL and others are in none\n",
          grouping.public_keys.size());
    }
  }
  return text;
}

std::string statistics_table(const plan::Plan& plan) {
  TextTable table({"released integer", "column", "sensitivity", "step", "noise"},
                  {Align::left, Align::left, Align::right, Align::right, Align::left});
  static constexpr const char* kKinds[] = {
      "units",    "rows", "values", "sum", "centred sum", "centred squares", "different values",
      "histogram"};
  const mechanism::GroupedNoise& noise = plan.noises.front();
  for (std::size_t i = 0; i < noise.statistics.size(); ++i) {
    const mechanism::GroupStatistic& statistic = noise.statistics[i];
    const bool exchange = plan.neighbors == Neighbors::replace_one && noise.single;
    table.add({kKinds[static_cast<int>(plan.statistics[i].kind)], plan.statistics[i].column,
               fmt::format("{}", exchange ? mechanism::exchange_reach(statistic)
                                          : mechanism::reach(statistic)),
               format_number(plan.statistics[i].unit_size()),
               statistic.noise ? mechanism::describe(*statistic.noise)
                               : mechanism::describe(*noise.selection)});
  }
  // Beside the integers stand the histograms that quantiles are chosen from.
  for (std::size_t i = 0; i < noise.quantiles.size(); ++i) {
    const mechanism::GroupQuantiles& quantiles = noise.quantiles[i];
    const catalog::Statistic& described = plan.statistics[noise.statistics.size() + i];
    const auto* tree = std::get_if<mechanism::TreeQuantiles>(&quantiles.method);
    table.add(
        {kKinds[static_cast<int>(described.kind)], described.column,
         fmt::format("{}", quantiles.values_per_unit), format_number(described.range.grid.step()),
         tree ? mechanism::describe(tree->tree)
              : mechanism::describe(
                    std::get<std::vector<mechanism::QuantileChoice>>(quantiles.method).front())});
  }
  return table.text();
}

}  // namespace

std::string percent(double confidence) { return format_number(confidence * 100) + "%"; }

std::string cost_text(double epsilon, double delta, double rho) {
  return delta > 0 ? fmt::format("epsilon {} at delta {} (rho {})", format_rounded(epsilon, 6),
                                 format_number(delta), format_rounded(rho, 4))
                   : fmt::format("epsilon {}", format_number(epsilon));
}

Rows rows_of(const plan::Plan& plan) {
  return plan.groupings.size() == 1 && plan.groupings.front().keys.empty() ? Rows::one
                                                                           : Rows::groups;
}

std::string answer_table(const Answer& answer, Rows rows, std::optional<std::size_t> room) {
  if (is_upright(answer, rows)) {
    const std::string found = found_text(answer);
    return upright_table(answer) + (found.empty() ? "" : "\n" + found);
  }
  std::string text = answer.rows.empty() ? "no group shows\n" : fitted_table(answer, room);
  if (answer.hidden) {
    text += fmt::format("\n  hidden  groups of few are not shown; one of {} has an even chance{}\n",
                        format_number(answer.hidden->even_chance),
                        answer.hidden->min_units > 1
                            ? fmt::format(", fewer than {} never show", answer.hidden->min_units)
                            : "");
  }
  if (!answer.found.empty()) text += (answer.hidden ? "" : "\n") + found_text(answer);
  return text;
}

std::string answer_csv(const Answer& answer, Rows rows) {
  return is_upright(answer, rows) ? upright_csv(answer) : wide_csv(answer);
}

std::string answer_json(const Answer& answer, const session::BudgetReport& budget) {
  Json json = Json::parse(session::to_json(answer));
  json["repeated"] = answer.repeated;
  json["budget"] = {{"epsilon", budget.total.epsilon.value()},
                    {"delta", budget.total.delta.value()},
                    {"epsilon_spent", budget.epsilon_spent},
                    {"epsilon_left", budget.epsilon_left}};
  return json.dump(2) + "\n";
}

std::string plan_table(const plan::Plan& plan, const catalog::Policy& policy) {
  TextTable columns({"", "expected error (" + percent(plan.confidence.value()) + ")"},
                    {Align::left, Align::left});
  for (const plan::PresentedColumn& column : plan::presented_columns(plan)) {
    columns.add({column.name, expected_error_text(plan, column)});
  }
  const double epsilon = session::epsilon_of(plan);
  std::string text = columns.text() + "\n";
  // Before bounds are known there is no grid and no scale of noise to be shown.
  if (!plan::must_search(plan)) text += statistics_table(plan) + "\n" + groups_text(plan);
  text += search_text(plan);
  text +=
      fmt::format("  unit    {}{}\n", policy.unit_in_words(),
                  plan.totals     ? ", of each the total in a group"
                  : plan.has_unit ? fmt::format(", at most {} row{} of each{}", plan.rows_per_group,
                                                plan.rows_per_group == 1 ? "" : "s",
                                                plan.keys.empty() ? "" : " in a group")
                                  : "");
  text += fmt::format("  rows    {}\n", sql::print(plan.rows, sql::Dialect::shoal));
  text += fmt::format("  cost    {}\n", cost_text(epsilon, plan.delta.value(), rho_of(plan)));
  text += fmt::format("  means   {}\n",
                      session::privacy_statement(epsilon, plan.delta.value(),
                                                 policy.unit_in_words(), policy.neighbors));
  return text + "\nnothing was read and nothing was spent\n";
}

std::string plan_json(const plan::Plan& plan, const catalog::Policy& policy) {
  Json json;
  json["columns"] = Json::array();
  for (const plan::PresentedColumn& column : plan::presented_columns(plan)) {
    Json& one = json["columns"].emplace_back(Json{{"name", column.name}});
    const plan::PlannedAggregate* aggregate = aggregate_of(plan, column);
    if (aggregate && !aggregate->expected_error) {
      if (const auto ranks = rank_error_of(plan, *aggregate)) one["expected_rank_error"] = *ranks;
    }
    if (!aggregate || !aggregate->expected_error) continue;
    one[per_row(*aggregate) ? "expected_error_times_rows" : "expected_error"] =
        *aggregate->expected_error;
  }
  json["groups"] = Json::array();
  for (std::size_t i = 0; i < plan.groupings.size(); ++i) {
    Json group = {{"keys", plan.groupings[i].keys.size()},
                  {"max_groups_per_person", plan.noises[i].max_groups},
                  {"hidden", plan.groupings[i].hidden}};
    if (plan.noises[i].selection) {
      group["even_chance"] = mechanism::even_chance_size(*plan.noises[i].selection);
    }
    json["groups"].push_back(std::move(group));
  }
  json["rows"] = sql::print(plan.rows, sql::Dialect::shoal);
  if (!plan.automatic.empty()) json["automatic"] = search_json(plan);
  json["confidence"] = plan.confidence.value();
  json["event"] = Json::parse(privacy::to_json(plan.event));
  const double epsilon = session::epsilon_of(plan);
  json["cost"] = {{"epsilon", epsilon}, {"delta", plan.delta.value()}, {"rho", rho_of(plan)}};
  json["privacy"] = {
      {"unit", policy.unit_in_words()},
      {"neighbors", to_string(policy.neighbors)},
      {"statement", session::privacy_statement(epsilon, plan.delta.value(), policy.unit_in_words(),
                                               policy.neighbors)}};
  return json.dump(2) + "\n";
}

}  // namespace shoal::cli
