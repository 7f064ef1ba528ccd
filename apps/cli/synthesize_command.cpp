// shoal synthesize.
#include "commands.hpp"
#include "new_file.hpp"
#include "progress.hpp"
#include "streams.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/text.hpp>
#include <shoal/session/session.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace shoal::cli {
namespace {

struct SynthesizeArguments {
  std::string policy, key, output, report, format = "text";
  session::SynthesisOptions options;
  std::optional<std::int64_t> rows;
  bool explain = false;
};

void explain(const session::Session& session, const SynthesizeArguments& arguments) {
  if (arguments.rows) session::check_synthetic_rows(*arguments.rows);
  const session::SynthesisPlan plan = session.explain_synthesis(arguments.options);
  print_text(arguments.format == "json" ? session::to_json(plan, session.policy()) + "\n"
                                        : session::describe(plan, session.policy()));
}

void check_files(const SynthesizeArguments& arguments) {
  if (arguments.rows) session::check_synthetic_rows(*arguments.rows);
  if (arguments.output.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "say where the records go with --output synthetic.csv");
  }
  check_new_file(arguments.output);
  if (!arguments.report.empty()) check_new_file(arguments.report);
  if (arguments.report == arguments.output) {
    throw Error(ErrorCode::invalid_argument,
                "the report and the records cannot be one file; name another");
  }
}

// Records can be many: they go to the file as they are drawn. If that fails the model is still in
// the ledger, and the same command draws from it again, unpaid.
void write_table(const SynthesizeArguments& arguments, const session::SyntheticTable& table,
                 const catalog::CsvFormat& format, std::int64_t rows) {
  NewFile file(arguments.output);
  session::write_records(table, format, rows, [&](std::string_view text) { file.write(text); });
  file.finish();
}

synth::ErrorInterval mean_of(const session::SyntheticTable& table) {
  constexpr double kBeta = 0.05;
  return synth::mean_error(*table.synthesis.errors, table.plan.workload,
                           table.synthesis.model.total(), kBeta);
}

nlohmann::ordered_json interval_json(const synth::ErrorInterval& interval) {
  return {{"value", interval.value}, {"lower", interval.lower}, {"upper", interval.upper}};
}

nlohmann::ordered_json errors_json(const session::SyntheticTable& table) {
  nlohmann::ordered_json errors = nlohmann::ordered_json::array();
  for (const session::MarginalError& one : session::marginal_errors(table)) {
    errors.push_back({{"marginal", session::name_of(one.set, table.plan.domain)},
                      {"weight", one.weight},
                      {"predicted", nullptr}});
    if (one.predicted) errors.back()["predicted"] = *one.predicted;
    if (one.measured) errors.back()["measured"] = interval_json(*one.measured);
  }
  return errors;
}

std::string summary(const SynthesizeArguments& arguments, const session::Session& session,
                    const session::SyntheticTable& table, std::int64_t rows) {
  const session::BudgetReport budget = session.budget();
  if (arguments.format == "json") {
    nlohmann::ordered_json json =
        nlohmann::ordered_json::parse(session::to_json(table.plan, session.policy()));
    json["steps"] = nlohmann::json::array();
    for (const synth::SynthesisStep& step : table.synthesis.steps) {
      json["steps"].push_back({{"marginal", session::name_of(step.set, table.plan.domain)},
                               {"sigma", step.sigma},
                               {"choice_scale", step.choice_scale}});
      if (!step.cell) continue;
      const auto values = session::cell_values(step.set, *step.cell, table.plan.domain);
      const std::string key = step.last_cell ? "from" : "cell";
      for (std::size_t i = 0; i < values.size(); ++i)
        json["steps"].back()[key][table.plan.domain[step.set.members()[i]].name] = values[i];
      if (!step.last_cell) continue;
      json["steps"].back()["up_to"][table.plan.domain[step.set.first()].name] =
          session::cell_values(step.set, *step.last_cell, table.plan.domain)[0];
    }
    if (!table.plan.explicit_universe()) json["errors"] = errors_json(table);
    if (table.synthesis.errors) {
      json["mean_error"] = interval_json(mean_of(table));
    }
    json["estimated_rows"] = table.synthesis.model.total();
    json["rows"] = rows;
    json["output"] = arguments.output;
    if (!arguments.report.empty()) json["report"] = arguments.report;
    json["epsilon_left"] = budget.epsilon_left;
    return json.dump() + "\n";
  }
  std::string text = fmt::format("  records {} ({} rows, {} columns)\n", arguments.output, rows,
                                 table.plan.domain.size());
  if (const std::string note = session::rows_note(table); !arguments.rows && !note.empty())
    text += fmt::format("  note    {}\n", note);
  if (!arguments.report.empty()) text += fmt::format("  report  {}\n", arguments.report);
  if (table.synthesis.errors) {
    const synth::ErrorInterval mean = mean_of(table);
    text += fmt::format("  error   {} on average, between {} and {} with probability 0.95\n",
                        format_rounded(mean.value, 3), format_rounded(mean.lower, 3),
                        format_rounded(mean.upper, 3));
  }
  return text + fmt::format(
                    "  method  {}, {} measurements\n  left    one question of epsilon {} (of {} in "
                    "total)\n  means   {}\n",
                    to_string(table.plan.method), table.synthesis.steps.size(),
                    format_rounded(budget.epsilon_left, 6),
                    format_number(budget.total.epsilon.value()), table.statement);
}

