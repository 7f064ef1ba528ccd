// What every mechanism that chooses among candidates must offer, as a concept: the sister of
// mechanism.hpp, whose input is a score for each candidate instead of one number.
//
// All of them do the same thing: they add noise of their own law, `scale` times as wide, to each
// score and name the candidates with the highest sums, and nothing else. Scores are exact integers
// on a grid; the order of the noisy scores is decided exactly (selector.hpp), with no floating
// point. Epsilon is derived from the noise and the sensitivity of the scores, never stored beside
// them. Why one argument covers every law: src/mechanism/selection.proof.md.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/privacy/event.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::mechanism {

// Scores lie strictly between -2^96 and 2^96 steps.
inline constexpr Int128 kScoreLimit = static_cast<Int128>(1) << 96;

// No more than so many are chosen at once.
inline constexpr std::int64_t kMaxChoices = std::int64_t{1} << 20;

// How the scores of two neighbouring tables may differ.
enum class ScoreChange {
  two_sided,  // some may rise while others fall
  one_sided,  // "monotone": all that move, move the same way, as counts do if a person is added
};

std::string_view to_string(ScoreChange change);

// Between neighbours no score moves by more than `steps`, in the way that `change` says.
struct ScoreSensitivity {
  Sensitivity steps;
  ScoreChange change;
  bool operator==(const ScoreSensitivity&) const = default;
};

// The law of the noise X that is added to each score, as score + scale * X.
enum class ScoreNoise {
  exponential,  // P(X > x) = exp(-x), x >= 0
  laplace,      // an exponential number with a fair sign
  gumbel,       // minus the logarithm of an exponential number
};

// All that selector.hpp needs to know of a mechanism: the `count` highest sums win.
struct SelectionNoise {
  ScoreNoise law;
  double scale;
  std::int64_t count;
  bool operator==(const SelectionNoise&) const = default;
};

// How many candidates there are, and how many of them are known to share the highest score (one, if
// nothing is known). Both are public.
struct CandidateCount {
  std::int64_t all;
  std::int64_t best = 1;
  bool operator==(const CandidateCount&) const = default;
};

// Scores of two neighbours, and the choice that tells them apart best: likelier by nearly e^epsilon
// under `second`.
struct AuditScores {
  std::vector<Int128> first;
  std::vector<Int128> second;
  std::vector<std::size_t> choice;
  bool operator==(const AuditScores&) const = default;
};

// For a spec s that validate accepts (every other function throws invalid_argument for one that it
// does not):
//
//   validate(s)                      throws invalid_argument if a parameter is out of range
//   selection_noise(s)               the noise; Selector and select(s, scores, bits) use it
//   log_probability(s, scores, c)    natural logarithm of P(the choice is c, in this order), an
//                                    approximation: for audits and tests
//   privacy_event(s, sensitivity)    what telling the choice does to the data
//   loss_bound(s, candidates, conf)  w such that with chance conf the j-th of those chosen scores
//   at
//                                    least the j-th highest score minus w: certified
//   audit_target(s, sensitivity)     a pair of neighbours that is nearly the worst
//   name(s), describe(s)             its name in JSON; one line for people
//   to_json(s), from_json(t, s)      {"<name>": {"<parameter>": number}}; reading throws
//                                    parse_error
template <class Spec>
concept Selection = std::regular<Spec> &&
    requires(const Spec spec, Spec& target, std::span<const Int128> scores,
             std::span<const std::size_t> choice, ScoreSensitivity sensitivity,
             CandidateCount candidates, Confidence confidence, std::string_view text) {
  { validate(spec) } -> std::same_as<void>;
  { selection_noise(spec) } -> std::same_as<SelectionNoise>;
  { log_probability(spec, scores, choice) } -> std::same_as<double>;
  { privacy_event(spec, sensitivity) } -> std::same_as<privacy::Event>;
  { loss_bound(spec, candidates, confidence) } -> std::same_as<double>;
  { audit_target(spec, sensitivity) } -> std::same_as<AuditScores>;
  { name(spec) } -> std::same_as<std::string_view>;
  { describe(spec) } -> std::same_as<std::string>;
  { to_json(spec) } -> std::same_as<std::string>;
  { from_json(text, target) } -> std::same_as<void>;
};

// The epsilon of one choice with noise of this scale, rounded up: 2 steps / scale if the change is
// two-sided, steps / scale if it is one-sided.
double selection_epsilon(double scale, const ScoreSensitivity& sensitivity);

// The smallest scale whose epsilon is at most this one. Throws invalid_argument if that scale is
// out of range, as it is for epsilon 0.
double selection_scale(Epsilon epsilon, const ScoreSensitivity& sensitivity);

// The loss of the exponential mechanism as textbooks have it: with chance at most 1 - confidence
// the score chosen is as low as the highest one minus this, scale * (ln(all / best) + ln(1 / (1 -
// confidence))), rounded up. loss_bound is smaller, for it and for permute-and-flip.
double textbook_loss(double scale, CandidateCount candidates, Confidence confidence);

}  // namespace shoal::mechanism
