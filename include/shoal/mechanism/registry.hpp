// The registry: one variant of every mechanism there is. Its members are constrained, so a
// mechanism that lacks its privacy, its accuracy or its audit does not compile; tests/contract runs
// over all of them.
//
// The functions below dispatch to the member's own; contracts: mechanism.hpp.
#pragma once

#include <shoal/mechanism/discrete_gaussian.hpp>
#include <shoal/mechanism/discrete_laplace.hpp>
#include <shoal/mechanism/mechanism.hpp>
#include <shoal/mechanism/rounded_gaussian.hpp>
#include <shoal/mechanism/rounded_laplace.hpp>

#include <string>
#include <string_view>
#include <variant>

namespace shoal::mechanism {

template <Mechanism... Specs>
using Registry = std::variant<Specs...>;

using AnyMechanism = Registry<DiscreteLaplace, DiscreteGaussian, RoundedLaplace, RoundedGaussian>;

void validate(const AnyMechanism& spec);
Int128 sample(const AnyMechanism& spec, random::BitSource& bits);
double log_pmf(const AnyMechanism& spec, Int128 x);
privacy::Event privacy_event(const AnyMechanism& spec, Sensitivity sensitivity);
Int128 error_interval(const AnyMechanism& spec, Confidence confidence);
AuditTarget audit_target(const AnyMechanism& spec, Sensitivity sensitivity);
std::string_view name(const AnyMechanism& spec);
std::string describe(const AnyMechanism& spec);
std::string to_json(const AnyMechanism& spec);

// The parameter that says how wide the noise is, in grid steps: scale or sigma.
double noise_scale(const AnyMechanism& spec);

// Throws parse_error for text that is no JSON and for an unknown or malformed mechanism.
AnyMechanism mechanism_from_json(std::string_view text);

}  // namespace shoal::mechanism
