// shoal: the command line. Answers go to standard output, everything else to standard error; the
// exit status is the error code's (docs/reference/errors.md).
#include "program.hpp"

#include <shoal/base/error.hpp>

int main(int argc, char** argv) {
  try {
    return shoal::cli::run_program(argc, argv);
  } catch (...) {
    // Only reporting an error can have failed: standard error is closed.
    return shoal::error_door(shoal::ErrorCode::internal).exit_status;
  }
}