void synthesize(const SynthesizeArguments& arguments) {
  session::Session session(arguments.policy);
  if (arguments.explain) return explain(session, arguments);
  check_files(arguments);
  constexpr double kParts = 1000;
  Progress progress("", static_cast<std::int64_t>(kParts), Printing::at_the_end);
  std::int64_t shown = 0;
  const session::SyntheticTable table =
      session.synthesize(arguments.options, arguments.key, [&](double share) {
        const auto now = static_cast<std::int64_t>(share * kParts);
        if (now > shown) progress.advance(now - shown);
        shown = std::max(shown, now);
      });
  progress.finish();
  const std::int64_t rows = arguments.rows.value_or(session::estimated_rows(table));
  const catalog::Table* source = session.policy().find_table(table.plan.table, true);
  write_table(arguments, table, source->csv, rows);
  if (!arguments.report.empty())
    write_file_durably(arguments.report, session::report_html(table), IfExists::refuse);
  print_text(summary(arguments, session, table, rows));
}

}  // namespace

void add_synthesize(CLI::App& app) {
  auto arguments = std::make_shared<SynthesizeArguments>();
  session::SynthesisOptions& options = arguments->options;
  CLI::App* command = app.add_subcommand(
      "synthesize",
      "make a synthetic table\n\nRecords that look like the data and may be given to everybody. "
      "The "
      "cost is on disk before the data is read. Columns need public bounds or categories. The same "
      "synthesis again draws from the same model, and costs nothing.\n\n"
      "Example: shoal synthesize adult.toml --workload all-3way --epsilon 1 --delta 1e-9 "
      "-o synthetic.csv --report report.html");
  command->add_option("policy", arguments->policy, "the policy file")->required();
  command->add_option("--workload", options.workload,
                      "what shall be right: all-3way, all-2way:income, or a list such as "
                      "age*sex,age*income=5; for mwem and blr also prefix:age, ranges:age");
  command->add_option("--method", options.method, "auto, aim, graded, mst, mwem or blr")
      ->capture_default_str();
  command->add_option("--epsilon", options.epsilon, "how much it may leak");
  command->add_option("--delta", options.delta, "the chance that it leaks more; 0: never");
  command->add_option("--rows", arguments->rows,
                      "how many records; none: about as many as there are");
  command->add_option("-o,--output", arguments->output,
                      "write the records to this file, which must not exist");
  command->add_option("--report", arguments->report,
                      "write a report as HTML to this file, which must not exist");
  command->add_option(
      "--check", options.check_share,
      "the share of the cost, such as 0.05, that measures how far the table is from "
      "the data");
  command->add_option("--columns", options.columns, "the columns to synthesise; none: all")
      ->delimiter(',');
  command->add_option("--bins", options.bins, "into how many bins numbers are cut")
      ->capture_default_str();
  command->add_option("--table", options.table, "which table, if there are several");
  command->add_option("--model-megabytes", options.model_megabytes, "how large a model may grow")
      ->capture_default_str();
  command->add_option("--public-rows", options.public_rows,
                      "for mwem and blr: a public number of rows, to which the table is padded or "
                      "cut");
  command->add_option("--rounds", options.rounds, "of mwem; none: where its bound is least");
  command->add_option("--size", options.size, "rows that blr draws; none: by its bound");
  command->add_option("--key", arguments->key, "a key of your own makes it a new synthesis");
  command->add_option("--format", arguments->format, "how to print")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_flag("--explain", arguments->explain,
                    "show the plan and its noise; reads no data and spends nothing");
  command->callback([arguments] { synthesize(*arguments); });
}

}  // namespace shoal::cli
