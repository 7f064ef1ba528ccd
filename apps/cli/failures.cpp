#include "failures.hpp"

#include "streams.hpp"

#include <shoal/base/error.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <new>

namespace shoal::cli {
namespace {

int report(ErrorCode code, const std::string& message) {
  const ErrorDoor& door = error_door(code);
  fmt::print(stderr, "shoal: {}: {}\n", door.name, message);
  return door.exit_status;
}

}  // namespace

int report_failure() {
  try {
    throw;
  } catch (const CLI::ParseError& wrong) {
    return report(ErrorCode::invalid_argument,
                  fmt::format("{}; shoal --help shows how", wrong.what()));
  } catch (const Error& error) {
    return report(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return report(ErrorCode::unavailable,
                  "there is not enough memory; try again with less at once");
  } catch (const std::exception&) {
    return report(ErrorCode::internal, "something unforeseen happened; what was reserved is spent");
  }
}

}  // namespace shoal::cli
