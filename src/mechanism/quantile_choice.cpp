// The spec of a chosen quantile: ranges, JSON, price and accuracy.
#include "mechanism/noise_spec.hpp"
#include "mechanism/noise_tails.hpp"
#include "mechanism/parameter_json.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/mechanism/quantile_choice.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace shoal::mechanism {
namespace {

constexpr std::string_view kName = "quantile_choice";

void check_leaves(std::int64_t leaves) {
  if (leaves >= 1 && leaves <= kMaxLeaves) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} steps to choose from; give 1 to {}", leaves, kMaxLeaves));
}

// The exact numerator and denominator of epsilon * scale.
struct RangeRatio {
  Int128 numerator;
  std::int64_t denominator;
};

RangeRatio bounded_range(const QuantileTarget& target, const GroupContribution& contribution,
                         Neighbors neighbors) {
  validate(target);
  validate(contribution);
  const Int128 twice = 2 * static_cast<Int128>(contribution.values_per_group);
  const auto* fraction = std::get_if<Fraction>(&target);
  const bool exchanged = neighbors == Neighbors::replace_one && contribution.one_group;
  if (!fraction || exchanged) return {twice, 1};
  const std::int64_t other = fraction->denominator - fraction->numerator;
  return {twice * std::max(fraction->numerator, other), fraction->denominator};
}

// Who leaves and who comes may be in different groups: then two groups change, each as if a unit
// came or went, or one as if a unit was exchanged. Either way the ranges add up to at most this.
double group_epsilon(const QuantileTarget& target, double scale,
                     const GroupContribution& contribution, Neighbors neighbors) {
  const double once = choice_epsilon(target, scale, contribution, neighbors);
  const bool apart = neighbors == Neighbors::replace_one && !contribution.one_group;
  return apart ? 2 * once : once;
}

nlohmann::json parameters_of(std::string_view text) {
  const std::string key = mechanism_key(text);
  if (key != kName) {
    throw Error(ErrorCode::parse_error, fmt::format("the mechanism is \"{}\"; expected \"{}\"",
                                                    printable(key, 100), kName));
  }
  nlohmann::json found = nlohmann::json::parse(text).begin().value();
  if (!found.is_object() || found.size() != 3 || !found.contains("target") ||
      !found["target"].is_string() || !found.contains("scale") || !found["scale"].is_number() ||
      !found.contains("bound_scale") || !found["bound_scale"].is_number()) {
    throw Error(ErrorCode::parse_error,
                fmt::format("/{} must be an object with a text, \"target\", and two numbers, "
                            "\"scale\" and \"bound_scale\"",
                            kName));
  }
  return found;
}

}  // namespace

void validate(const QuantileChoice& choice) {
  validate(choice.target);
  random::check_scale(choice.scale, "scale");
  if (choice.bound_scale != 0) random::check_scale(choice.bound_scale, "bound_scale");
}

std::string_view name(const QuantileChoice&) { return kName; }

std::string describe(const QuantileChoice& choice) {
  std::string text = fmt::format("quantile {} by the exponential mechanism, scale {} values",
                                 to_string(choice.target), format_number(choice.scale));
  if (choice.bound_scale == 0) return text;
  return fmt::format("{}; ends of its interval likewise, scale {} values", text,
                     format_number(choice.bound_scale));
}

std::string to_json(const QuantileChoice& choice) {
  validate(choice);
  return fmt::format(R"({{"{}": {{"target": "{}", "scale": {}, "bound_scale": {}}}}})", kName,
                     to_string(choice.target), format_number(choice.scale),
                     format_number(choice.bound_scale));
}

void from_json(std::string_view text, QuantileChoice& choice) {
  const nlohmann::json found = parameters_of(text);
  const QuantileChoice read{parse_target(found["target"].get<std::string>()),
                            found["scale"].get<double>(), found["bound_scale"].get<double>()};
  validate_read(read);
  choice = read;
}

double choice_epsilon(const QuantileTarget& target, double scale,
                      const GroupContribution& contribution, Neighbors neighbors) {
  const RangeRatio ratio = bounded_range(target, contribution, neighbors);
  random::check_scale(scale, "scale");
  return numeric::divide_up(double_up(ratio.numerator),
                            numeric::multiply_down(static_cast<double>(ratio.denominator), scale));
}

double choice_scale(const QuantileTarget& target, Epsilon epsilon,
                    const GroupContribution& contribution, Neighbors neighbors) {
  const RangeRatio ratio = bounded_range(target, contribution, neighbors);
  double scale = numeric::divide_up(
      double_up(ratio.numerator),
      numeric::multiply_down(static_cast<double>(ratio.denominator), epsilon.value()));
  random::check_scale(scale, "the scale for this epsilon");
  // Roundings of the product may add a step.
  while (choice_epsilon(target, scale, contribution, neighbors) > epsilon.value()) {
    scale = numeric::step_up(scale);
  }
  return scale;
}

privacy::Event privacy_event(const QuantileChoice& choice, const GroupContribution& contribution,
                             Neighbors neighbors) {
  validate(choice);
  using privacy::Event;
  const auto event_of = [&](double scale) -> Event {
    return privacy::event::Exponential{
        group_epsilon(choice.target, scale, contribution, neighbors)};
  };
  Event group = event_of(choice.scale);
  if (choice.bound_scale != 0) {
    const Event end = event_of(choice.bound_scale);
    const bool both = std::holds_alternative<Fraction>(choice.target);
    const Event ends = both ? Event(privacy::event::Repeat{2, end}) : end;
    group = privacy::event::Compose{{group, ends}};
  }
  if (contribution.max_groups == 1) return group;
  return privacy::event::Repeat{contribution.max_groups, group};
}

double rank_error(double scale, std::int64_t leaves, Confidence confidence) {
  random::check_scale(scale, "scale");
  check_leaves(leaves);
  const double odds_up = numeric::divide_up(confidence.value(), alpha_down(confidence));
  const double ratio_up = numeric::multiply_up(static_cast<double>(leaves - 1), odds_up);
  if (ratio_up <= 1) return 0;
  return numeric::multiply_up(scale, numeric::log_up(ratio_up));
}

double expected_rank_error(double scale, std::int64_t leaves) {
  random::check_scale(scale, "scale");
  check_leaves(leaves);
  return numeric::multiply_up(scale,
                              numeric::add_up(1, numeric::log_up(static_cast<double>(leaves))));
}

std::int64_t extreme_rank(double scale, std::int64_t leaves, Confidence confidence) {
  const double error = rank_error(scale, leaves, confidence);
  if (error > 0x1p40) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("scale is {}; for a minimum or maximum it must be smaller, so that the "
                            "rank stays below 2^40",
                            format_number(scale)));
  }
  return std::max<std::int64_t>(static_cast<std::int64_t>(std::ceil(error)), 1);
}

}  // namespace shoal::mechanism
