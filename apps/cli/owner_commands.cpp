// shoal init and shoal import: the owner's commands. What they print about rows is for the owner
// alone.
#include "commands.hpp"
#include "progress.hpp"

#include <shoal/base/error.hpp>
#include <shoal/catalog/draft.hpp>
#include <shoal/session/import.hpp>
#include <shoal/session/owner.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

namespace shoal::cli {
namespace {

// How finely a bar tells how much is done.
constexpr int kParts = 1000;

void print_report(const std::string& table, const engine::RowReport& report) {
  fmt::print("{}: {} row{}\n", table, report.rows, report.rows == 1 ? "" : "s");
  for (const catalog::RowProblem& problem : report.problems) {
    fmt::print("  in {} row{}, {} {}\n", problem.rows, problem.rows == 1 ? "" : "s",
               problem.column.empty() ? "the line" : problem.column, problem.what);
  }
}

// A bar for each table in turn.
class SettlingBar {
 public:
  void tell(const std::string& table, double share) {
    if (table != table_ || !bar_) {
      bar_ = std::make_unique<Progress>("settling " + table, kParts, Printing::at_the_end);
      table_ = table;
      shown_ = 0;
    }
    const auto done = static_cast<std::int64_t>(share * kParts);
    bar_->advance(done - shown_);
    shown_ = done;
  }

