// A bound on the norm of the exact gradient at weights that are doubles, from a computed one.
// Proof: certificate.proof.md.
#pragma once

#include "learn/passes.hpp"

#include <shoal/learn/solver.hpp>

#include <span>
#include <vector>

namespace shoal::learn {

enum class Precision { plain, extended };  // double; long double

// At least the exact Euclidean norm; infinite if an entry is no number.
double norm_up(std::span<const double> v);

// The gradient of the smooth part (losses, l2, linear) at the weights, rounded to double, and a
// bound on its distance from the exact one.
struct CertifiedGradient {
  std::vector<double> gradient;
  double error = 0;
  double value = 0;  // of the smooth part, an approximation; if asked for

  // Of the exact gradient.
  double norm_bound() const;
};

// How far the computed sum of row gradients can be from the exact one, in norm.
double row_sum_error(const RowSource& rows, const Loss& loss, double weight_norm,
                     Precision precision);

CertifiedGradient certified_gradient(const RowPasses& passes, const Objective& objective,
                                     std::span<const double> weights, Precision precision,
                                     bool with_value = false);

}  // namespace shoal::learn
