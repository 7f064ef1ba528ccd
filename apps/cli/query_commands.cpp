// shoal query and shoal explain.
#include "commands.hpp"
#include "table.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/session/session.hpp>
#include <shoal/sql/printer.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>

namespace shoal::cli {
namespace {

using Json = nlohmann::ordered_json;

struct QueryArguments {
  std::string policy, sql, key, format = "table", noise = "automatic";
  double epsilon = 0, delta = 0, confidence = 0.95;
  bool has_delta = false;

  plan::QueryOptions options() const {
    plan::QueryOptions options;
    options.epsilon = epsilon;
    if (has_delta) options.delta = delta;
    options.confidence = confidence;
    options.noise = noise == "laplace"    ? plan::NoiseChoice::laplace
                    : noise == "gaussian" ? plan::NoiseChoice::gaussian
                                          : plan::NoiseChoice::automatic;
    return options;
  }
};

std::string percent(double confidence) { return format_number(confidence * 100) + "%"; }

std::string cost_text(double epsilon, double delta, double rho) {
  return delta > 0 ? fmt::format("epsilon {} at delta {} (rho {})", format_rounded(epsilon, 6),
                                 format_number(delta), format_rounded(rho, 4))
                   : fmt::format("epsilon {}", format_number(epsilon));
}

std::string noise_text(const session::AnswerColumn& column) {
  std::string text;
  for (const session::AnswerNoise& noise : column.noise) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " + ",
                        noise.mechanism == "discrete_laplace" ? "laplace" : "gaussian",
                        format_rounded(noise.scale * noise.step, 4));
  }
  return text;
}

void print_table(const session::Answer& answer, const session::BudgetReport& budget) {
  TextTable table({"", "value", percent(answer.confidence) + " interval", "noise scale"},
                  {Align::left, Align::right, Align::left, Align::left});
  for (const session::AnswerColumn& column : answer.columns) {
    const int digits = column.aggregate == "count" ? 18 : 7;
    table.add(
        {column.name, grouped(column.value, digits),
         fmt::format("{} to {}", grouped(column.lower, digits), grouped(column.upper, digits)),
         noise_text(column)});
  }
  fmt::print("{}\n", table.text());
  fmt::print("  cost    {}\n", cost_text(answer.epsilon, answer.delta, answer.rho));
  fmt::print("  left    one question of epsilon {} (of {} in total)\n",
             format_rounded(budget.epsilon_left, 6), format_number(budget.total.epsilon.value()));
  fmt::print("  means   this answer is {}\n", answer.statement);
}

void print_csv(const session::Answer& answer) {
  const auto field = [](const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
  };
  fmt::print("name,value,lower,upper,confidence,epsilon,delta\n");
  for (const session::AnswerColumn& column : answer.columns) {
    fmt::print("{},{},{},{},{},{},{}\n", field(column.name), format_number(column.value),
               format_number(column.lower), format_number(column.upper),
               format_number(answer.confidence), format_number(answer.epsilon),
               format_number(answer.delta));
  }
}

void print_json(const session::Answer& answer, const session::BudgetReport& budget) {
  Json json = Json::parse(session::to_json(answer));
  json["budget"] = {{"epsilon", budget.total.epsilon.value()},
                    {"delta", budget.total.delta.value()},
                    {"epsilon_spent", budget.epsilon_spent},
                    {"epsilon_left", budget.epsilon_left}};
  fmt::print("{}\n", json.dump(2));
}

void run_query(const QueryArguments& arguments) {
  session::Session session(arguments.policy);
  const session::Answer answer = session.query(arguments.sql, arguments.options(), arguments.key);
  if (arguments.format == "csv") return print_csv(answer);
  const session::BudgetReport budget = session.budget();
  if (arguments.format == "json") return print_json(answer, budget);
  print_table(answer, budget);
}

double epsilon_of(const plan::Plan& plan) {
  return plan.charge.epsilon_units
             ? numeric::decimal_from_units(*plan.charge.epsilon_units, privacy::kEpsilonDecimals)
             : plan.epsilon.value();
}

double rho_of(const plan::Plan& plan) {
  return numeric::from_units_up(plan.charge.rho_units, privacy::kRhoDecimals);
}

std::string expected_error_text(const plan::PlannedOutput& output) {
  return output.kind == plan::OutputKind::average
             ? fmt::format("about +-{} / number of rows", grouped(output.expected_error, 4))
             : fmt::format("+-{}", grouped(output.expected_error, 4));
}

