// From noisy integers to the numbers of an answer, with their error intervals. Post-processing: it
// sees released values and public facts only.
//
// An interval covers what the noise did: with the stated confidence the exact value over the
// bounded data lies in it; where groups are hidden, among the groups that show. It does not cover
// clamping to the bounds, nor rows and groups beyond the limits per person.
#pragma once

#include <shoal/catalog/released_group.hpp>
#include <shoal/plan/plan.hpp>

#include <optional>

namespace shoal::plan {

struct Estimate {
  double value;
  double lower;
  double upper;
};

// The aggregate in one group of that grouping.
Estimate estimate(const Plan& plan, std::size_t grouping, const PlannedAggregate& aggregate,
                  const catalog::ReleasedGroup& group, Confidence confidence);

// Half the width of the interval, before any data is seen; see PlannedAggregate::expected_error.
std::optional<double> expected_error(const Plan& plan, std::size_t grouping,
                                     const PlannedAggregate& aggregate);

}  // namespace shoal::plan
