// What requests that read the rows of one file have in common: training and synthesis.
#pragma once

#include <shoal/catalog/policy.hpp>

#include <optional>
#include <string>

namespace shoal::session {

// The private table of that name, or the policy's only one if the name is empty. `doing` is what it
// is for: "training". Throws not_found, invalid_argument for a public table or no choice, and
// unsupported for one on a server or whose persons another table knows.
const catalog::Table& file_table(const catalog::Policy& policy, const std::string& name,
                                 const std::string& doing);

// As asked, or the policy's default. Throw invalid_argument if neither says it, and
// refused_by_policy for more than the policy allows.
double asked_epsilon(const catalog::Policy& policy, std::optional<double> epsilon);
double asked_delta(const catalog::Policy& policy, std::optional<double> delta);

}  // namespace shoal::session
