// Sparse vector: any number of questions "is this value above that threshold?", of which only those
// that are answered with above cost anything. It stops after `hits` of them.
//
// A question is an integer value and an integer threshold on one grid; all that matters is the
// excess, value minus threshold. The answer is above if excess + (noise of the question) >= (noise
// of the threshold), else below. Values between neighbours move by at most the sensitivity, which
// must be stated: without it there is no guarantee. Three laws of noise, all drawn exactly on the
// integers; the default is one-sided geometric noise, which has half the variance of Laplace noise
// at the same epsilon. The interactive object is ThresholdWatch (threshold_watch.hpp); scales are
// found in sparse_calibration.hpp. Proof note: src/mechanism/sparse_vector.proof.md.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/mechanism/selection.hpp>
#include <shoal/privacy/event.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::mechanism {

enum class SparseNoise {
  geometric,  // P(x) proportional to exp(-x / scale), x >= 0
  laplace,    // P(x) proportional to exp(-|x| / scale)
  gaussian,   // P(x) proportional to exp(-x^2 / (2 scale^2))
};

// "geometric", "laplace", "gaussian". Parsing throws invalid_argument.
std::string_view to_string(SparseNoise noise);
SparseNoise parse_sparse_noise(std::string_view text);

// Scales in grid steps, from 2^-10 to 2^50; the doubles stand for their exact values.
struct SparseVector {
  SparseNoise noise = SparseNoise::geometric;
  double threshold_scale = 0;  // to be set: 0 is refused
  double query_scale = 0;      // likewise
  std::int64_t hits = 0;       // answers above before it stops, from 1 to 2^20
  bool redraw = false;      // the threshold's noise is drawn anew after each hit, not once for all
  bool gap = false;         // a hit also tells by how much: at no cost. Not with Gaussian noise
  double answer_scale = 0;  // a hit also tells the value, with fresh discrete Laplace noise; 0: not
  std::int64_t questions = 0;  // it stops after so many; 0: never. Gaussian noise needs a limit
  bool operator==(const SparseVector&) const = default;
};

enum class Verdict : std::uint8_t { below, above, halted };

std::string_view to_string(Verdict verdict);

// Throws invalid_argument if a parameter is out of range. So does every function below.
void validate(const SparseVector& spec);

// What all answers together do to the data. Of one-sided values ("monotone": between neighbours all
// that move, move the same way) the noise of the questions counts half.
privacy::Event privacy_event(const SparseVector& spec, ScoreSensitivity sensitivity);

// The epsilon of all answers together, rounded up, without composition theorems: infinite for
// Gaussian noise.
double sparse_epsilon(const SparseVector& spec, const ScoreSensitivity& sensitivity);

// ln P(verdicts | excesses), for verdicts below and above of the first questions: approximate, to
// about 12 digits; for audits and tests. Throws unsupported for scales above 2^20.
double log_probability(const SparseVector& spec, std::span<const Int128> excesses,
                       std::span<const Verdict> verdicts);
// The same where each hit tells its gap, one for each verdict (ignored where it is below).
double log_probability(const SparseVector& spec, std::span<const Int128> excesses,
                       std::span<const Verdict> verdicts, std::span<const Int128> gaps);

// How far the verdicts may be from the truth: with the stated chance, of the first `questions` all
// that are above have an excess of at least -short_of, all that are below have one of at most over.
struct SparseError {
  double short_of;
  double over;
};
SparseError error_bounds(const SparseVector& spec, std::int64_t questions, Confidence confidence);

// What to add to a threshold so that an excess of 0 is above about as often as below: the mean of
// the question's noise less that of the threshold's. A constant of the spec, so it costs nothing.
Int128 centring_shift(const SparseVector& spec);

// Excesses of two neighbours and verdicts that tell them apart well: likelier under `first`.
struct SparseTarget {
  std::vector<Int128> first;
  std::vector<Int128> second;
  std::vector<Verdict> verdicts;
};
SparseTarget audit_target(const SparseVector& spec, ScoreSensitivity sensitivity);

// A value that one person can move over its whole range is not an aggregate but a question about
// that person: noise of that width leaves nothing of it. Throws invalid_argument, with the remedy,
// unless sensitivity < highest - lowest.
void require_aggregate(const ScoreSensitivity& sensitivity, Int128 lowest, Int128 highest);

std::string_view name(const SparseVector& spec);
std::string describe(const SparseVector& spec);
std::string to_json(const SparseVector& spec);
void from_json(std::string_view text, SparseVector& spec);

}  // namespace shoal::mechanism
