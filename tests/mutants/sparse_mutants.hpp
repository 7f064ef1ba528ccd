// Sparse vectors that were published and are not private, or not as private as they say (Lyu, Su
// and Li 2017 number them; two are younger). Each runs on excesses over the threshold, in floating
// point, for sensitivity 1, and claims `epsilon`. A test suite that lets one of them through is not
// good enough.
#pragma once

#include <shoal/mechanism/sparse_vector.hpp>
#include <shoal/random/bit_source.hpp>

#include <cmath>
#include <functional>
#include <span>
#include <vector>

namespace shoal::mutants {

struct SparseTranscript {
  std::vector<mechanism::Verdict> verdicts;
  std::vector<double> values;  // told with hits, if any are
};

using SparseRun = std::function<SparseTranscript(std::span<const double>, random::BitSource&)>;

// What tells the neighbours apart: values of both, and what is looked for, likelier under `first`.
struct SparseAttack {
  std::vector<double> first;
  std::vector<double> second;
  std::function<bool(const SparseTranscript&)> seen;
};

struct SparseMutant {
  const char* name;
  double epsilon;  // what it claims
  SparseRun run;
  SparseAttack attack;
  int hits = 4;         // that the attack waits for
  int draws = 500'000;  // that it takes to be seen
};

namespace detail {

inline double laplace(double scale, random::BitSource& bits) {
  const double e = -std::log((static_cast<double>(bits.next_bits(52)) + 0.5) * 0x1p-52);
  return bits.next_bit() ? scale * e : -scale * e;
}

// What the published variants differ in.
struct Variant {
  double threshold_scale;
  double query_scale;  // 0: none
  int hits;            // 0: no limit
  bool tells_compared_value = false;
};

inline SparseRun runner(Variant variant) {
  return [variant](std::span<const double> excesses, random::BitSource& bits) {
    SparseTranscript told;
    const double threshold = laplace(variant.threshold_scale, bits);
    int hits = 0;
    for (const double excess : excesses) {
      if (variant.hits != 0 && hits == variant.hits) break;
      const double noisy =
          excess + (variant.query_scale > 0 ? laplace(variant.query_scale, bits) : 0);
      const bool above = noisy >= threshold;
      told.verdicts.push_back(above ? mechanism::Verdict::above : mechanism::Verdict::below);
      if (above) ++hits;
      if (above && variant.tells_compared_value) told.values.push_back(noisy);
    }
    return told;
  };
}

// `below` questions that stay below although `second` raises them, `above` that are above although
// it lowers them.
inline SparseAttack see_saw(int below, int above) {
  SparseAttack attack;
  std::vector<mechanism::Verdict> wanted;
  for (int i = 0; i < below; ++i) {
    attack.first.push_back(0);
    attack.second.push_back(1);
    wanted.push_back(mechanism::Verdict::below);
  }
  for (int i = 0; i < above; ++i) {
    attack.first.push_back(0);
    attack.second.push_back(-1);
    wanted.push_back(mechanism::Verdict::above);
  }
  attack.seen = [wanted](const SparseTranscript& told) { return told.verdicts == wanted; };
  return attack;
}

// A value told of the comparison itself bounds the threshold's noise from above; then every
// question below is as telling as an own answer.
inline SparseAttack told_value(int below) {
  SparseAttack attack = see_saw(below, 1);
  for (int i = 0; i < below; ++i) {
    attack.first[static_cast<std::size_t>(i)] = -2;
    attack.second[static_cast<std::size_t>(i)] = -1;
  }
  attack.second.back() = 1;
  attack.seen = [verdicts = attack.seen](const SparseTranscript& told) {
    return verdicts(told) && !told.values.empty() && told.values.front() <= 0;
  };
  return attack;
}

// Two values change places: without noise of their own, the smaller is never above when the larger
// is below.
inline SparseAttack swap() {
  SparseAttack attack = see_saw(1, 1);
  attack.first = {0, 1};
  attack.second = {1, 0};
  return attack;
}

}  // namespace detail

// The honest one with the threshold drawn once, for one hit and for four, to pass what catches the
// others.
inline SparseRun honest_sparse(double epsilon, int hits) {
  return detail::runner({2 / epsilon, 4 * hits / epsilon, hits});
}

inline std::vector<SparseMutant> sparse_mutants() {
  using detail::runner;
  using detail::see_saw;
  constexpr int kHits = 4;
  const double nvflare_query = std::pow(2.0 * kHits, 2.0 / 3);
  return {
      // Algorithm 3, lecture notes of 2011: tells the very value that was compared.
      {"tells_the_compared_value", 2, runner({1, 2, 1, true}), detail::told_value(8), 1, 3'000'000},
      // Algorithm 4 (Lee and Clifton 2014): noise of the questions does not grow with the hits.
      {"unscaled_by_hits", 1, runner({4, 4.0 / 3, kHits}), see_saw(3, kHits)},
      // Algorithm 5 (Stoddard et al. 2014): no noise on the questions at all.
      {"no_query_noise", 1, runner({2, 0, 0}), detail::swap(), 1},
      // Algorithm 6 (Chen et al. 2015): unscaled, and never stops.
      {"never_stops", 1, runner({2, 2, 0}), see_saw(5, 5), 5},
      // Generalised private threshold testing (Chen and Machanavajjhala 2015): the same with a
      // split of one's choice.
      {"threshold_testing", 1, runner({4, 4.0 / 3, 0}), see_saw(4, 4)},
      // A federated-learning filter: states the threshold's share as the whole, and spends
      // (2 hits)^(2/3) times as much on the questions.
      {"states_a_share", 1, runner({1, 2.0 * kHits / nvflare_query, kHits}), see_saw(3, kHits)},
  };
}

}  // namespace shoal::mutants
