#include "synth/histograms.hpp"

#include <shoal/base/error.hpp>
#include <shoal/random/uniform.hpp>
#include <shoal/synth/blr.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace shoal::synth {
namespace {

// Work that takes minutes at most: candidates times queries.
constexpr double kMaxWork = 2e10;
constexpr std::int64_t kMaxCandidates = 1'000'000'000;
constexpr Int128 kMaxAnswer = Int128{1} << 62;
// Rejection accepts with a chance of at least exp(-epsilon n / 2), whatever the rows are.
constexpr double kMaxRejectionExponent = 14;  // a million draws or so, at worst

void check(double alpha, std::int64_t queries) {
  if (!(alpha > 0 && alpha < 1) || queries < 1) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("an error of {} for {} queries: give one between 0 and 1, and at least "
                            "one query",
                            alpha, queries));
  }
}

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

// Times rows, in steps.
std::vector<std::int64_t> answers_of(std::span<const LinearQuery> queries,
                                     std::span<const std::int64_t> histogram, std::int64_t rows) {
  std::vector<std::int64_t> answers;
  for (const LinearQuery& query : queries) {
    answers.push_back(rows * std::inner_product(query.steps.begin(), query.steps.end(),
                                                histogram.begin(), std::int64_t{0}));
  }
  return answers;
}

// Every multiset of `size` elements as likely: which of universe + size - 1 places hold bars
// (stars and bars), place by place.
std::vector<std::int64_t> uniform_histogram(std::int64_t universe, std::int64_t size,
                                            random::BitSource& bits) {
  std::vector<std::int64_t> histogram(static_cast<std::size_t>(universe));
  std::int64_t stars = size;
  std::int64_t bars = universe - 1;
  std::size_t element = 0;
  while (stars > 0) {
    const auto places = static_cast<std::uint64_t>(stars + bars);
    if (random::uniform_below(places, bits) < static_cast<std::uint64_t>(stars)) {
      ++histogram[element];
      --stars;
    } else {
      ++element;
      --bars;
    }
  }
  return histogram;
}

}  // namespace

std::int64_t blr_size_sharp(std::int64_t queries, double alpha) {
  check(alpha, queries);
  return static_cast<std::int64_t>(
             std::floor(std::log(2.0 * static_cast<double>(queries)) / (2 * alpha * alpha))) +
         1;
}

std::int64_t blr_size_notes(std::int64_t queries, double alpha) {
  check(alpha, queries);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(
                                       std::log(static_cast<double>(queries)) / (alpha * alpha))));
}

double blr_error_bound(const BlrProblem& problem, std::int64_t size, double beta) {
  const auto m = static_cast<double>(size);
  const double sampling = std::sqrt(std::log(2.0 * static_cast<double>(problem.queries)) / (2 * m));
  const double candidates = log_choose(static_cast<double>(problem.universe) + m - 1, m);
  return sampling + 2 / (problem.epsilon * static_cast<double>(problem.rows)) *
                        (candidates + std::log(1 / beta));
}

// The bound falls and then rises: its first part is convex, its second concave and rising, so the
// least value is looked for on a fine grid first and around it then.
std::int64_t blr_best_size(const BlrProblem& problem, double beta) {
  const auto bound = [&](std::int64_t size) { return blr_error_bound(problem, size, beta); };
  std::int64_t best = 1;
  for (std::int64_t size = 1; size < 1'000'000'000'000; size += size / 100 + 1)
    if (bound(size) < bound(best)) best = size;
  std::int64_t low = std::max<std::int64_t>(1, best - best / 50 - 1);
  std::int64_t high = best + best / 50 + 1;
  while (high - low > 2) {
    const std::int64_t third = (high - low) / 3;
    if (bound(low + third) <= bound(high - third)) {
      high -= third;
    } else {
      low += third;
    }
  }
  return bound(low + 1) < bound(low) ? low + 1 : low;
}

double blr_textbook_bound(const BlrProblem& problem, double beta) {
  const double size = 16 * std::log(static_cast<double>(problem.universe)) *
                          std::log(static_cast<double>(problem.queries)) +
                      4 * std::log(1 / beta);
  return std::cbrt(size / (problem.epsilon * static_cast<double>(problem.rows)));
}

// C(n, k) with the smaller k: where that is large, C(n, i) at least doubles with i, so that the
// loop ends after some 64 steps whatever is asked.
std::int64_t blr_candidates(std::int64_t universe, std::int64_t size) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const Int128 places = Int128{universe} - 1 + size;
  const std::int64_t chosen = std::min(size, universe - 1);
  Int128 count = 1;
  for (std::int64_t i = 1; i <= chosen; ++i) {
    count = count * (places - chosen + i) / i;
    if (count > kMost) return kMost;
  }
  return static_cast<std::int64_t>(count);
}

