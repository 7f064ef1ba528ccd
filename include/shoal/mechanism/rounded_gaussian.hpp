// Gaussian noise rounded to the grid: the nearest integer of an ideal draw from N(0, sigma^2).
// Added to an integer it is the ideal mechanism and then a rounding, so it has the ideal one's
// privacy, in any dimension. Proof note: src/mechanism/rounded_gaussian.proof.md. Contracts of the
// functions: mechanism.hpp.
#pragma once

#include <shoal/mechanism/mechanism.hpp>

namespace shoal::mechanism {

// The double stands for its exact value, in grid steps, from 2^-10 to 2^50.
struct RoundedGaussian {
  double sigma = 0;  // to be set: 0 is refused
  bool operator==(const RoundedGaussian&) const = default;
};

void validate(const RoundedGaussian& spec);
Int128 sample(const RoundedGaussian& spec, random::BitSource& bits);
double log_pmf(const RoundedGaussian& spec, Int128 x);
privacy::Event privacy_event(const RoundedGaussian& spec, Sensitivity sensitivity);
Int128 error_interval(const RoundedGaussian& spec, Confidence confidence);
AuditTarget audit_target(const RoundedGaussian& spec, Sensitivity sensitivity);
std::string_view name(const RoundedGaussian& spec);
std::string describe(const RoundedGaussian& spec);
std::string to_json(const RoundedGaussian& spec);
void from_json(std::string_view text, RoundedGaussian& spec);

static_assert(Mechanism<RoundedGaussian>);

}  // namespace shoal::mechanism