 private:
  std::string table_;
  std::unique_ptr<Progress> bar_;
  std::int64_t shown_ = 0;
};

struct InitArguments {
  session::InitRequest request;
  std::vector<std::string> files, public_files;
  std::string output, ledger, header, neighbors = "add_remove";
  bool skip_check = false;
};

// The names between commas.
std::vector<std::string> names_of(const std::string& list) {
  std::vector<std::string> names;
  std::size_t at = 0;
  while (!list.empty() && at <= list.size()) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    names.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

session::InitResult with_bar(session::InitRequest& request) {
  SettlingBar bar;
  request.progress = [&](const std::string& table, double share) { bar.tell(table, share); };
  return session::init_policy(request);
}

void run_init(const InitArguments& arguments) {
  session::InitRequest request = arguments.request;
  for (const std::string& file : arguments.files) request.files.emplace_back(file);
  for (const std::string& file : arguments.public_files) request.public_files.emplace_back(file);
  request.output = arguments.output;
  request.ledger = arguments.ledger;
  request.neighbors = parse_neighbors(arguments.neighbors);
  request.check = !arguments.skip_check;
  request.header = names_of(arguments.header);
  const session::InitResult result = with_bar(request);
  for (const auto& [table, report] : result.tables) print_report(table, report);
  fmt::print("wrote {}\n", result.policy.string());
  if (result.shared_budget) {
    fmt::print(
        "the data has a budget already, {}; the policy shares it (--new-budget makes another)\n",
        result.lineage);
  }
  for (const std::string& hint : result.hints) fmt::print("- {}\n", hint);
}

struct ImportArguments {
  std::string file, policy, table, output;
  bool update_policy = false;
};

session::ImportRequest request_of(const ImportArguments& arguments) {
  session::ImportRequest request;
  const bool data_named = !arguments.policy.empty();
  const std::string extension = std::filesystem::path(arguments.file).extension().string();
  if (!data_named && (extension == ".csv" || extension == ".parquet")) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is data; add --policy and its policy file", arguments.file));
  }
  request.policy = data_named ? arguments.policy : arguments.file;
  if (data_named) request.data = arguments.file;
  request.table = arguments.table;
  request.output = arguments.output;
  request.update_policy = arguments.update_policy;
  return request;
}

// Settles what is not settled, and says of each table what its rows are like.
void settle(const std::filesystem::path& policy) {
  std::vector<session::SettledTable> settled;
  {
    SettlingBar bar;
    settled = session::settle_data(
        policy, [&](const std::string& table, double share) { bar.tell(table, share); });
  }
  for (const session::SettledTable& one : settled) {
    if (one.report.when == engine::Settled::now) {
      print_report(one.table, one.report.rows);
    } else {
      fmt::print("{}: settled already; its file has not changed since\n", one.table);
    }
  }
}

void run_import(const ImportArguments& arguments) {
  if (arguments.policy.empty() && arguments.table.empty() && arguments.output.empty() &&
      !arguments.update_policy) {
    return settle(request_of(arguments).policy);
  }
  Progress bar("", kParts, Printing::at_the_end);
  std::int64_t shown = 0;
  const session::ImportRequest request = request_of(arguments);
  const session::ImportResult result = session::import_table(request, [&](double share) {
    const auto done = static_cast<std::int64_t>(share * kParts);
    bar.advance(done - shown);
    shown = done;
  });
  bar.finish();
  print_report(result.output.string(), result.report);
  fmt::print("wrote {}\n", result.output.string());
  if (arguments.update_policy) {
    fmt::print("{} names it now\n", request.policy.string());
  } else {
    fmt::print(
        "to query it, set in the policy: source = {}, format = \"parquet\"{}; --update-policy does "
        "it\n",
        catalog::toml_text(result.source), result.clustered ? ", clustered = true" : "");
  }
}

}  // namespace

void add_init(CLI::App& app) {
  auto arguments = std::make_shared<InitArguments>();
  CLI::App* command =
      app.add_subcommand("init",
                         "write a policy for data files\n\nReads the files' schema and writes a "
                         "policy (TOML) for you to fill in: "
                         "what is protected, public bounds, the total budget. Values that do not "
                         "fit are reported to you, here, "
                         "once.\n\nExample: shoal init people.csv --unit person_id --epsilon 1");
  command
      ->add_option("files", arguments->files,
                   "CSV or Parquet files; each becomes a table of its name")
      ->required();
  command->add_option("--output,-o", arguments->output,
                      "the policy file (default: beside the first file, .toml)");
  command->add_option("--unit", arguments->request.person_column,
                      "column that identifies the person (default: a row is protected)");
  command
      ->add_option("--public", arguments->public_files,
                   "a file whose rows are no secret, for joins; it gets no budget. May be given "
                   "several times")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option(
      "--header", arguments->header,
      "names of the columns, with commas between them, of CSV files whose first line "
      "is a row");
  command->add_option("--max-rows-per-person", arguments->request.max_rows_per_person,
                      "how many rows of a person count");
  command->add_option("--neighbors", arguments->neighbors, "add_remove or replace_one")
      ->capture_default_str();
  command->add_option("--epsilon", arguments->request.epsilon, "the total budget")
      ->capture_default_str();
  command->add_option("--delta", arguments->request.delta, "the total budget's delta")
      ->capture_default_str();
  command->add_option(
      "--ledger", arguments->ledger,
      "the ledger: a file (default: beside the policy, .ledger), or postgresql:SCHEMA");
  command->add_flag("--new-budget", arguments->request.new_budget,
                    "give data that has a budget another one: what leaks then adds up");
  command->add_flag("--replace", arguments->request.replace, "overwrite an existing policy file");
  command->add_flag("--no-check", arguments->skip_check,
                    "do not read the rows now; those of Parquet then need shoal import");
  command->callback([arguments] { run_init(*arguments); });
}

void add_import(CLI::App& app) {
  auto arguments = std::make_shared<ImportArguments>();
  CLI::App* command = app.add_subcommand(
      "import",
      "read changed data anew, or write a table as Parquet\n\nWith a policy alone: settles the "
      "rows "
      "of every file that has changed or was never settled, so that questions can be asked again. "
      "The budget goes on.\n\nWith --output or --update-policy, or a data file: writes a table "
      "under a name of its own, in the policy's types, ordered by person, and ties the new file to "
      "the same budget.\n\nExample: shoal import people.toml");
  command
      ->add_option("file", arguments->file,
                   "the data file of a table of the policy; or the policy file, without --policy")
      ->required();
  command->add_option("--policy", arguments->policy, "the policy file");
  command->add_option("--table", arguments->table, "which table, if there are several");
  command->add_option("--output,-o", arguments->output,
                      "the Parquet file to write (default: beside the data, .parquet)");
  command->add_flag("--update-policy", arguments->update_policy,
                    "make the policy name the new file, so that questions read it");
  command->callback([arguments] { run_import(*arguments); });
}

}  // namespace shoal::cli
