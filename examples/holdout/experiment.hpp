// The experiment of Dwork, Feldman, Hardt, Pitassi, Reingold and Roth (Science 2015): an analyst
// chooses variables by their correlation with the label, on training data and on a holdout, and
// reports the accuracy of the classifier that is made of them. With a holdout that is used as it
// is, the report is too good; how much, and what reusable holdouts report.
#pragma once

#include <cstdint>
#include <vector>

namespace shoal::example {

struct Setting {
  int rows = 10'000;       // of training data, of the holdout, and of fresh data
  int variables = 10'000;  // normal, independent
  int signals = 0;         // so many of them moved by `shift` times the label
  double shift = 0;        // 6 / sqrt(rows), if there are signals
  std::vector<int> sizes = {10, 20, 30, 45, 70, 100, 150, 200, 250, 300, 400, 500};
};

// One classifier: the accuracy that was seen on training data, reported by the holdout, and true
// (on fresh data).
struct Report {
  double training = 0;
  double reported = 0;
  double fresh = 0;
  double lower = 0;  // the stated interval, if there is one
  double upper = 1;
};

// For each size, by each of three ways.
struct Repetition {
  std::vector<Report> standard;  // the holdout's own values
  std::vector<Report>
      thresholdout;             // as published: a heuristic, noise of 1 / sqrt(rows), no budget
  std::vector<Report> holdout;  // adaptive::Holdout: private, with proven intervals
  int disagreements = 0;        // that it told
};

Repetition run_experiment(const Setting& setting, std::uint64_t seed);

// What the reusable holdout of the experiment promises.
inline constexpr double kEpsilon = 2;
inline constexpr double kConfidence = 0.95;
inline constexpr int kDisagreements = 20;

}  // namespace shoal::example
