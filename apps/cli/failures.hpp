// How an error reaches people: one line on standard error, and the exit status of its code.
#pragma once

#include <string>

namespace shoal::cli {

// Thrown by a command whose errors are reported already: the program ends with this status.
struct EndWith {
  int status = 0;
};

// Reports the exception that is being handled and returns its exit status. Call it in a catch
// block; what is not an error (EndWith, ReaderGone) is thrown on.
int report_failure();

}  // namespace shoal::cli
