// Discrete Laplace noise: P(x) proportional to exp(-|x| / scale) on the integers. Proof note:
// src/mechanism/discrete_laplace.proof.md. Contracts of the functions: mechanism.hpp.
#pragma once

#include <shoal/mechanism/mechanism.hpp>

namespace shoal::mechanism {

// The double stands for its exact value, in grid steps, from 2^-10 to 2^50.
struct DiscreteLaplace {
  double scale = 0;  // to be set: 0 is refused
  bool operator==(const DiscreteLaplace&) const = default;
};

void validate(const DiscreteLaplace& spec);
Int128 sample(const DiscreteLaplace& spec, random::BitSource& bits);
double log_pmf(const DiscreteLaplace& spec, Int128 x);
privacy::Event privacy_event(const DiscreteLaplace& spec, Sensitivity sensitivity);
Int128 error_interval(const DiscreteLaplace& spec, Confidence confidence);
AuditTarget audit_target(const DiscreteLaplace& spec, Sensitivity sensitivity);
std::string_view name(const DiscreteLaplace& spec);
std::string describe(const DiscreteLaplace& spec);
std::string to_json(const DiscreteLaplace& spec);
void from_json(std::string_view text, DiscreteLaplace& spec);

static_assert(Mechanism<DiscreteLaplace>);

}  // namespace shoal::mechanism
