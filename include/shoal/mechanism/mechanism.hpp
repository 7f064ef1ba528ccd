// What every mechanism that adds integer noise must offer, as a concept: a mechanism is a small
// regular struct of noise parameters, and these free functions beside it are its whole behaviour.
//
// The noise is drawn by a function that never sees the value it will be added to, so neither the
// bits it uses nor its time can depend on the data. Epsilon is derived from the noise and the
// sensitivity, never stored beside them.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/privacy/event.hpp>
#include <shoal/random/bit_source.hpp>

#include <concepts>
#include <string>
#include <string_view>

namespace shoal::mechanism {

// The pair of neighbours that is easiest to tell apart: values this many grid steps from each
// other. Both orders have to be looked at.
struct AuditTarget {
  Int128 shift;
  bool operator==(const AuditTarget&) const = default;
};

// For a spec s that validate accepts (every other function throws invalid_argument for one that it
// does not):
//   validate(s)                 throws invalid_argument if a parameter is out of range
//   sample(s, bits)             exact noise; throws unavailable if there are no bits
//   log_pmf(s, x)               natural logarithm of P(noise = x), an approximation: for audits and
//   tests privacy_event(s, sens)      what adding this noise to a statistic of that sensitivity
//   does to the data error_interval(s, conf)     w with P(|noise| <= w) >= conf: certified, and as
//   small as can be shown audit_target(s, sens)       the worst neighbouring pair name(s),
//   describe(s)        its name in JSON, one line for people to_json(s), from_json(t, s) {"<name>":
//   {"<parameter>": number}}; reading throws parse_error
template <class Spec>
concept Mechanism = std::regular<Spec> &&
    requires(const Spec spec, Spec& target, random::BitSource& bits, Int128 x,
             Sensitivity sensitivity, Confidence confidence, std::string_view text) {
  { validate(spec) } -> std::same_as<void>;
  { sample(spec, bits) } -> std::same_as<Int128>;
  { log_pmf(spec, x) } -> std::same_as<double>;
  { privacy_event(spec, sensitivity) } -> std::same_as<privacy::Event>;
  { error_interval(spec, confidence) } -> std::same_as<Int128>;
  { audit_target(spec, sensitivity) } -> std::same_as<AuditTarget>;
  { name(spec) } -> std::same_as<std::string_view>;
  { describe(spec) } -> std::same_as<std::string>;
  { to_json(spec) } -> std::same_as<std::string>;
  { from_json(text, target) } -> std::same_as<void>;
};

}  // namespace shoal::mechanism
