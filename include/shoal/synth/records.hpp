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
#include <shoal/synth/workload.hpp>

#include <cstdint>
#include <vector>

namespace shoal::synth {

// Codes, a column each: all of them have `rows` entries.
using CodedRecords = std::vector<std::vector<std::uint16_t>>;

inline constexpr std::int64_t kMaxSyntheticRows = 1'000'000'000;

// Throws invalid_argument unless 1 <= rows <= kMaxSyntheticRows.
CodedRecords generate_records(const GraphicalModel& model, std::int64_t rows,
                              random::BitSource& bits);

// Lets every record take, column after column, the value that brings the workload's marginals of
// all records nearest to the source's, as far as the model knows them: in L1 norm by weight, on
// average over counts that are Poisson with the model's means. The marginals within them count as
// well, each by the weight of all that hold it (of sets of more than four columns, the columns
// alone): a sparse table by itself is nearest with all rows in its likeliest cells. Rounding to
// whole rows is shared out over all marginals by it. A cell that expects next to nothing becomes
// rarer still, and expected counts are no longer the model's.
//
// Marginals of more than 2^22 cells, and those beyond 2^26 cells in all, are not looked at; rows
// beyond some 2^34 looks at a cell stay as they were drawn. Uses no randomness. Throws
// invalid_argument for a workload that does not fit the columns.
void refine_records(CodedRecords& records, const GraphicalModel& model, const Workload& workload,
                    int threads);

}  // namespace shoal::synth
