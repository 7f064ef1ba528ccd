#include <shoal/base/error.hpp>

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace shoal {
namespace {

constexpr std::array kDoors = {
    ErrorDoor{ErrorCode::invalid_argument, "invalid_argument", 2, 400, "ValueError"},
    ErrorDoor{ErrorCode::parse_error, "parse_error", 3, 400, "shoal.ParseError"},
    ErrorDoor{ErrorCode::unsupported, "unsupported", 4, 422, "NotImplementedError"},
    ErrorDoor{ErrorCode::refused_by_policy, "refused_by_policy", 5, 403, "shoal.RefusedByPolicy"},
    ErrorDoor{ErrorCode::budget_exceeded, "budget_exceeded", 6, 429, "shoal.BudgetExceeded"},
    ErrorDoor{ErrorCode::not_found, "not_found", 7, 404, "shoal.NotFound"},
    ErrorDoor{ErrorCode::conflict, "conflict", 8, 409, "shoal.Conflict"},
    ErrorDoor{ErrorCode::corrupt, "corrupt", 9, 500, "shoal.Corrupt"},
    ErrorDoor{ErrorCode::io, "io", 10, 500, "OSError"},
    ErrorDoor{ErrorCode::unavailable, "unavailable", 11, 503, "shoal.Unavailable"},
    ErrorDoor{ErrorCode::cancelled, "cancelled", 12, 499, "shoal.Cancelled"},
    ErrorDoor{ErrorCode::internal, "internal", 13, 500, "shoal.InternalError"},
};

}  // namespace

std::span<const ErrorDoor> error_doors() { return kDoors; }

const ErrorDoor& error_door(ErrorCode code) { return kDoors.at(static_cast<std::size_t>(code)); }

Error::Error(ErrorCode code, const std::string& message)
    : std::runtime_error(message), code_(code) {}

namespace detail {

void check_failed(const char* condition, const char* file, int line) {
  const char* slash = std::strrchr(file, '/');
  throw Error(ErrorCode::internal,
              fmt::format("an invariant does not hold: {} ({}:{}); please report this", condition,
                          slash ? slash + 1 : file, line));
}

}  // namespace detail
}  // namespace shoal
