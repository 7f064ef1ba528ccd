// BLR, also called SmallDB (Blum, Ligett and Roth 2008): of all tables of m rows over a universe,
// one is drawn with probability proportional to exp(epsilon n u / 2), where n is the number of rows
// and u = -max over the queries of |answer of the data - answer of the table|. It is
// epsilon-differentially private; neighbours exchange one row, and n is public.
//
// Base measure: uniform over histograms, that is multisets of m rows, as Dwork and Roth have it.
// (Uniform over sequences is another mechanism, with the same guarantee; blr_law has both.)
// The law is sampled exactly: by going through all histograms, or by rejection without floating
// point. Proof note: src/synth/blr.proof.md.
#pragma once

#include <shoal/random/bit_source.hpp>
#include <shoal/release/histogram_curator.hpp>
#include <shoal/synth/linear_queries.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace shoal::synth {

// The facts that decide what is feasible. All public.
struct BlrProblem {
  std::int64_t universe = 0;
  std::int64_t queries = 0;
  std::int64_t rows = 0;  // n
  double epsilon = 0;
};

// The smallest m for which a table within alpha of every query surely exists: by Hoeffding's bound
// and a union bound floor(ln(2|Q|) / (2 alpha^2)) + 1; as lecture notes have it ceil(ln|Q| /
// alpha^2). Throw invalid_argument unless 0 < alpha < 1 and there are queries.
std::int64_t blr_size_sharp(std::int64_t queries, double alpha);
std::int64_t blr_size_notes(std::int64_t queries, double alpha);

// The accuracy theorem: except with probability beta, every query is within this of the truth, if m
// rows are drawn (of no use from 1 up): sqrt(ln(2|Q|) / (2m)) + 2 / (epsilon n) (ln C(|X| + m - 1,
// m) + ln(1 / beta)).
double blr_error_bound(const BlrProblem& problem, std::int64_t size, double beta);
// The m for which that is least.
std::int64_t blr_best_size(const BlrProblem& problem, double beta);
// The bound of Dwork and Roth, theorem 4.5: ((16 ln|X| ln|Q| + 4 ln(1 / beta)) / (epsilon
// n))^(1/3).
double blr_textbook_bound(const BlrProblem& problem, double beta);

// C(|X| + m - 1, m), how many histograms there are; int64's largest value if that is smaller.
std::int64_t blr_candidates(std::int64_t universe, std::int64_t size);

// Whether all tables of m rows can be gone through, in minutes at most. No m beyond kMaxBlrSize
// can.
inline constexpr std::int64_t kMaxBlrSize = 1'000'000'000;
bool blr_enumerable(const BlrProblem& problem, std::int64_t size);
// The largest m up to `most` for which they can; 0 if there is none.
std::int64_t blr_largest_size(const BlrProblem& problem, std::int64_t most);

enum class BlrSampling { enumeration, rejection };

// How m rows can be drawn. Throws unsupported if neither way is feasible, with the largest size
// that is and the method to use instead.
BlrSampling blr_feasible(const BlrProblem& problem, std::int64_t size);

// A histogram over the universe: how often each element is in the table drawn. The curator must
// have been given these queries. Throws as blr_feasible does, before anything is spent.
std::vector<std::int64_t> blr(release::HistogramCurator& curator,
                              std::span<const LinearQuery> queries, std::int64_t size,
                              double epsilon, random::BitSource& bits);

enum class BlrBase { histograms, sequences };

// One table of BLR and how likely it is.
struct BlrOutcome {
  std::vector<std::int64_t> histogram;
  double probability;
};

// The whole law, in the order of enumeration: for audits and teaching, on data that is public.
std::vector<BlrOutcome> blr_law(std::span<const std::int64_t> data,
                                std::span<const LinearQuery> queries, std::int64_t size,
                                double epsilon, BlrBase base);

}  // namespace shoal::synth
