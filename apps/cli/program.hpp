// The program as a function, for main() and for tests that run it in their own process.
#pragma once

namespace CLI {
class App;
}

namespace shoal::cli {

// Every command of the program.
void add_commands(CLI::App& app);

// Runs the command line and returns the exit status. Throws only if standard error is closed.
int run_program(int argc, char** argv);

}  // namespace shoal::cli