void print_plan(const plan::Plan& plan, const catalog::Policy& policy) {
  TextTable outputs({"", "expected error (" + percent(plan.confidence.value()) + ")"},
                    {Align::left, Align::left});
  for (const plan::PlannedOutput& output : plan.outputs)
    outputs.add({output.name, expected_error_text(output)});
  fmt::print("{}\n", outputs.text());
  TextTable statistics({"released integer", "column", "sensitivity", "step", "noise"},
                       {Align::left, Align::left, Align::right, Align::right, Align::left});
  static constexpr const char* kKinds[] = {"rows", "values", "sum", "centred sum"};
  for (std::size_t i = 0; i < plan.statistics.size(); ++i) {
    statistics.add({kKinds[static_cast<int>(plan.statistics[i].kind)], plan.statistics[i].column,
                    fmt::format("{}", plan.noises[i].sensitivity.steps()),
                    format_number(plan.statistics[i].range.grid.step()),
                    mechanism::describe(plan.noises[i].mechanism)});
  }
  fmt::print("{}\n", statistics.text());
  if (plan.filter) fmt::print("  filter  {}\n", sql::print(*plan.filter, sql::Dialect::duckdb));
  fmt::print("  unit    {}{}\n", policy.unit_in_words(),
             plan.person_column.empty()
                 ? ""
                 : fmt::format(", at most {} row{} of each", plan.rows_per_unit,
                               plan.rows_per_unit == 1 ? "" : "s"));
  fmt::print("  cost    {}\n", cost_text(epsilon_of(plan), plan.delta.value(), rho_of(plan)));
  fmt::print("  means   {}\n",
             session::privacy_statement(epsilon_of(plan), plan.delta.value(),
                                        policy.unit_in_words(), policy.neighbors));
  fmt::print("\nnothing was read and nothing was spent\n");
}

void print_plan_json(const plan::Plan& plan, const catalog::Policy& policy) {
  Json json;
  json["columns"] = Json::array();
  for (const plan::PlannedOutput& output : plan.outputs) {
    json["columns"].push_back(
        {{"name", output.name},
         {output.kind == plan::OutputKind::average ? "expected_error_times_rows" : "expected_error",
          output.expected_error}});
  }
  json["confidence"] = plan.confidence.value();
  json["event"] = Json::parse(privacy::to_json(plan.event));
  json["cost"] = {
      {"epsilon", epsilon_of(plan)}, {"delta", plan.delta.value()}, {"rho", rho_of(plan)}};
  json["privacy"] = {
      {"unit", policy.unit_in_words()},
      {"neighbors", to_string(policy.neighbors)},
      {"statement", session::privacy_statement(epsilon_of(plan), plan.delta.value(),
                                               policy.unit_in_words(), policy.neighbors)}};
  fmt::print("{}\n", json.dump(2));
}

CLI::App* add_common(CLI::App& app, const char* name, const char* help,
                     const std::shared_ptr<QueryArguments>& arguments,
                     const std::vector<std::string>& formats) {
  CLI::App* command = app.add_subcommand(name, help);
  command->add_option("policy", arguments->policy, "the policy file")->required();
  command
      ->add_option("sql", arguments->sql,
                   "the question, such as \"SELECT COUNT(*), AVG(age) FROM people\"")
      ->required();
  command->add_option("--epsilon", arguments->epsilon, "what the question may cost")->required();
  command->add_option_function<double>(
      "--delta",
      [arguments](const double& delta) {
        arguments->delta = delta;
        arguments->has_delta = true;
      },
      "allow gaussian noise, with this delta (default: pure differential privacy)");
  command->add_option("--confidence", arguments->confidence, "of the error intervals")
      ->capture_default_str();
  command->add_option("--noise", arguments->noise, "automatic, laplace or gaussian")
      ->check(CLI::IsMember({"automatic", "laplace", "gaussian"}))
      ->capture_default_str();
  command->add_option("--format", arguments->format, "how to print")
      ->check(CLI::IsMember(formats))
      ->capture_default_str();
  return command;
}

}  // namespace

void add_query(CLI::App& app) {
  auto arguments = std::make_shared<QueryArguments>();
  CLI::App* command = add_common(app, "query",
                                 "ask a question\n\nSELECT with COUNT, SUM and AVG and a row "
                                 "filter. The cost is on disk before the data is read; "
                                 "each answer has its error interval.\n\n"
                                 "Example: shoal query people.toml \"SELECT AVG(age) FROM people "
                                 "WHERE state = 'TX'\" --epsilon 0.5",
                                 arguments, {"table", "json", "csv"});
  command->add_option(
      "--key", arguments->key,
      "idempotency key: asking again with it gives the same answer and costs nothing");
  command->callback([arguments] { run_query(*arguments); });
}

void add_explain(CLI::App& app) {
  auto arguments = std::make_shared<QueryArguments>();
  CLI::App* command =
      add_common(app, "explain",
                 "show what a question would cost and how far off it may be\n\nReads no data and "
                 "spends nothing.\n\n"
                 "Example: shoal explain people.toml \"SELECT COUNT(*) FROM people\" --epsilon 0.1",
                 arguments, {"table", "json"});
  command->callback([arguments] {
    const session::Session session(arguments->policy);
    const plan::Plan plan = session.explain(arguments->sql, arguments->options());
    if (arguments->format == "json") {
      print_plan_json(plan, session.policy());
    } else {
      print_plan(plan, session.policy());
    }
  });
}

}  // namespace shoal::cli
