// The commands of `shoal`. Each adds itself to the program; none holds privacy logic.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace shoal::cli {

void add_init(CLI::App& app);
void add_import(CLI::App& app);
void add_reopen(CLI::App& app);
void add_query(CLI::App& app);
void add_explain(CLI::App& app);
void add_shell(CLI::App& app);
void add_budget(CLI::App& app);
void add_train(CLI::App& app);
void add_synthesize(CLI::App& app);
// Tools beside the flow: no policy, no ledger.
void add_predict(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_noise(CLI::App& app);
void add_respond(CLI::App& app);
void add_tally(CLI::App& app);
void add_choose(CLI::App& app);
void add_calibrate(CLI::App& app);
void add_account(CLI::App& app);
void add_plot(CLI::App& app);
void add_generalize(CLI::App& app);
// Adaptive questions: states in files, paid for in a ledger.
void add_watch(CLI::App& app);
void add_holdout(CLI::App& app);
void add_leaderboard(CLI::App& app);

}  // namespace shoal::cli
