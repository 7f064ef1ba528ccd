// Accelerated proximal gradients whose number of steps is known before the first: enough of them
// for any rows, by a theorem and not by looking. Where a faster solver could not certify its
// solution, this one needs no certificate, so that no table makes a training fail.
//
// Proof: bounded_proximal.proof.md.
#pragma once

#include <shoal/learn/problem.hpp>
#include <shoal/learn/solver.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace shoal::learn {

// What the number of steps is made of. All of it is public but the number of rows and the linear
// term's norm, which is noise.
struct ProximalFacts {
  const Problem& problem;  // its l2 part does not count
  double l2 = 0;
  double rows = 0;         // at most so many
  double linear_norm = 0;  // at most
};

struct ProximalRun {
  std::int64_t steps = 0;
  double smooth = 0;    // a Lipschitz constant of the gradient, rounded up
  double progress = 0;  // the square root of l2 / smooth, rounded down
};

// Unit roundoffs of the arithmetics.
inline constexpr double kExtendedUnit = 0x1p-64;
inline constexpr double kQuadUnit = 0x1p-112;

// The run that ends within residual / l2 of the minimiser in arithmetic of that unit roundoff. None
// where rounding might keep it from that. What holds for some number of rows holds for fewer.
std::optional<ProximalRun> plan_proximal(const ProximalFacts& facts, double residual, double unit);

// The least l2 weight that check_reachable() takes: a part of a row's largest curvature, so that
// the number of steps stays within the root of so many rows.
double least_reachable_l2(const Problem& problem);

// For plans: throws unsupported or invalid_argument, naming condition and remedy, unless every
// table of up to kMostRows rows has its minimiser reached within residual / l2.
void check_reachable(const Problem& problem, double l2, double residual, double linear_norm);

// A bound of the norm of a draw of the linear term that is missed with a chance below 2^-1000.
double gaussian_norm_bound(double sigma, std::size_t dimension);
double gamma_norm_bound(double scale, std::size_t dimension);

// The weights, at most residual / l2 from the minimiser, for what check_reachable() has let pass.
std::vector<long double> minimise_surely(const RowSource& rows, const Objective& objective,
                                         double residual, unsigned threads);

}  // namespace shoal::learn
