#include "mechanism/parameter_json.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/mechanism/registry.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace shoal::mechanism {
namespace {

template <std::size_t... Index>
std::optional<AnyMechanism> read_named(const std::string& key, std::string_view text,
                                       std::index_sequence<Index...>) {
  std::optional<AnyMechanism> found;
  const auto try_one = [&]<class Spec>(Spec spec) {
    if (name(spec) != key) return;
    from_json(text, spec);
    found = spec;
  };
  (try_one(std::variant_alternative_t<Index, AnyMechanism>{}), ...);
  return found;
}

template <std::size_t... Index>
std::vector<std::string> all_names(std::index_sequence<Index...>) {
  return {std::string(name(std::variant_alternative_t<Index, AnyMechanism>{}))...};
}

double width_of(const DiscreteLaplace& spec) { return spec.scale; }
double width_of(const DiscreteGaussian& spec) { return spec.sigma; }
double width_of(const RoundedLaplace& spec) { return spec.scale; }
double width_of(const RoundedGaussian& spec) { return spec.sigma; }

constexpr auto kIndices = std::make_index_sequence<std::variant_size_v<AnyMechanism>>{};

}  // namespace

void validate(const AnyMechanism& spec) {
  std::visit([](const auto& member) { validate(member); }, spec);
}

Int128 sample(const AnyMechanism& spec, random::BitSource& bits) {
  return std::visit([&](const auto& member) { return sample(member, bits); }, spec);
}

double log_pmf(const AnyMechanism& spec, Int128 x) {
  return std::visit([x](const auto& member) { return log_pmf(member, x); }, spec);
}

privacy::Event privacy_event(const AnyMechanism& spec, Sensitivity sensitivity) {
  return std::visit([&](const auto& member) { return privacy_event(member, sensitivity); }, spec);
}

Int128 error_interval(const AnyMechanism& spec, Confidence confidence) {
  return std::visit([&](const auto& member) { return error_interval(member, confidence); }, spec);
}

AuditTarget audit_target(const AnyMechanism& spec, Sensitivity sensitivity) {
  return std::visit([&](const auto& member) { return audit_target(member, sensitivity); }, spec);
}

std::string_view name(const AnyMechanism& spec) {
  return std::visit([](const auto& member) { return name(member); }, spec);
}

std::string describe(const AnyMechanism& spec) {
  return std::visit([](const auto& member) { return describe(member); }, spec);
}

std::string to_json(const AnyMechanism& spec) {
  return std::visit([](const auto& member) { return to_json(member); }, spec);
}

double noise_scale(const AnyMechanism& spec) {
  return std::visit([](const auto& member) { return width_of(member); }, spec);
}

AnyMechanism mechanism_from_json(std::string_view text) {
  const std::string key = mechanism_key(text);
  if (const std::optional<AnyMechanism> found = read_named(key, text, kIndices)) return *found;
  throw Error(ErrorCode::parse_error,
              fmt::format("there is no mechanism \"{}\"; there are {}", printable(key, 100),
                          join_names(all_names(kIndices))));
}

}  // namespace shoal::mechanism
