// The linear term of perturbed objectives: noise on a fine grid, drawn before a row is looked at.
#pragma once

#include <shoal/learn/output_noise.hpp>
#include <shoal/learn/problem.hpp>
#include <shoal/random/bit_source.hpp>

#include <cstddef>
#include <vector>

namespace shoal::learn {

struct LinearTerm {
  std::vector<double> values;
  double rounding;  // the distance from the ideal draw is at most this
};

LinearTerm draw_linear_term(NoiseShape shape, double scale, std::size_t dimension,
                            random::BitSource& bits);

// For plans: throws, naming condition and remedy, unless the minimiser with such a term is reached
// within residual / l2, rounding of the term included, whatever the rows are.
void check_perturbed(const Problem& problem, NoiseShape shape, double scale, double l2,
                     double residual);

}  // namespace shoal::learn
