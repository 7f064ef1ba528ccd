// Questions a second: the sparse vector with exact noise against the same in floating point with
// the standard library's logarithm, and what a holdout and a Ladder add to evaluating the question.
#include "../noise/measure.hpp"

#include <shoal/adaptive/holdout.hpp>
#include <shoal/adaptive/ladder.hpp>
#include <shoal/mechanism/sparse_calibration.hpp>
#include <shoal/mechanism/threshold_watch.hpp>
#include <shoal/random/secure_source.hpp>

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace {

using namespace shoal;
using bench::Contestant;

constexpr std::size_t kQuestions = 1 << 16;
constexpr std::int64_t kRows = 10'000;

double exponential(random::BitSource& bits) {
  return -std::log((static_cast<double>(bits.next_bits(52)) + 0.5) * 0x1p-52);
}

}  // namespace

int main() {
  random::SecureSource bits;
  std::vector<std::int64_t> excesses(kQuestions, -100'000);
  std::vector<mechanism::Verdict> verdicts(kQuestions);
  std::vector<Contestant> contestants;
  std::vector<mechanism::ThresholdWatch> watches;
  watches.reserve(3);
  for (const auto noise : {mechanism::SparseNoise::geometric, mechanism::SparseNoise::laplace,
                           mechanism::SparseNoise::gaussian}) {
    mechanism::SparseVector spec;
    spec.noise = noise;
    spec.threshold_scale = 12;
    spec.query_scale = 220;
    spec.hits = 10;
    spec.questions = noise == mechanism::SparseNoise::gaussian ? std::int64_t{1} << 50 : 0;
    watches.emplace_back(spec, bits);
  }
  const char* names[] = {"geometric, exact", "laplace, exact", "gaussian, exact"};
  for (std::size_t i = 0; i < watches.size(); ++i) {
    contestants.push_back({"questions", 0, names[i], kQuestions, [&, i] {
                             watches[i].ask(excesses, verdicts);
                             bench::keep(verdicts.data());
                           }});
  }
  contestants.push_back({"questions", 0, "geometric, one by one", kQuestions, [&] {
                           for (std::size_t i = 0; i < kQuestions; ++i) {
                             verdicts[i] = watches[0].ask(excesses[i], 0).verdict;
                           }
                           bench::keep(verdicts.data());
                         }});
  contestants.push_back(
      {"questions", 0, "floating point", kQuestions, [&] {
         const double threshold = 12 * exponential(bits);
         for (std::size_t i = 0; i < kQuestions; ++i) {
           const double noisy = static_cast<double>(excesses[i]) + 220 * exponential(bits);
           verdicts[i] = noisy >= threshold ? mechanism::Verdict::above : mechanism::Verdict::below;
         }
         bench::keep(verdicts.data());
       }});
  bench::race(contestants, 60);
  const double exact = contestants.front().nanoseconds;
  for (const Contestant& one : contestants) {
    fmt::print("{:<24} {:8.2f} ns a question, {:8.1f} million a second, {:5.2f} times the first\n",
               one.name, one.nanoseconds, 1e3 / one.nanoseconds, one.nanoseconds / exact);
  }

  const std::vector<double> values(kRows, 0.5);
  adaptive::Holdout holdout(adaptive::plan_holdout({.rows = kRows,
                                                    .questions = 1'000'000'000,
                                                    .disagreements = 20,
                                                    .confidence = Confidence(0.95),
                                                    .epsilon = Epsilon(4)}),
                            bits);
  adaptive::Ladder ladder(
      adaptive::plan_ladder(
          {.rows = kRows, .submissions = 1'000'000'000, .confidence = Confidence(0.95)}),
      bits);
  std::vector<Contestant> rows;
  rows.push_back({"rows", 0, "evaluating the question", kRows, [&] {
                    const Int128 sum = adaptive::grid_sum(values);
                    bench::keep(&sum);
                  }});
  rows.push_back({"rows", 0, "holdout", kRows, [&] {
                    const double value = holdout.ask(0.5, values).value;
                    bench::keep(&value);
                  }});
  rows.push_back({"rows", 0, "ladder", kRows, [&] {
                    const double value = ladder.submit(values).best;
                    bench::keep(&value);
                  }});
  bench::race(rows, 60);
  for (const Contestant& one : rows) {
    fmt::print("{:<24} {:8.3f} ns a row, {:5.2f} times evaluating\n", one.name, one.nanoseconds,
               one.nanoseconds / rows.front().nanoseconds);
  }
  return 0;
}
