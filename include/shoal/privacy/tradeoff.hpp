// The hypothesis-testing view of privacy: how well can anybody tell, from all that was released,
// whether a person is in the data?
//
// A test has a rate of false positives a (it says "there" of somebody who is not) and one of false
// negatives b. The trade-off function f(a) is the smallest b at a, over all tests; more precisely
// the largest convex curve with every test on or above it. 1 - a is blind guessing, 0 is no privacy
// at all. It carries the same information as the profile (Dong, Roth and Su 2022):
//   f(a) = sup over all real epsilon of 1 - delta(epsilon) - e^epsilon a.
//
// Bounds provably bracket f, in each direction by itself. Arguments outside the stated ranges throw
// invalid_argument. Proofs: tradeoff.proof.md.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/privacy/composition.hpp>
#include <shoal/privacy/event.hpp>
#include <shoal/privacy/profile.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace shoal::privacy {

// How well somebody guesses whether the person is in, who before gave it this chance.
struct MembershipRisk {
  double prior = 0.5;
  double blind = 0.5;  // right without looking: the larger of prior and 1 - prior
  Bounds right;        // the chance of being right with the best guess from what was released
};

class TradeOff {
 public:
  // Throws unsupported if the relation does not fit the event.
  TradeOff(const Event& event, Neighbors neighbors, ProfileOptions options = {});
  ~TradeOff();
  TradeOff(TradeOff&&) noexcept;
  TradeOff& operator=(TradeOff&&) noexcept;

  // The smallest rate of false negatives of a test that takes "not there" for granted until shown
  // otherwise, as membership inference does; of one that takes "there" for granted; and of the
  // better of both. Under replace_one "there" is one table and "not there" the other. The bounds
  // are brought within `gap` of each other if the profile is known so well. Requires
  // false_positive in [0, 1] and gap from 1e-12 to 1.
  Bounds finding_presence(double false_positive, double gap = 1e-7) const;
  Bounds finding_absence(double false_positive, double gap = 1e-7) const;
  Bounds false_negative(double false_positive, double gap = 1e-7) const;

  // For a prior in (0, 1): max(1 - a, ...) = 1 - p + p delta(ln((1 - p) / p)), which is
  // (1 + delta(0)) / 2 at p = 1/2.
  MembershipRisk membership(double prior) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

// Of everything that is (epsilon, delta)-differentially private:
// max(0, 1 - delta - e^epsilon a, e^-epsilon (1 - delta - a)), which leaky randomized response
// attains.
Bounds epsilon_delta_tradeoff(const Guarantee& guarantee, double false_positive);

// Of several such guarantees that hold together: the largest of them, rounded down.
double tradeoff_of_guarantees_down(std::span<const Guarantee> guarantees, double false_positive);

// Of mu-Gaussian differential privacy: Phi(Phi^-1(1 - a) - mu). mu in [0, 1000].
Bounds gdp_tradeoff(double mu, double false_positive);

struct TradeOffPoint {
  double false_positive = 0;
  Bounds false_negative;
};

// And back: delta at any finite epsilon of a trade-off function that is convex and lies within the
// points' bounds. One or more points, by increasing false_positive, within [0, 1].
Bounds delta_of_tradeoff(std::span<const TradeOffPoint> points, double epsilon);

// The chance with which a prior ends at most, after an answer whose privacy loss is at most
// epsilon: the odds grow by e^epsilon. prior in [0, 1], epsilon >= 0.
double posterior_up(double prior, double epsilon);

// The same risk from a guarantee alone: with the prior 1/2, (e^epsilon + delta) / (1 + e^epsilon).
double membership_up(const Guarantee& guarantee, double prior);

// Sentences for people, without formulas.
std::vector<std::string> in_words(const MembershipRisk& risk);

}  // namespace shoal::privacy
