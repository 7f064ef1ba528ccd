// Words for what is in a synthetic table.
#pragma once

#include <shoal/session/synthesis.hpp>

#include <string>
#include <vector>

namespace shoal::session {

// What each code of a column stands for, in order.
std::vector<std::string> value_labels(const synth::DomainColumn& column);

// "prefix:age" or "ranges:age".
std::string name_of(const synth::RangeFamily& family, const synth::Domain& domain);

// How many ranges a family has: of values, not of NULL, and without the one that holds every row.
std::int64_t range_count(const synth::RangeFamily& family, const synth::Domain& domain);

// How many queries mwem or blr have: the cells of the workload's marginals, and the ranges.
std::int64_t query_count(const SynthesisPlan& plan);

}  // namespace shoal::session
