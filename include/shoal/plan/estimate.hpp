// From noisy integers to the numbers of an answer, with their error intervals. Post-processing: it
// sees released values and public facts only.
//
// An interval covers what the noise did: with the stated confidence the exact value over the
// clamped data lies in it. It does not cover clamping to the bounds, nor rows beyond the limit per
// person.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/plan/plan.hpp>

#include <span>

namespace shoal::plan {

struct Estimate {
  double value;
  double lower;
  double upper;
};

// `released` has one integer a statistic of the plan.
Estimate estimate(const Plan& plan, const PlannedOutput& output, std::span<const Int128> released);

// Half the width of the interval, before any data is seen; see PlannedOutput::expected_error.
double expected_error(const Plan& plan, const PlannedOutput& output);

}  // namespace shoal::plan
