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

double mwem_error_bound(std::int64_t universe, std::int64_t queries, std::int64_t rows, int rounds,
                        double epsilon) {
  return 2 * std::sqrt(std::log(static_cast<double>(universe)) / rounds) +
         10 * rounds * std::log(static_cast<double>(queries)) /
             (epsilon * static_cast<double>(rows));
}

int mwem_best_rounds(std::int64_t universe, std::int64_t queries, std::int64_t rows,
                     double epsilon) {
  int best = 1;
  const auto bound = [&](int rounds) {
    return mwem_error_bound(universe, queries, rows, rounds, epsilon);
  };
  for (int rounds = 1; rounds <= kMaxMwemRounds; ++rounds) {
    if (bound(rounds) < bound(best)) best = rounds;
  }
  return best;
}

}  // namespace shoal::synth
