// The privacy-loss random variable: L = ln(P(y) / Q(y)) of an output y drawn from P, where P and Q
// are the outputs on two neighbouring tables. The more it lies above 0, the more the output speaks
// for P.
//
// What is looked at is the pair that dominates the event: every other pair of neighbours is no
// easier to tell apart. Its masses at infinity and its tails are certified; mean, variance and
// table are numbers for people and pictures, good to several digits but no bounds, and nothing may
// be charged by them.
//
// Gaussian noise of mu = sensitivity / sigma has mean mu^2 / 2 and variance mu^2. Means and
// variances of composed events add up. Proof: privacy_loss.proof.md.
#pragma once

#include <shoal/base/neighbors.hpp>
#include <shoal/privacy/event.hpp>
#include <shoal/privacy/profile.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace shoal::privacy {

struct LossPoint {
  double loss = 0;
  double mass = 0;
};

// By increasing loss. With a step, each mass stands for an interval so wide around its loss, and
// mass / step is a density; without, the masses are where they are said to be.
struct LossTable {
  std::vector<LossPoint> points;
  double step = 0;
  double infinite = 0;
  // Whether the masses are the law's own, but for rounding: finitely many losses. Else they are an
  // approximation.
  bool exact = false;
};

class PrivacyLoss {
 public:
  // P is the output with the person and Q the one without; and the reverse. Under replace_one they
  // are the two tables. Throws unsupported if the relation does not fit the event, and for zcdp and
  // rdp events, which state moments of the loss and not its law.
  static PrivacyLoss removed(const Event& event, Neighbors neighbors, ProfileOptions options = {});
  static PrivacyLoss added(const Event& event, Neighbors neighbors, ProfileOptions options = {});
  ~PrivacyLoss();
  PrivacyLoss(PrivacyLoss&&) noexcept;
  PrivacyLoss& operator=(PrivacyLoss&&) noexcept;

  // P(L = infinity): the output gives P away for certain. Certified.
  Bounds infinite() const;

  // P(L > x), infinity included, for any finite x. Certified: both bounds hold for every pair whose
  // profile lies within the accountant's bounds. They are close where the law has a density; at a
  // loss that has a mass of its own the lower bound is without it and the upper one with it.
  Bounds tail(double x) const;

  // The Kullback-Leibler divergence of P and Q; infinite if L may be. An approximation.
  double mean() const;
  double variance() const;

  // About so many points that hold all but 1e-9 of the finite mass, for plotting. From 10 to
  // 100000.
  LossTable table(std::size_t points = 400) const;

 private:
  struct Parts;
  explicit PrivacyLoss(std::unique_ptr<const Parts> parts);
  std::unique_ptr<const Parts> parts_;
};

}  // namespace shoal::privacy
