// The parts of a private choice of hyper-parameters, for fit_best() and its tests.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/learn/private_selection.hpp>

#include <memory>
#include <span>

namespace shoal::learn {

// P(k) ~ e^(-k / scale) / k for k = 1, 2, ..., exactly.
std::int64_t sample_run_count(double scale, random::BitSource& bits);

struct SplitRows {
  std::unique_ptr<MemoryRows> training;
  std::unique_ptr<MemoryRows> held_out;
};
// A coin for each row, by itself.
SplitRows split_rows(const RowSource& rows, random::BitSource& bits);

// Minus what the weights do wrong, in steps: a row moves it by 0 to kScoreSteps. Secret.
Int128 held_out_score(const Loss& loss, const RowSource& held_out, std::span<const double> weights);

}  // namespace shoal::learn
