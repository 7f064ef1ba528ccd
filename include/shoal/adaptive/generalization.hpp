// How far an answer from a sample may be from the truth about the population, when each question
// may depend on the answers before it: the bounds by name, each solved for any of its numbers.
//
// Setting: n independent rows of one distribution, n fixed and public; at most k statistical
// questions, each the mean of a function of a row into [0, 1]; k fixed in advance. A bound says:
// with the stated confidence all k answers are within `width` of the population's means at once.
// Those marked adaptive hold however the questions are chosen from earlier answers, if the analyst
// has no other access to the sample; the others hold for questions fixed in advance. Bounds with
// noise assume independent Gaussian noise of standard deviation sigma on each answer, continuous or
// rounded afterwards, and state the best sigma. Privacy is under replace_one.
//
// Widths are upper bounds at the parameters found; a search that goes wrong can waste width only.
// Proofs and sources: src/adaptive/generalization.proof.md.
#pragma once

#include <shoal/base/quantity.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace shoal::adaptive {

enum class Bound {
  hoeffding,       // one question, fixed in advance
  union_bound,     // k questions, fixed in advance
  splitting,       // k adaptive questions, each on its own part of the sample
  dfhprr,          // Dwork, Feldman, Hardt, Pitassi, Reingold and Roth 2015
  bnsssu,          // Bassily, Nissim, Smith, Steinke, Stemmer and Ullman 2016
  jlnrss,          // Jung, Ligett, Neel, Roth, Sharifi-Malvajerdi and Shenfeld 2019
  rogers,          // Rogers, Roth, Smith, Srebro, Thakkar and Woodworth 2019
  tanh_posterior,  // the posterior of a row, in total variation, from (epsilon, delta)
  kl_posterior,    // the same from the mutual information of Gaussian answers
};

std::span<const Bound> all_bounds();
std::string_view to_string(Bound bound);
// Throws invalid_argument, with the names there are.
Bound parse_bound(std::string_view name);
// Who published it, and what it needs, in a few words.
std::string_view describe(Bound bound);
bool is_adaptive(Bound bound);
bool has_noise(Bound bound);

// What a bound is asked about.
struct Sample {
  double rows;            // n >= 1
  double questions;       // k >= 1
  Confidence confidence;  // that all answers hold at once
};

// A width and the parameters that it was found at; those that a bound does not have are 0.
struct Width {
  double width = 0;  // infinite if the bound says nothing
  double sigma = 0;
  double epsilon = 0;
  double delta = 0;
  double slack = 0;  // the theorem's c
  double answer_miss =
      0;  // chance that some answer is further from the sample than the noise's part
  bool operator==(const Width&) const = default;
};

// Throws invalid_argument unless 1 <= rows, questions <= 1e15.
Width width_of(Bound bound, const Sample& sample);

// The fewest rows for a width, the most questions (0 if not even one), the highest confidence (0 if
// the bound says nothing): each within the last digit, or 1e-6 of it for numbers that are not
// whole. Infinite if no number of rows up to 1e15 does.
double rows_for(Bound bound, double width, double questions, Confidence confidence);
double questions_for(Bound bound, double width, double rows, Confidence confidence);
double confidence_for(Bound bound, double width, double rows, double questions);

struct NamedWidth {
  Bound bound;
  Width width;
};

// All of them, in the order of all_bounds; and the least of those that hold for adaptive questions.
std::vector<NamedWidth> all_widths(const Sample& sample);
NamedWidth best_adaptive(const Sample& sample);

// The width for answers with Gaussian noise of a given sigma, by the better of tanh_posterior and
// kl_posterior.
NamedWidth width_at_sigma(const Sample& sample, double sigma);

// For a mechanism of any kind: all answers together (epsilon, delta)-private under replace_one, and
// within `accuracy` of the sample's means except with chance `miss`. The widths by the
// tanh-posterior theorem and by that of Jung et al.; infinite where miss or delta leave nothing.
double tanh_transfer(double accuracy, double miss, double epsilon, double delta,
                     Confidence confidence);
double jlnrss_transfer(double accuracy, double miss, double epsilon, double delta,
                       Confidence confidence);

// |E h(S) - E h(P)| of an h chosen by an (epsilon, delta)-private analysis: tanh(epsilon / 2) + 2
// delta / (e^epsilon + 1), rounded up. In expectation only; the best possible.
double expectation_gap(double epsilon, double delta);

}  // namespace shoal::adaptive
