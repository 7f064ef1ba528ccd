#include "mechanism/parameter_json.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/mechanism/selection_registry.hpp>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace shoal::mechanism {
namespace {

template <std::size_t... Index>
std::optional<AnySelection> read_named(const std::string& key, std::string_view text,
                                       std::index_sequence<Index...>) {
  std::optional<AnySelection> found;
  const auto try_one = [&]<class Spec>(Spec spec) {
    if (name(spec) != key) return;
    from_json(text, spec);
    found = spec;
  };
  (try_one(std::variant_alternative_t<Index, AnySelection>{}), ...);
  return found;
}

template <std::size_t... Index>
std::vector<std::string> all_names(std::index_sequence<Index...>) {
  return {std::string(name(std::variant_alternative_t<Index, AnySelection>{}))...};
}

constexpr auto kIndices = std::make_index_sequence<std::variant_size_v<AnySelection>>{};

}  // namespace

void validate(const AnySelection& spec) {
  std::visit([](const auto& member) { validate(member); }, spec);
}

SelectionNoise selection_noise(const AnySelection& spec) {
  return std::visit([](const auto& member) { return selection_noise(member); }, spec);
}

double log_probability(const AnySelection& spec, std::span<const Int128> scores,
                       std::span<const std::size_t> choice) {
  return std::visit([&](const auto& member) { return log_probability(member, scores, choice); },
                    spec);
}

privacy::Event privacy_event(const AnySelection& spec, ScoreSensitivity sensitivity) {
  return std::visit([&](const auto& member) { return privacy_event(member, sensitivity); }, spec);
}

double loss_bound(const AnySelection& spec, CandidateCount candidates, Confidence confidence) {
  return std::visit([&](const auto& member) { return loss_bound(member, candidates, confidence); },
                    spec);
}

AuditScores audit_target(const AnySelection& spec, ScoreSensitivity sensitivity) {
  return std::visit([&](const auto& member) { return audit_target(member, sensitivity); }, spec);
}

std::string_view name(const AnySelection& spec) {
  return std::visit([](const auto& member) { return name(member); }, spec);
}

std::string describe(const AnySelection& spec) {
  return std::visit([](const auto& member) { return describe(member); }, spec);
}

std::string to_json(const AnySelection& spec) {
  return std::visit([](const auto& member) { return to_json(member); }, spec);
}

AnySelection selection_from_json(std::string_view text) {
  const std::string key = mechanism_key(text);
  if (const std::optional<AnySelection> found = read_named(key, text, kIndices)) return *found;
  throw Error(ErrorCode::parse_error,
              fmt::format("there is no selection \"{}\"; there are {}", printable(key, 100),
                          join_names(all_names(kIndices))));
}

std::vector<double> first_choice_pmf(const AnySelection& spec, std::span<const Int128> scores) {
  // The first of several is chosen as if it were the only one.
  const AnySelection single =
      std::holds_alternative<NoisyTopK>(spec)
          ? AnySelection(ExponentialMechanism{std::get<NoisyTopK>(spec).scale})
          : spec;
  std::vector<double> pmf;
  pmf.reserve(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const std::array<std::size_t, 1> choice = {i};
    pmf.push_back(std::exp(log_probability(single, scores, choice)));
  }
  return pmf;
}

}  // namespace shoal::mechanism
