// The simulation lemma, made constructive: whatever an (epsilon, delta)-private mechanism does to a
// pair of neighbours, leaky randomized response with the same epsilon and delta can do, followed by
// a map that sees its report and nothing else (Kairouz, Oh and Viswanath 2015; Murtagh and Vadhan
// 2016). `simulate` finds that map for two given distributions, or says by how much they miss the
// claim. Proof note: src/mechanism/simulation.proof.md.
//
// Everything is exact: chances are rationals, and alpha, a rational of at least one, stands for
// e^epsilon.
#pragma once

#include <shoal/mechanism/leaky_randomized_response.hpp>
#include <shoal/numeric/enclosure.hpp>
#include <shoal/random/bit_source.hpp>

#include <boost/multiprecision/cpp_int.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace shoal::mechanism {

using Rational = boost::multiprecision::cpp_rational;

inline constexpr std::size_t kLeakyReports = 4;

// Chances of the four reports, in the order of LeakyReport.
using LeakyPmf = std::array<Rational, kLeakyReports>;

// Leaky randomized response of the bit `truth` (0 or 1). Requires alpha >= 1 and delta in [0, 1];
// throws invalid_argument otherwise.
LeakyPmf leaky_pmf(const Rational& alpha, const Rational& delta, int truth);

// The sum of (first - alpha * second) where it is positive: the delta that tells first from second
// at e^epsilon = alpha. Both must be distributions over the same outcomes, summing to exactly one;
// throws invalid_argument otherwise.
Rational hockey_stick(std::span<const Rational> first, std::span<const Rational> second,
                      const Rational& alpha);

// The smallest delta at which the pair is (ln alpha, delta)-private: the larger of both orders.
Rational least_delta(std::span<const Rational> first, std::span<const Rational> second,
                     const Rational& alpha);

// A map from the four reports to random outcomes: one distribution a report.
class Simulation {
 public:
  // Requires four rows of one length, at least 1, each a distribution; throws invalid_argument
  // otherwise.
  explicit Simulation(std::array<std::vector<Rational>, kLeakyReports> rows);

  const std::vector<Rational>& row(LeakyReport report) const;
  std::size_t outcomes() const { return rows_.front().size(); }

  // The distribution of outcomes if the report has these chances.
  std::vector<Rational> apply(const LeakyPmf& report_chances) const;

  // An outcome for one report, with exactly the chances of its row.
  std::size_t sample(LeakyReport report, random::BitSource& bits) const;

 private:
  // A row over its common denominator: outcome i has the numbers from cumulative[i - 1] up to
  // cumulative[i].
  struct Weights {
    std::vector<numeric::BigInt> cumulative;
    numeric::BigInt denominator;
  };

  std::array<std::vector<Rational>, kLeakyReports> rows_;
  std::array<Weights, kLeakyReports> weights_;
};

// The map that turns leaky randomized response of 0 into `first` and of 1 into `second`, exactly.
// Throws invalid_argument for arguments out of range, as above, and with the excess and the
// least delta that works if the pair is not (ln alpha, delta)-private: then there is no such map.
Simulation simulate(std::span<const Rational> first, std::span<const Rational> second,
                    const Rational& alpha, const Rational& delta);

}  // namespace shoal::mechanism
