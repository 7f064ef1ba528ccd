// Automatic bounds: what a question leaves to be found (the bounds of a value, how many groups of a
// person count) is looked for first, in a noisy histogram of people that has a price of its own.
//
// What was found is public, belongs to the rule by which it was looked for, and serves every later
// question with the same rule, unpaid. The rule is the relation and the expression, or the keys,
// without WHERE, HAVING and FILTER. Proof: src/plan/automatic.proof.md.
#pragma once

#include <shoal/catalog/released_group.hpp>
#include <shoal/plan/plan.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shoal::plan {

// A part of a question's epsilon that pays for all of its searches together.
inline constexpr std::int64_t kSearchDivisor = 8;

// A bin of the histogram is taken to be empty up to a count that none of the empty ones exceeds,
// with this probability.
inline constexpr double kSearchConfidence = 0.95;

// The share of people none of whose groups are left out.
inline constexpr double kGroupsQuantile = 0.95;

// The price of one search: so many units of pure epsilon, and what that means as an event.
privacy::Event search_event(const Search& search);

// The search as a plan of its own, with the noise that its epsilon units buy. Throws
// invalid_argument if they buy none.
Plan search_plan(const Search& search, Neighbors neighbors);

// What the released histogram says. Needs nothing but public numbers.
Found read_search(const Search& search, const Plan& plan,
                  std::span<const catalog::ReleasedGroup> released);

}  // namespace shoal::plan
