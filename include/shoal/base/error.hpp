// Errors: one exception type, few stable codes, one table that says what each code means at every
// door.
//
// Messages are lower case, name the value and the bound, and say what to do. No message carries
// private data: what went wrong inside the data goes to the owner's log (see owner_log.hpp).
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace shoal {

enum class ErrorCode {
  invalid_argument,
  parse_error,
  unsupported,
  refused_by_policy,
  budget_exceeded,
  not_found,
  conflict,
  corrupt,
  io,
  unavailable,
  cancelled,
  internal,
};

// What a code is called and what it becomes at each door. Codes never disappear or change meaning.
struct ErrorDoor {
  ErrorCode code;
  std::string_view name;
  int exit_status;
  int http_status;
  std::string_view python_exception;
};

// The whole table, one row a code, in the order of the enumeration.
std::span<const ErrorDoor> error_doors();
const ErrorDoor& error_door(ErrorCode code);

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message);
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

namespace detail {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}

}  // namespace shoal

// An invariant that must hold in release builds too. It fails closed: the spend is kept, the answer
// is not given. The text names the place, never a value.
#define SHOAL_CHECK(condition) \
  ((condition) ? void(0) : ::shoal::detail::check_failed(#condition, __FILE__, __LINE__))
