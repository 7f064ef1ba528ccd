// Does a sampler draw from the law that its pmf states? Pearson's chi-square, twice: over cells of
// neighbouring values, and over residues modulo 8, which see what wide cells do not, such as a lost
// lowest bit. Beside it, values that the law all but never gives.
//
// The values come in blocks and are not kept: memory does not grow with their number. A falsifier:
// it can show that a sampler is wrong; it cannot show that one is right.
#pragma once

#include <shoal/mechanism/registry.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace shoal::audit {

// A statistic and P(a right sampler gives at least this one). With 0 degrees of freedom there was
// nothing to compare: the p-value is 1.
struct ChiSquare {
  double statistic = 0;
  int degrees = 0;
  double p_value = 1;
};

struct GoodnessOfFit {
  std::int64_t count = 0;
  double mean = 0;
  double standard_deviation = 0;
  double exact_mean = 0;
  double exact_standard_deviation = 0;
  ChiSquare cells;
  ChiSquare residues;
  // Values so far out that a right sampler gives even one of them with probability at most 10^-9.
  std::int64_t outside = 0;
  // A right sampler gives at most t with probability about t: twice the smaller p-value of the two
  // tests, and at most 10^-9 if a value lay outside.
  double p_value = 1;
};

// The test of `count` values from a law. Everything that has to be known of the law is computed
// when the test is made, from log_pmf alone.
class GoodnessTest {
 public:
  // Throws invalid_argument unless the spec is valid and kLeastCount <= count <= kMostCount.
  GoodnessTest(const mechanism::AnyMechanism& spec, std::int64_t count);

  void add(std::span<const std::int64_t> values);

  // Throws invalid_argument unless exactly `count` values were added: the cells were made for them.
  GoodnessOfFit result() const;

  static constexpr std::int64_t kLeastCount = 1000;
  static constexpr std::int64_t kMostCount = 1'000'000'000'000;

 private:
  // Outcomes, joined with their neighbours until each cell is expected often enough.
  struct Cells {
    Cells() = default;
    Cells(std::span<const double> expected_outcomes, double least);
    void hit(std::size_t outcome) { ++observed[cell_of[outcome]]; }
    ChiSquare test() const;

    std::vector<std::uint32_t> cell_of;  // by outcome
    std::vector<double> expected;
    std::vector<std::int64_t> observed;
  };

  // Which run of block_ neighbouring values a value is in. 0 is one of its own; those of negative
  // values are negative.
  std::int64_t block_of(std::int64_t value) const;

  std::int64_t count_;
  std::int64_t block_ = 1;  // values in a block, odd
  std::int64_t reach_ = 0;  // the last block on either side that a right sampler may give
  double outside_chance_ = 0;
  double exact_standard_deviation_ = 0;
  Cells cells_;     // by block + reach_
  Cells residues_;  // by value modulo 8
  std::int64_t added_ = 0;
  std::int64_t outside_ = 0;
  Int128 sum_ = 0;
  double sum_of_squares_ = 0;
};

// A sampler passes at or above this p-value: a right one fails about once in a million runs.
inline constexpr double kLeastPValue = 1e-6;

}  // namespace shoal::audit
