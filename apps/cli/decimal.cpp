#include "decimal.hpp"

#include <shoal/base/error.hpp>

#include <algorithm>

namespace shoal::cli {
namespace {

constexpr std::size_t kMostWholeDigits = 18;

bool all_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Int128 Decimal::steps(int places) const {
  SHOAL_CHECK(decimals <= places && places <= kMostDecimals);
  Int128 value = digits;
  for (int i = decimals; i < places; ++i) value *= 10;
  return value;
}

DecimalOrFault read_decimal(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string_view whole = text.substr(0, point);
  std::string_view fraction = text.substr(std::min(point + 1, text.size()));
  if (whole.empty() && fraction.empty()) return {{}, DecimalFault::malformed};
  if (!all_digits(whole) || !all_digits(fraction)) return {{}, DecimalFault::malformed};
  whole.remove_prefix(std::min(whole.find_first_not_of('0'), whole.size()));
  fraction = fraction.substr(0, fraction.find_last_not_of('0') + 1);
  if (fraction.size() > kMostDecimals) return {{}, DecimalFault::too_many_decimals};
  if (whole.size() > kMostWholeDigits) return {{}, DecimalFault::too_large};
  // At most 27 digits: far below 2^96.
  Decimal decimal{0, static_cast<int>(fraction.size())};
  for (const char c : whole) decimal.digits = decimal.digits * 10 + (c - '0');
  for (const char c : fraction) decimal.digits = decimal.digits * 10 + (c - '0');
  if (negative) decimal.digits = -decimal.digits;
  return {decimal, {}};
}

Int128 steps_of_any(std::string_view text, int places) {
  SHOAL_CHECK(places <= kMostDecimals);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string_view whole = text.substr(0, point);
  const std::string_view fraction = text.substr(std::min(point + 1, text.size()));
  if (whole.empty() && fraction.empty()) return 0;
  if (!all_digits(whole) || !all_digits(fraction)) return 0;
  whole.remove_prefix(std::min(whole.find_first_not_of('0'), whole.size()));
  const bool too_large = whole.size() > kMostWholeDigits;
  Int128 steps = 0;
  for (std::size_t i = 0; i < kMostWholeDigits && (too_large || i < whole.size()); ++i)
    steps = steps * 10 + (too_large ? 9 : whole[i] - '0');
  const auto decimals = static_cast<std::size_t>(places);
  bool below_the_grid = false;  // digits that the grid does not have
  for (std::size_t i = 0; i < std::max(decimals, fraction.size()); ++i) {
    const int digit = too_large ? 9 : i < fraction.size() ? fraction[i] - '0' : 0;
    if (i < decimals) {
      steps = steps * 10 + digit;
    } else {
      below_the_grid = below_the_grid || (!too_large && digit != 0);
    }
  }
  if (!negative) return steps;
  return -steps - (below_the_grid ? 1 : 0);
}

}  // namespace shoal::cli
