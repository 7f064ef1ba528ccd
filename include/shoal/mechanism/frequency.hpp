// How many people are in each category, from their randomized responses: unbiased estimates with
// their variance, intervals, and estimates that are frequencies. Post-processing: it sees reports
// only.
//
// With p the chance to report the truth and q that of each other category, a report names a
// category with probability q + f (p - q), where f is the category's frequency. Proof note:
// src/mechanism/frequency.proof.md.
#pragma once

#include <shoal/base/quantity.hpp>
#include <shoal/mechanism/post_process.hpp>
#include <shoal/mechanism/randomized_response.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace shoal::mechanism {

// Every function throws invalid_argument if the spec is not valid or has epsilon 0 (reports then
// say nothing), and if counts are negative, or do not sum to at least one report.

// (count / reports - q) / (p - q): its mean is the frequency. It may be negative or above one; that
// is what makes it unbiased.
double unbiased_frequency(const RandomizedResponse& spec, std::int64_t count, std::int64_t reports);

// The variance of unbiased_frequency over the randomizers, for a category that has this frequency
// among the people who report: (q (1 - q) + f (p (1 - p) - q (1 - q))) / (n (p - q)^2). Requires
// f in [0, 1]. If the people are themselves a random sample, f (1 - f) / n comes on top for the
// frequency in the population.
double frequency_variance(const RandomizedResponse& spec, double frequency, std::int64_t reports);

// The unbiased value, with an interval that covers the frequency among the people who report with
// at least that confidence, and as surely the frequency in the population if they are independent
// draws of it. For one category, chosen before looking at the reports. Requires confidence >= 0.5.
Estimate frequency_interval(const RandomizedResponse& spec, std::int64_t count,
                            std::int64_t reports, Confidence confidence);

// One for each category, from the number of reports of each; with at least that confidence all of
// them cover.
std::vector<Estimate> frequency_intervals(const RandomizedResponse& spec,
                                          std::span<const std::int64_t> counts,
                                          Confidence confidence);

// Frequencies that are not negative and sum to one, the nearest to the unbiased ones in squares. No
// longer unbiased, and nearer to the truth for it.
std::vector<double> consistent_frequencies(const RandomizedResponse& spec,
                                           std::span<const std::int64_t> counts);

}  // namespace shoal::mechanism
