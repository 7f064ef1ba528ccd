// shoal query and shoal explain.
#include "ask.hpp"
#include "commands.hpp"
#include "streams.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

namespace shoal::cli {
namespace {

struct QueryArguments {
  std::string policy, sql;
  AskOptions options;
};

CLI::App* add_common(CLI::App& app, const char* name, const char* help,
                     const std::shared_ptr<QueryArguments>& arguments,
                     const std::vector<std::string>& formats) {
  CLI::App* command = app.add_subcommand(name, help);
  command->add_option("policy", arguments->policy, "the policy file")->required();
  command
      ->add_option("sql", arguments->sql,
                   "the question, such as \"SELECT COUNT(*), AVG(age) FROM people\"")
      ->required();
  add_cost_options(*command, arguments->options);
  command->add_option("--format", arguments->options.format, "how to print")
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
                                 arguments, {"table", "json", "csv", "arrow", "parquet"});
  command->add_option("--key", arguments->options.key,
                      "a key of your own makes it a new question, with a new answer that is paid; "
                      "asking again with the same key gives that answer again");
  command->add_option("-o,--output", arguments->options.output,
                      "write the answer to this file, which must not exist");
  command->add_flag("--no-bars", arguments->options.no_bars,
                    "no pictures of intervals on a terminal");
  command->callback([arguments] {
    session::Session session(arguments->policy);
    print_text(ask(session, arguments->sql, arguments->options));
  });
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
    print_text(explain(session, arguments->sql, arguments->options));
  });
}

}  // namespace shoal::cli
