#include "sql/guard.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/sql/pattern.hpp>

#include <fmt/format.h>

namespace shoal::sql {

void check_pattern(std::string_view pattern) {
  if (const auto fault = pattern_fault(pattern)) {
    throw Error(ErrorCode::unsupported,
                fmt::format("the pattern {} is not supported: {}", printable(pattern, 80), *fault));
  }
}

}  // namespace shoal::sql
