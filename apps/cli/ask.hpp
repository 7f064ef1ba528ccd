// A question, from its text to what is printed: the same for `shoal query` and `shoal shell`.
#pragma once

#include <shoal/session/session.hpp>

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace shoal::cli {

struct AskOptions {
  std::string key, format = "table", noise = "automatic", output;
  std::optional<double> epsilon, delta, confidence;
  bool no_bars = false;

  plan::QueryOptions query_options() const;
};

// The options that say what a question may cost.
void add_cost_options(CLI::App& command, AskOptions& options);

// Asks, and gives what to print; EXPLAIN PRIVACY gives the plan. With an output file the answer
// goes there, and what is printed says so.
std::string ask(session::Session& session, const std::string& sql, const AskOptions& options);

// The plan as text; reads no data and spends nothing.
std::string explain(const session::Session& session, const std::string& sql,
                    const AskOptions& options);

}  // namespace shoal::cli
