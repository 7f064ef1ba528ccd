// Puts the commands together, and turns every way in which one can end into an exit status.
#include "program.hpp"

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

namespace shoal::cli {
namespace {

// CLI11 would only say that a command is missing.
void check_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), argv[1]) != names.end()) return;
  const auto meant = nearest_name(argv[1], names);
  throw Error(ErrorCode::invalid_argument,
              fmt::format("there is no command {}; {}", printable(argv[1], 40),
                          meant ? fmt::format("did you mean {}?", *meant)
                                : fmt::format("the commands are {}", join_names(names))));
}

}  // namespace

void add_commands(CLI::App& app) {
  add_init(app);
  add_import(app);
  add_reopen(app);
  add_query(app);
  add_explain(app);
  add_shell(app);
  add_budget(app);
  add_train(app);
  add_synthesize(app);
  add_predict(app);
  add_evaluate(app);
  add_noise(app);
  add_respond(app);
  add_tally(app);
  add_choose(app);
  add_calibrate(app);
  add_account(app);
  add_plot(app);
  add_generalize(app);
  add_watch(app);
  add_holdout(app);
  add_leaderboard(app);
}

int run_program(int argc, char** argv) {
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
  add_commands(app);
  try {
    check_command(app, argc, argv);
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::Success& done) {
    return app.exit(done);
  } catch (const EndWith& end) {
    return end.status;
  } catch (const ReaderGone&) {
    return kReaderGoneStatus;
  } catch (...) {
    return report_failure();
  }
}

}  // namespace shoal::cli
