// Records from a model: as many rows as asked for, whose marginals follow the model's as closely as
// whole rows can. Post-processing: nothing private takes part.
//
// Column after column, given those before it in its clique: of m rows that agree on those, value v
// goes to floor(m p_v) of them, and what is left over is dealt by systematic sampling, with starts
// that are spread evenly from group to group. So the totals are exact, no value without probability
// appears, and every expected count is right.
#pragma once

#include <shoal/random/bit_source.hpp>
#include <shoal/synth/graphical_model.hpp>

#include <cstdint>
#include <vector>

namespace shoal::synth {

// Codes, a column each: all of them have `rows` entries.
using CodedRecords = std::vector<std::vector<std::uint16_t>>;

inline constexpr std::int64_t kMaxSyntheticRows = 1'000'000'000;

// Throws invalid_argument unless 1 <= rows <= kMaxSyntheticRows.
CodedRecords generate_records(const GraphicalModel& model, std::int64_t rows,
                              random::BitSource& bits);

}  // namespace shoal::synth
