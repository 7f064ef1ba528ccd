// Laplace noise rounded to the grid: the nearest integer of an ideal draw b of density proportional
// to exp(-|b| / scale). Added to an integer it is the ideal mechanism and then a rounding, so it
// has the ideal one's privacy. Proof note: src/mechanism/rounded_laplace.proof.md. Contracts of the
// functions: mechanism.hpp.
#pragma once

#include <shoal/mechanism/mechanism.hpp>

namespace shoal::mechanism {

// The double stands for its exact value, in grid steps, from 2^-10 to 2^50.
struct RoundedLaplace {
  double scale = 0;  // to be set: 0 is refused
  bool operator==(const RoundedLaplace&) const = default;
};

void validate(const RoundedLaplace& spec);
Int128 sample(const RoundedLaplace& spec, random::BitSource& bits);
double log_pmf(const RoundedLaplace& spec, Int128 x);
privacy::Event privacy_event(const RoundedLaplace& spec, Sensitivity sensitivity);
Int128 error_interval(const RoundedLaplace& spec, Confidence confidence);
AuditTarget audit_target(const RoundedLaplace& spec, Sensitivity sensitivity);
std::string_view name(const RoundedLaplace& spec);
std::string describe(const RoundedLaplace& spec);
std::string to_json(const RoundedLaplace& spec);
void from_json(std::string_view text, RoundedLaplace& spec);

static_assert(Mechanism<RoundedLaplace>);

}  // namespace shoal::mechanism
