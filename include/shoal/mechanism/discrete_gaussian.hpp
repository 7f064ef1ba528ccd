// Discrete Gaussian noise: P(x) proportional to exp(-x^2 / (2 sigma^2)) on the integers. Proof
// note: src/mechanism/discrete_gaussian.proof.md. Contracts of the functions: mechanism.hpp.
#pragma once

#include <shoal/mechanism/mechanism.hpp>

namespace shoal::mechanism {

// The double stands for its exact value, in grid steps, from 2^-10 to 2^50.
struct DiscreteGaussian {
  double sigma = 0;  // to be set: 0 is refused
  bool operator==(const DiscreteGaussian&) const = default;
};

void validate(const DiscreteGaussian& spec);
Int128 sample(const DiscreteGaussian& spec, random::BitSource& bits);
double log_pmf(const DiscreteGaussian& spec, Int128 x);
privacy::Event privacy_event(const DiscreteGaussian& spec, Sensitivity sensitivity);
Int128 error_interval(const DiscreteGaussian& spec, Confidence confidence);
AuditTarget audit_target(const DiscreteGaussian& spec, Sensitivity sensitivity);
std::string_view name(const DiscreteGaussian& spec);
std::string describe(const DiscreteGaussian& spec);
std::string to_json(const DiscreteGaussian& spec);
void from_json(std::string_view text, DiscreteGaussian& spec);

static_assert(Mechanism<DiscreteGaussian>);

}  // namespace shoal::mechanism
