#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/mechanism/quantile.hpp>
#include <shoal/numeric/units.hpp>

#include <fmt/format.h>

#include <charconv>
#include <numeric>
#include <optional>

namespace shoal::mechanism {
namespace {

constexpr std::int64_t kEnd = std::int64_t{1} << 62;
constexpr std::int64_t kMaxRank = std::int64_t{1} << 40;
constexpr std::int64_t kMaxContribution = std::int64_t{1} << 31;
constexpr std::string_view kMinimum = "minimum ";
constexpr std::string_view kMaximum = "maximum ";

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

std::optional<std::int64_t> read_whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<QuantileTarget> read_target(std::string_view text) {
  for (const auto& [word, end] :
       {std::pair(kMinimum, Extreme::minimum), std::pair(kMaximum, Extreme::maximum)}) {
    if (!text.starts_with(word)) continue;
    const std::optional<std::int64_t> rank = read_whole(text.substr(word.size()));
    if (!rank) return std::nullopt;
    return ExtremeRank{end, *rank};
  }
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::optional<std::int64_t> numerator = read_whole(text.substr(0, slash));
  const std::optional<std::int64_t> denominator = read_whole(text.substr(slash + 1));
  if (!numerator || !denominator) return std::nullopt;
  return Fraction{*numerator, *denominator};
}

}  // namespace

std::int64_t leaf_count(const StepRange& range) {
  if (range.lower <= -kEnd || range.upper >= kEnd || range.upper < range.lower ||
      range.upper - range.lower >= kMaxLeaves) {
    refuse(
        fmt::format("a range of steps from {} to {}; quantiles need 1 to {} steps: use a coarser "
                    "grid or narrower bounds",
                    range.lower, range.upper, kMaxLeaves));
  }
  return range.upper - range.lower + 1;
}

std::int64_t checked_total(std::span<const LeafCount> leaves, const StepRange& range) {
  leaf_count(range);
  std::int64_t total = 0;
  std::int64_t last = range.lower - 1;
  for (const LeafCount& leaf : leaves) {
    if (leaf.step <= last || leaf.step > range.upper || leaf.count <= 0 ||
        leaf.count >= kEnd - total) {
      refuse(
          "a histogram is malformed: its steps must increase and lie in the range, its counts be "
          "positive and sum to less than 2^62");
    }
    last = leaf.step;
    total += leaf.count;
  }
  return total;
}

Fraction fraction_of(double decimal) {
  constexpr int kDecimals = 6;
  if (decimal > 0 && decimal < 1 &&
      numeric::decimal_units_up(decimal, kDecimals) ==
          numeric::decimal_units_down(decimal, kDecimals)) {
    const std::int64_t units = numeric::decimal_units_up(decimal, kDecimals);
    const std::int64_t common = std::gcd(units, kMaxDenominator);
    return {units / common, kMaxDenominator / common};
  }
  refuse(
      fmt::format("a quantile of {}; give a number between 0 and 1, both excluded, of at most six "
                  "decimals",
                  format_number(decimal)));
}

void validate(const QuantileTarget& target) {
  if (const auto* fraction = std::get_if<Fraction>(&target)) {
    if (fraction->denominator > kMaxDenominator || fraction->numerator < 1 ||
        fraction->numerator >= fraction->denominator) {
      refuse(
          fmt::format("a quantile of {}/{}; it must lie strictly between 0 and 1, with a "
                      "denominator of at most {}",
                      fraction->numerator, fraction->denominator, kMaxDenominator));
    }
    return;
  }
  const std::int64_t rank = std::get<ExtremeRank>(target).rank;
  if (rank < 1 || rank > kMaxRank) {
    refuse(fmt::format("a rank of {} for a minimum or maximum; it must be from 1 to {}", rank,
                       kMaxRank));
  }
}

std::string to_string(const QuantileTarget& target) {
  if (const auto* fraction = std::get_if<Fraction>(&target)) {
    return fmt::format("{}/{}", fraction->numerator, fraction->denominator);
  }
  const auto& extreme = std::get<ExtremeRank>(target);
  return fmt::format("{}{}", extreme.end == Extreme::minimum ? kMinimum : kMaximum, extreme.rank);
}

QuantileTarget parse_target(std::string_view text) {
  const std::optional<QuantileTarget> target = read_target(text);
  if (!target) {
    throw Error(ErrorCode::parse_error,
                fmt::format("a quantile of \"{}\"; write 1/2, minimum 30 or maximum 30",
                            printable(text, 40)));
  }
  return *target;
}

void validate(const GroupContribution& contribution) {
  for (const std::int64_t count : {contribution.max_groups, contribution.values_per_group}) {
    if (count < 1 || count > kMaxContribution) {
      refuse(fmt::format("a unit adds {} values to each of {} groups; both must be from 1 to {}",
                         contribution.values_per_group, contribution.max_groups, kMaxContribution));
    }
  }
  if (contribution.one_group && contribution.max_groups != 1) {
    refuse(fmt::format("there is one group, and a unit is in {}; give max_groups 1",
                       contribution.max_groups));
  }
}

}  // namespace shoal::mechanism
