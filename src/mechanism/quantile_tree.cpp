// The spec of a quantile tree: JSON, price and accuracy. The walk: noisy_tree.cpp.
#include "mechanism/noise_spec.hpp"
#include "mechanism/parameter_json.hpp"
#include "mechanism/rank_path.hpp"
#include "mechanism/tree_shape.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/mechanism/quantile_tree.hpp>
#include <shoal/mechanism/vector_noise.hpp>
#include <shoal/privacy/charge.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <vector>

namespace shoal::mechanism {
namespace {

constexpr std::string_view kName = "quantile_tree";

// One level of one group.
privacy::Event level_event(const QuantileTree& tree, std::int64_t values, Neighbors neighbors) {
  const auto event_of = [&](const auto& noise) -> privacy::Event {
    if (values == 1) {
      return privacy::stated_for(privacy_event(noise, Sensitivity(1)), neighbors);
    }
    return vector_event(noise, VectorSensitivity::from_l1(Sensitivity(values), kMaxLeaves));
  };
  return std::visit(event_of, tree.noise);
}

double noise_variance(const DiscreteLaplace& noise) {
  const double q = std::exp(-1 / noise.scale);
  const double gap = -std::expm1(-1 / noise.scale);
  return 2 * q / (gap * gap);
}
double noise_variance(const DiscreteGaussian& noise) { return noise.sigma * noise.sigma; }

// The boundary half-way through the leaves of the middle node of every level.
RankPath::Boundary middle_boundary(std::int64_t leaves, const Fraction& fraction) {
  validate(QuantileTarget(fraction));
  const TreeShape shape(leaves);
  RankPath path(static_cast<double>(fraction.numerator) /
                static_cast<double>(fraction.denominator));
  TreeNode node;
  while (true) {
    const std::vector<double> counts(shape.children(node), 0.0);
    const std::size_t middle = counts.size() / 2;
    if (shape.at_leaves(node)) return path.boundary(counts, middle);
    path = path.child(counts, middle);
    node = shape.child(node, middle);
  }
}

}  // namespace

void validate(const QuantileTree& tree) {
  std::visit([](const auto& noise) { validate(noise); }, tree.noise);
}

std::string_view name(const QuantileTree&) { return kName; }

std::string describe(const QuantileTree& tree) {
  const std::string noise =
      std::visit([](const auto& member) { return describe(member); }, tree.noise);
  return fmt::format("quantiles from a tree of counts, each with {}", noise);
}

std::string to_json(const QuantileTree& tree) {
  const std::string noise =
      std::visit([](const auto& member) { return to_json(member); }, tree.noise);
  return fmt::format("{{\"{}\": {}}}", kName, noise);
}

void from_json(std::string_view text, QuantileTree& tree) {
  const std::string key = mechanism_key(text);
  if (key != kName) {
    throw Error(ErrorCode::parse_error, fmt::format("the mechanism is \"{}\"; expected \"{}\"",
                                                    printable(key, 100), kName));
  }
  const std::string noise = nlohmann::json::parse(text).begin().value().dump();
  const std::string law = mechanism_key(noise);
  QuantileTree read;
  if (law == name(DiscreteGaussian{})) {
    DiscreteGaussian gaussian;
    from_json(noise, gaussian);
    read.noise = gaussian;
  } else {
    DiscreteLaplace laplace;
    from_json(noise, laplace);  // which refuses every other law by its name
    read.noise = laplace;
  }
  tree = read;
}

int tree_levels(std::int64_t leaves) {
  if (leaves < 1 || leaves > kMaxLeaves) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a tree over {} steps; give 1 to {}", leaves, kMaxLeaves));
  }
  int levels = 1;
  for (std::int64_t most = kRootArity; most < leaves; most *= kTreeArity) ++levels;
  return levels;
}

privacy::Event privacy_event(const QuantileTree& tree, std::int64_t leaves,
                             const GroupContribution& contribution, Neighbors neighbors) {
  validate(tree);
  validate(contribution);
  const std::int64_t units = neighbors == Neighbors::replace_one ? 2 : 1;
  return privacy::event::Repeat{units * contribution.max_groups * tree_levels(leaves),
                                level_event(tree, contribution.values_per_group, neighbors)};
}

// Gaussian: coefficients c make noise whose logarithm of the moment generating function at t is at
// most sigma^2 variance t^2 / 2. Laplace: with t = theta / (scale largest) it is at most -(variance
// / largest^2) ln(1 - theta^2), so that (ln(1 / beta) - ...) / t holds for every theta; the one
// that is taken is nearly the best.
double rank_deviation(const QuantileTree& tree, double variance, double largest, double beta) {
  // Coefficients were computed in some dozen operations on doubles.
  const double variance_up = numeric::multiply_up(variance, 1 + 1e-9);
  const double log_up = -numeric::log_down(beta);
  if (const auto* gaussian = std::get_if<DiscreteGaussian>(&tree.noise)) {
    const double square = numeric::multiply_up(2 * log_up, variance_up);
    return numeric::multiply_up(gaussian->sigma, numeric::sqrt_up(square));
  }
  if (largest == 0) return 0;
  const double largest_up = numeric::multiply_up(largest, 1 + 1e-9);
  const double ratio_up = numeric::divide_up(variance_up, numeric::multiply_down(largest, largest));
  double square = log_up / (log_up + 2 * ratio_up);
  const double more = log_up - ratio_up * std::log1p(-square);
  square = std::min(more / (more + 2 * ratio_up), 0.999);
  const double sum_up =
      numeric::add_up(log_up, numeric::multiply_up(ratio_up, -numeric::log1p_down(-square)));
  const double scale_up =
      numeric::multiply_up(largest_up, std::get<DiscreteLaplace>(tree.noise).scale);
  return numeric::divide_up(numeric::multiply_up(scale_up, sum_up), numeric::sqrt_down(square));
}

double boundary_beta(int levels, Confidence confidence) {
  return numeric::divide_down(alpha_down(confidence), 2.0 * levels);
}

double rank_error(const QuantileTree& tree, std::int64_t leaves, const Fraction& fraction,
                  Confidence confidence) {
  validate(tree);
  const RankPath::Boundary middle = middle_boundary(leaves, fraction);
  return rank_deviation(tree, middle.variance, middle.largest,
                        boundary_beta(tree_levels(leaves), confidence));
}

double expected_rank_error(const QuantileTree& tree, std::int64_t leaves,
                           const Fraction& fraction) {
  validate(tree);
  const double variance =
      std::visit([](const auto& noise) { return noise_variance(noise); }, tree.noise);
  return std::sqrt(middle_boundary(leaves, fraction).variance * variance);
}

}  // namespace shoal::mechanism
