// Risk: the mean loss of given weights, on rows that are at hand (empirical) or on new ones like
// them (population), and how far private training is expected to be from the best.
//
// Nothing here is private: rows that are measured are public, or the holder's own. The bounds of
// expected_excess_risk are made of public facts alone. These are statements about accuracy, in
// ordinary floating point; no guarantee of privacy rests on them. Where they come from:
// src/learn/risk.proof.md.
#pragma once

#include <shoal/learn/fit.hpp>
#include <shoal/learn/loss.hpp>
#include <shoal/learn/loss_summary.hpp>
#include <shoal/learn/problem.hpp>
#include <shoal/learn/rows.hpp>

#include <optional>
#include <span>

namespace shoal::learn {

// The mean of the losses; 0 without rows. Softmax has one weight a feature and class.
double empirical_risk(const Loss& loss, const RowSource& rows, std::span<const double> weights);

// The population risk, from rows that had no part in training.
RiskEstimate population_risk(const Loss& loss, const RowSource& held_out,
                             std::span<const double> weights, double confidence);

// The empirical risk of the weights, above that of the best weights of the problem's set. The best
// ones are found by a solver, so the problem must have a smooth loss of one prediction and l2 > 0;
// the regulariser is part of what is minimised, not of the risk.
double excess_risk(const Problem& problem, const RowSource& rows, std::span<const double> weights);

// Risk on held-out rows less that on the training rows.
double generalisation_gap(const Loss& loss, const RowSource& training, const RowSource& held_out,
                          std::span<const double> weights);

// Expected over the noise: the empirical risk exceeds that of any weights of the set that are no
// longer than weight_norm by at most `fixed` + `over_rows` / n on n rows; on new rows of the same
// law by `generalisation` more.
struct ExcessRiskBound {
  double fixed = 0;
  double over_rows = 0;
  double generalisation = 0;
};

// None where theory has no bound with constants for this method.
std::optional<ExcessRiskBound> expected_excess_risk(const Method& method, const Problem& problem,
                                                    double weight_norm);

}  // namespace shoal::learn
