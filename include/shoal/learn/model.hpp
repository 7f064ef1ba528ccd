// A model: released weights, with everything that is needed to use them elsewhere. It is public.
//
// The file is JSON. "format" is 1; a later one is refused, and so is a file that is malformed or
// does not fit together, with the place of the fault.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/learn/features.hpp>
#include <shoal/learn/held_out.hpp>
#include <shoal/learn/loss.hpp>
#include <shoal/learn/loss_summary.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::learn {

inline constexpr int kModelFormat = 1;

struct ModelPrivacy {
  double epsilon = 0;
  double delta = 0;
  Neighbors neighbors = Neighbors::add_remove;
  std::string unit;       // in words
  std::string statement;  // the guarantee in one sentence
  std::string event;      // JSON, as the ledger has it
  bool operator==(const ModelPrivacy&) const = default;
};

struct Model {
  std::string shoal_version;
  std::string method;
  Loss loss = Logistic{};
  Pipeline pipeline;
  Target target;
  std::vector<double> weights;  // softmax: those of the first class, then of the second, ...
  double l2 = 0;
  ModelPrivacy privacy;
  std::optional<HeldOutEstimate> held_out = {};  // what rows that were set aside say of it
  bool operator==(const Model&) const = default;
};

// Throws invalid_argument if the parts do not fit together.
void validate(const Model& model);

std::string to_json(const Model& model);
// Throws parse_error with the place of the fault, and unsupported for a later format.
Model model_from_json(std::string_view text);

// What a model says of one row.
struct Prediction {
  double label = 0;   // as Target has it
  double score = 0;   // the linear prediction; of the label's class for softmax
  double chance = 0;  // of the label: logistic and softmax alone, else 0
};
Prediction predict(const Model& model, std::span<const data::Cell> cells);

// How well it predicts rows that are public, or held out and the holder's own: nothing here is
// private.
struct Evaluation {
  std::uint64_t rows = 0;
  std::uint64_t unlabelled = 0;  // rows without a label, left out
  double mean_loss = 0;          // the empirical risk
  RiskEstimate risk;             // of new rows like these, if they had no part in training
  double accuracy = 0;           // of categories
  double accuracy_lower = 0;     // of new rows like these
  double accuracy_upper = 0;
  double root_mean_square = 0;  // of numbers, in the target's own unit
  double majority = 0;          // the share of the most frequent category
};

class Evaluator {
 public:
  explicit Evaluator(const Model& model);
  void add(std::span<const data::Cell> cells);  // the target's cell last
  // The intervals hold with this confidence, each by itself.
  Evaluation result(double confidence = 0.95) const;

 private:
  const Model& model_;
  LossSummary losses_;
  Evaluation sums_;
  std::vector<std::uint64_t> counts_;
};

}  // namespace shoal::learn
