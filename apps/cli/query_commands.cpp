// shoal query and shoal explain.
#include "answer_text.hpp"
#include "commands.hpp"

#include <shoal/base/text.hpp>
#include <shoal/session/session.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shoal::cli {
namespace {

struct QueryArguments {
  std::string policy, sql, key, format = "table", noise = "automatic";
  std::optional<double> epsilon, delta, confidence;

  plan::QueryOptions options() const {
    plan::QueryOptions options;
    options.epsilon = epsilon;
    options.delta = delta;
    options.confidence = confidence;
    options.noise = noise == "laplace"    ? plan::NoiseChoice::laplace
                    : noise == "gaussian" ? plan::NoiseChoice::gaussian
                                          : plan::NoiseChoice::automatic;
    return options;
  }
};

void print_answer(const session::Answer& answer, const session::BudgetReport& budget) {
  fmt::print("{}\n", answer_table(answer));
  fmt::print("  cost    {}\n", cost_text(answer.epsilon, answer.delta, answer.rho));
  fmt::print("  left    one question of epsilon {} (of {} in total)\n",
             format_rounded(budget.epsilon_left, 6), format_number(budget.total.epsilon.value()));
  fmt::print("  means   this answer is {}\n", answer.statement);
}

void run_explain(const QueryArguments& arguments) {
  const session::Session session(arguments.policy);
  const plan::Plan plan = session.explain(arguments.sql, arguments.options());
  fmt::print("{}", arguments.format == "json" ? plan_json(plan, session.policy())
                                              : plan_table(plan, session.policy()));
}

void run_query(const QueryArguments& arguments) {
  session::Session session(arguments.policy);
  if (session.explain(arguments.sql, arguments.options()).explain_only) {
    return run_explain(arguments);
  }
  const session::Answer answer = session.query(arguments.sql, arguments.options(), arguments.key);
  if (arguments.format == "csv") return fmt::print("{}", answer_csv(answer));
  const session::BudgetReport budget = session.budget();
  if (arguments.format == "json") return fmt::print("{}", answer_json(answer, budget));
  print_answer(answer, budget);
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
  command->add_option("--epsilon", arguments->epsilon,
                      "what the question may cost; OPTIONS(epsilon = ...) in the question goes "
                      "before it, the policy's default stands behind it");
  command->add_option("--delta", arguments->delta,
                      "allow gaussian noise, with this delta; where small groups must be hidden "
                      "there is one anyway (default: pure differential privacy)");
  command->add_option("--confidence", arguments->confidence,
                      "of the error intervals (default: 0.95)");
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
                                 "ask a question\n\nSELECT with aggregates, filters, joins and "
                                 "GROUP BY. The cost is on disk before the data is read; each "
                                 "answer has its error interval. The same question again gives the "
                                 "same answer, and costs nothing.\n\n"
                                 "Example: shoal query people.toml \"SELECT AVG(age) FROM people "
                                 "WHERE state = 'TX'\" --epsilon 0.5",
                                 arguments, {"table", "json", "csv"});
  command->add_option("--key", arguments->key,
                      "a key of your own makes it a new question, with a new answer that is paid; "
                      "asking again with "
                      "the same key gives that answer again");
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
  command->callback([arguments] { run_explain(*arguments); });
}

}  // namespace shoal::cli