bool blr_enumerable(const BlrProblem& problem, std::int64_t size) {
  // Answers times the rows of both tables, in steps, stay within 64 bits.
  if (size > kMaxBlrSize || Int128{size} * problem.rows * kQuerySteps > kMaxAnswer) return false;
  const std::int64_t candidates = blr_candidates(problem.universe, size);
  return candidates <= kMaxCandidates &&
         static_cast<double>(candidates) * static_cast<double>(problem.queries) <= kMaxWork;
}

std::int64_t blr_largest_size(const BlrProblem& problem, std::int64_t most) {
  std::int64_t good = 0;
  std::int64_t bad = std::min(most, kMaxBlrSize) + 1;
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (blr_enumerable(problem, middle) ? good : bad) = middle;
  }
  return good;
}

BlrSampling blr_feasible(const BlrProblem& problem, std::int64_t size) {
  if (size < 1) {
    throw Error(ErrorCode::invalid_argument, "a table of no rows answers nothing: give at least 1");
  }
  if (blr_enumerable(problem, size)) return BlrSampling::enumeration;
  if (problem.epsilon * static_cast<double>(problem.rows) / 2 <= kMaxRejectionExponent) {
    return BlrSampling::rejection;
  }
  const std::int64_t feasible = blr_largest_size(problem, size);
  const std::string advice = feasible > 0 ? fmt::format("{} rows would be feasible", feasible)
                                          : std::string("no number of rows is feasible");
  throw Error(
      ErrorCode::unsupported,
      fmt::format("blr cannot draw {} rows from a universe of {} elements exactly: there are "
                  "too many tables; {}, or use method mwem (explicit universe) or aim "
                  "(marginals)",
                  size, problem.universe, advice));
}

std::vector<std::int64_t> blr(release::HistogramCurator& curator,
                              std::span<const LinearQuery> queries, std::int64_t size,
                              double epsilon, random::BitSource& bits) {
  validate(queries, static_cast<std::int64_t>(queries.empty() ? 0 : queries[0].steps.size()));
  const auto universe = static_cast<std::int64_t>(queries[0].steps.size());
  const BlrProblem problem{universe, static_cast<std::int64_t>(queries.size()), curator.rows(),
                           epsilon};
  if (blr_feasible(problem, size) == BlrSampling::enumeration) {
    const HistogramWalk walk(queries, size, curator.rows());
    const std::size_t chosen =
        curator.choose_table(size, epsilon, [&](const release::HistogramCurator::Offer& offer) {
          walk.visit([&](std::span<const std::int64_t> answers) { offer(answers); });
        });
    return walk.histogram(static_cast<std::int64_t>(chosen));
  }
  std::vector<std::int64_t> proposed;
  curator.accept_table(size, epsilon, [&] {
    proposed = uniform_histogram(universe, size, bits);
    return answers_of(queries, proposed, curator.rows());
  });
  return proposed;
}

std::vector<BlrOutcome> blr_law(std::span<const std::int64_t> data,
                                std::span<const LinearQuery> queries, std::int64_t size,
                                double epsilon, BlrBase base) {
  const std::int64_t rows = std::accumulate(data.begin(), data.end(), std::int64_t{0});
  std::vector<std::int64_t> exact = answers_of(queries, data, size);
  const HistogramWalk walk(queries, size, rows);
  std::vector<long double> weights;
  std::vector<BlrOutcome> law;
  walk.visit([&](std::span<const std::int64_t> answers) {
    std::int64_t gap = 0;
    for (std::size_t q = 0; q < exact.size(); ++q) {
      gap = std::max(gap, std::abs(exact[q] - answers[q]));
    }
    weights.push_back(std::exp(-static_cast<long double>(epsilon) * static_cast<long double>(gap) /
                               static_cast<long double>(2 * size * kQuerySteps)));
  });
  long double total = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    law.push_back({walk.histogram(static_cast<std::int64_t>(i)), 0});
    if (base == BlrBase::sequences) {
      long double ways = std::lgamma(static_cast<long double>(size) + 1);
      for (const std::int64_t count : law.back().histogram) {
        ways -= std::lgamma(static_cast<long double>(count) + 1);
      }
      weights[i] *= std::exp(ways);
    }
    total += weights[i];
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    law[i].probability = static_cast<double>(weights[i] / total);
  }
  return law;
}

}  // namespace shoal::synth
