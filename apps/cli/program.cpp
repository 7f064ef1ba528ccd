// shoal: the command line. Answers go to standard output, everything else to standard error; the
// exit status is the error code's (docs/reference/errors.md).
#include "commands.hpp"
#include "failures.hpp"
#include "streams.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

// CLI11 would only say that a command is missing.
void check_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return;
  const auto meant = shoal::nearest_name(argv[1], names);
  throw shoal::Error(
      shoal::ErrorCode::invalid_argument,
      fmt::format("there is no command {}; {}", shoal::printable(argv[1], 40),
                  meant ? fmt::format("did you mean {}?", *meant)
                        : fmt::format("the commands are {}", shoal::join_names(names))));
}

int run(int argc, char** argv) {
  CLI::App app{
      "Shoal answers questions about a table with differential privacy: see the shoal, never the "
      "fish.\n\n"
      "  shoal init people.csv                 describe the data, once\n"
      "  shoal query people.toml \"SELECT COUNT(*) FROM people\" --epsilon 0.1\n"
      "  shoal shell people.toml               the same, one question after the other\n"
      "  shoal train people.toml --target x    learn a model from the data\n"
      "  shoal synthesize people.toml          make a table like the data, for everybody\n"
      "  shoal budget people.toml              what was spent, what is left\n\n"
      "Tools that need neither policy nor ledger: predict, evaluate, noise, respond, tally, "
      "choose, calibrate, account, plot, generalize.\n"
      "Questions that follow from answers: watch, holdout, leaderboard."};
  app.name("shoal");
  app.set_version_flag("--version", "shoal " SHOAL_VERSION);
  app.require_subcommand(1);
  shoal::cli::add_init(app);
  shoal::cli::add_import(app);
  shoal::cli::add_reopen(app);
  shoal::cli::add_query(app);
  shoal::cli::add_explain(app);
  shoal::cli::add_shell(app);
  shoal::cli::add_budget(app);
  shoal::cli::add_train(app);
  shoal::cli::add_synthesize(app);
  shoal::cli::add_predict(app);
  shoal::cli::add_evaluate(app);
  shoal::cli::add_noise(app);
  shoal::cli::add_respond(app);
  shoal::cli::add_tally(app);
  shoal::cli::add_choose(app);
  shoal::cli::add_calibrate(app);
  shoal::cli::add_account(app);
  shoal::cli::add_plot(app);
  shoal::cli::add_generalize(app);
  shoal::cli::add_watch(app);
  shoal::cli::add_holdout(app);
  shoal::cli::add_leaderboard(app);
  try {
    check_command(app, argc, argv);
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::Success& done) {
    return app.exit(done);
  } catch (const shoal::cli::EndWith& end) {
    return end.status;
  } catch (const shoal::cli::ReaderGone&) {
    return shoal::cli::kReaderGoneStatus;
  } catch (...) {
    return shoal::cli::report_failure();
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (...) {
    // Only reporting an error can have failed: standard error is closed.
    return shoal::error_door(shoal::ErrorCode::internal).exit_status;
  }
}
