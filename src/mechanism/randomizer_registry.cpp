#include "mechanism/parameter_json.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/mechanism/randomizer_registry.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace shoal::mechanism {
namespace {

template <std::size_t... Index>
std::optional<AnyRandomizer> read_named(const std::string& key, std::string_view text,
                                        std::index_sequence<Index...>) {
  std::optional<AnyRandomizer> found;
  const auto try_one = [&]<class Spec>(Spec spec) {
    if (name(spec) != key) return;
    from_json(text, spec);
    found = spec;
  };
  (try_one(std::variant_alternative_t<Index, AnyRandomizer>{}), ...);
  return found;
}

template <std::size_t... Index>
std::vector<std::string> all_names(std::index_sequence<Index...>) {
  return {std::string(name(std::variant_alternative_t<Index, AnyRandomizer>{}))...};
}

constexpr auto kIndices = std::make_index_sequence<std::variant_size_v<AnyRandomizer>>{};

}  // namespace

void validate(const AnyRandomizer& spec) {
  std::visit([](const auto& member) { validate(member); }, spec);
}

std::uint64_t truth_count(const AnyRandomizer& spec) {
  return std::visit([](const auto& member) { return truth_count(member); }, spec);
}

std::uint64_t report_count(const AnyRandomizer& spec) {
  return std::visit([](const auto& member) { return report_count(member); }, spec);
}

Draw sample(const AnyRandomizer& spec, random::BitSource& bits) {
  return std::visit([&](const auto& member) { return sample(member, bits); }, spec);
}

std::uint64_t respond(const AnyRandomizer& spec, std::uint64_t truth, Draw draw) {
  return std::visit([&](const auto& member) { return respond(member, truth, draw); }, spec);
}

double log_pmf(const AnyRandomizer& spec, std::uint64_t truth, std::uint64_t report) {
  return std::visit([&](const auto& member) { return log_pmf(member, truth, report); }, spec);
}

privacy::Event privacy_event(const AnyRandomizer& spec) {
  return std::visit([](const auto& member) { return privacy_event(member); }, spec);
}

TruthPair audit_target(const AnyRandomizer& spec) {
  return std::visit([](const auto& member) { return audit_target(member); }, spec);
}

std::string_view name(const AnyRandomizer& spec) {
  return std::visit([](const auto& member) { return name(member); }, spec);
}

std::string describe(const AnyRandomizer& spec) {
  return std::visit([](const auto& member) { return describe(member); }, spec);
}

std::string to_json(const AnyRandomizer& spec) {
  return std::visit([](const auto& member) { return to_json(member); }, spec);
}

AnyRandomizer randomizer_from_json(std::string_view text) {
  const std::string key = mechanism_key(text);
  if (const std::optional<AnyRandomizer> found = read_named(key, text, kIndices)) return *found;
  throw Error(ErrorCode::parse_error,
              fmt::format("there is no randomizer \"{}\"; there are {}", printable(key, 100),
                          join_names(all_names(kIndices))));
}

}  // namespace shoal::mechanism
