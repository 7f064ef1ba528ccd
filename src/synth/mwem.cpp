#include <shoal/base/error.hpp>
#include <shoal/synth/mwem.hpp>

#include <fmt/format.h>

#include <cmath>
#include <numeric>

namespace shoal::synth {
namespace {

// The answer to a query, from 0 to 1.
double answer(std::span<const double> density, const LinearQuery& query) {
  double sum = 0;
  for (std::size_t i = 0; i < density.size(); ++i) {
    sum += density[i] * static_cast<double>(query.steps[i]);
  }
  return sum / kQuerySteps;
}

// Multiplicative weights: half the miss, as published.
void move_towards(std::vector<double>& density, const LinearQuery& query, double wanted) {
  const double miss = wanted - answer(density, query);
  double sum = 0;
  for (std::size_t i = 0; i < density.size(); ++i) {
    density[i] *= std::exp(static_cast<double>(query.steps[i]) / kQuerySteps * miss / 2);
    sum += density[i];
  }
  for (double& one : density) one /= sum;
}

}  // namespace

MwemResult mwem(release::HistogramCurator& curator, std::span<const LinearQuery> queries,
                int rounds, double epsilon, const std::function<void(double)>& progress) {
  validate(queries, static_cast<std::int64_t>(queries.empty() ? 0 : queries[0].steps.size()));
  if (rounds < 1 || rounds > kMaxMwemRounds || !(epsilon > 0) ||
      epsilon > curator.epsilon_left() * (1 + 1e-9) || queries.size() != curator.queries() ||
      curator.rows() < 1) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("mwem with {} rounds and epsilon {}: give 1 to {} rounds, what was "
                            "reserved, the curator's queries and a table with rows",
                            rounds, epsilon, kMaxMwemRounds));
  }
  const std::size_t universe = queries[0].steps.size();
  const auto rows = static_cast<double>(curator.rows());
  // A little is left to the rounding of the charges.
  const double step = epsilon * (1 - 1e-9) / (2 * rounds);
  std::vector<double> density(universe, 1.0 / static_cast<double>(universe));
  MwemResult result{std::vector<double>(universe), {}};
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::int64_t> expected;
    for (const LinearQuery& query : queries) {
      expected.push_back(std::llround(answer(density, query) * rows * kQuerySteps));
    }
    const std::size_t chosen = curator.choose_query(expected, step);
    const double noisy = static_cast<double>(curator.measure(chosen, step)) / kQuerySteps;
    move_towards(density, queries[chosen], noisy / rows);
    for (std::size_t i = 0; i < universe; ++i) result.density[i] += density[i] / rounds;
    result.queries.push_back(chosen);
    if (progress) progress(static_cast<double>(round + 1) / rounds);
  }
  return result;
}

double mwem_error_bound(const MwemProblem& problem, int rounds, double beta) {
  const auto rows = static_cast<double>(problem.rows);
  const double step = problem.epsilon / (2 * rounds);
  // Half of beta for the noise, half for the choices.
  const double none = std::exp(-step / kQuerySteps);
  const double noise = std::log(4 * rounds / ((1 + none) * beta)) / (step * rows);
  const double rare = std::log(2 / beta);
  const double excess = 1 + std::sqrt(2 * rare / rounds) + rare / rounds;
  const double choice =
      (2 / step * (std::log(static_cast<double>(problem.queries)) + excess) + 1.0 / kQuerySteps) /
      rows;
  const double start = std::log(static_cast<double>(problem.universe)) / rounds;
  const double learnt = (7 * noise + 16 * std::sqrt(noise * noise / 4 + 15 * start / 8)) / 15;
  return learnt + choice + 1.0 / rounds;
}

int mwem_best_rounds(const MwemProblem& problem, double beta) {
  int best = 1;
  double least = mwem_error_bound(problem, 1, beta);
  for (int rounds = 2; rounds <= kMaxMwemRounds; ++rounds) {
    const double bound = mwem_error_bound(problem, rounds, beta);
    if (bound < least) {
      least = bound;
      best = rounds;
    }
  }
  return best;
}

}  // namespace shoal::synth
