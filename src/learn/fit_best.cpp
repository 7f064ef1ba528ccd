// fit_best(): split, run, score with noise, keep the best.
#include "learn/methods.hpp"
#include "learn/row_view.hpp"
#include "learn/selection_runs.hpp"
#include "learn/training_rows_key.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/discrete_laplace.hpp>
#include <shoal/random/bernoulli.hpp>
#include <shoal/random/geometric.hpp>
#include <shoal/random/uniform.hpp>

#include <cmath>
#include <optional>

namespace shoal::learn {
namespace {

struct Run {
  Int128 score = 0;
  std::size_t candidate = 0;
  std::vector<double> weights;
};

// The noise of a score is drawn before the score is looked at.
Run run_once(const PrivateSelection& selection, const Problem& problem, const SplitRows& split,
             random::BitSource& bits, const FitOptions& options) {
  Run run;
  run.candidate =
      static_cast<std::size_t>(random::uniform_below(selection.candidates.size(), bits));
  const Int128 noise = mechanism::sample(mechanism::DiscreteLaplace{selection.score_scale}, bits);
  run.weights = std::visit(
      [&](const auto& one) { return train(one, problem, *split.training, bits, options); },
      selection.candidates[run.candidate]);
  run.score = saturating_add(held_out_score(problem.loss, *split.held_out, run.weights), noise);
  return run;
}

}  // namespace

std::int64_t sample_run_count(double scale, random::BitSource& bits) {
  const random::GeometricSampler sampler(scale);
  // Of geometric numbers k is kept with a chance of 1 / k.
  while (true) {
    const Int128 count = sampler.sample(bits) + 1;
    SHOAL_CHECK(count < (Int128{1} << 62));
    if (random::bernoulli(1, static_cast<std::uint64_t>(count), bits))
      return static_cast<std::int64_t>(count);
  }
}

SplitRows split_rows(const RowSource& rows, random::BitSource& bits) {
  const auto empty = [&] {
    return std::make_unique<MemoryRows>(rows.dimension(), rows.row_norm(), rows.label_bound(),
                                        rows.label_kind());
  };
  SplitRows split{empty(), empty()};
  const auto toss = [&]() -> MemoryRows& {
    return bits.next_bits(kHeldOutBits) == 0 ? *split.held_out : *split.training;
  };
  BlockBuffer buffer;
  for (std::size_t b = 0; b < rows.block_count(); ++b) {
    const RowBlock block = rows.block(b, buffer);
    for (std::size_t i = 0; i < block.rows; ++i) {
      MemoryRows& part = toss();
      const Row row = row_of(block, i);
      if (row.layout == RowLayout::sparse) {
        part.add_sparse({row.columns, row.size}, {row.values, row.size}, block.labels[i]);
      } else {
        part.add_dense({row.values, row.size}, block.labels[i]);
      }
    }
  }
  // One without a label has its coin, too: it may have been exchanged for one that has, and the
  // parts of both tables must then have as many slots.
  for (std::uint64_t i = rows.row_count(); i < rows.slot_count(); ++i) toss().skip_row();
  return split;
}

Int128 held_out_score(const Loss& loss, const RowSource& held_out,
                      std::span<const double> weights) {
  const bool classes = bounds(loss).two_classes;
  Int128 score = 0;
  BlockBuffer buffer;
  for (std::size_t b = 0; b < held_out.block_count(); ++b) {
    const RowBlock block = held_out.block(b, buffer);
    for (std::size_t i = 0; i < block.rows; ++i) {
      const Row row = row_of(block, i);
      double z = 0;
      for (std::size_t k = 0; k < row.size; ++k) z += row.values[k] * weights[row.column(k)];
      const double residual = z - block.labels[i];
      const double share =
          classes ? ((z > 0 ? 1 : -1) == block.labels[i] ? 0 : 1) : residual * residual / 4;
      // Cut after all arithmetic; what is not a number counts in full.
      score -= share < 1 ? static_cast<std::int64_t>(share * kScoreSteps) : kScoreSteps;
    }
  }
  return score;
}

FittedBest fit_best(const Problem& problem, const PrivateSelection& selection, TrainingRows&& rows,
                    privacy::Reservation&& reservation, random::BitSource& bits,
                    const FitOptions& options) {
  privacy::Reservation mine = std::move(reservation);
  const TrainingRows secret = std::move(rows);
  SHOAL_CHECK(mine.touched());
  SHOAL_CHECK(privacy_event(selection, problem) == mine.event());
  SHOAL_CHECK(neighbors_of(selection.candidates.front()) == mine.neighbors());
  check_rows(secret, problem);
  FitOptions silent = options;
  silent.progress = {};
  std::optional<Run> best;
  std::string failure;
  try {
    const SplitRows split = split_rows(TrainingRowsKey::open(secret), bits);
    const std::int64_t runs = sample_run_count(selection.run_scale, bits);
    for (std::int64_t i = 0; i < runs; ++i) {
      Run run = run_once(selection, problem, split, bits, silent);
      if (!best || run.score > best->score) best = std::move(run);
    }
  } catch (const std::exception& reason) {
    best.reset();
    failure = reason.what();
  }
  const std::size_t chosen = best ? best->candidate : 0;
  return {{best ? std::move(best->weights) : std::vector<double>{}, std::move(failure),
           std::move(mine).spend()},
          chosen};
}

}  // namespace shoal::learn
