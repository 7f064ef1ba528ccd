#include <shoal/base/error.hpp>
#include <shoal/base/quantity.hpp>

#include <fmt/format.h>

#include <cmath>

namespace shoal {
namespace {

[[noreturn]] void refuse(const char* what, double value, const char* bound) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} is {}; it must be {}", what, value, bound));
}

}  // namespace

Epsilon::Epsilon(double value) : value_(value) {
  if (!(value >= 0 && value <= kMaxEpsilon)) {
    refuse("epsilon", value, "a number from 0 to 1000 (0.1 to 1 is common for one question)");
  }
}

Delta::Delta(double value) : value_(value) {
  if (!(value >= 0 && value < 1)) {
    refuse("delta", value, "at least 0 and below 1 (take it well below 1 / number of people)");
  }
}

Rho::Rho(double value) : value_(value) {
  if (!(value >= 0 && std::isfinite(value))) refuse("rho", value, "finite and not negative");
}

Confidence::Confidence(double value) : value_(value) {
  if (!(value > 0 && value < 1)) {
    refuse("confidence", value, "above 0 and below 1, such as 0.95");
  }
}

Sensitivity::Sensitivity(long long steps) : steps_(steps) {
  if (steps <= 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("sensitivity is {} grid steps; it must be at least 1", steps));
  }
}

}  // namespace shoal
