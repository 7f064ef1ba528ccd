// The loss between two mixtures of shifted normals of unit variance,
//   P = sum_j with[j] N(j mu, 1)  and  Q = sum_j without[j] N(-j mu, 1),
// which is what Gaussian noise becomes under Poisson sampling: a person removed has with = {1 - q,
// q} and without = {1}; one added the reverse (with x -> -x); one replaced has {1 - q, q} on both
// sides; a group of k has binomial weights. Proof that these pairs dominate:
// amplification.proof.md.
#pragma once

#include "privacy/loss_law.hpp"

#include <optional>
#include <utility>

namespace shoal::privacy {

class MixtureLaw final : public LossLaw {
 public:
  MixtureLaw(double mu, std::vector<double> with, std::vector<double> without);

  double infinite() const override;
  std::optional<Bounds> delta(double epsilon) const override;
  NodeTable nodes(double largest_tilt, double largest_frequency, double tolerance) const override;
  double decay(double tilt, double frequency, const NodeTable& nodes,
               const std::vector<double>& weight) const override;
  CellShares split(const std::vector<double>& boundaries) const override;
  double lowest_loss(double tail) const override;
  double highest_loss(double tail) const override;
  LawPointer without_tail(double tail) const override;
  double largest_loss() const override;

  // ln dP/dQ at x; it increases.
  double loss(double x) const;
  // The x at which the loss is this; -infinity or infinity outside its range.
  double place(double loss) const;

 private:
  struct Side {
    std::vector<double> weight;
    double sign;  // of the shifts
    // ln of the density relative to N(0, 1) at x, and its derivative by x.
    double log_ratio(double x, double mu) const;
    double slope(double x, double mu) const;
    // The argument of that density at x + iy, in [0, pi) for y in [0, pi / (order mu)).
    double angle(double x, double y, double mu) const;
    // ln of the weight of the unshifted part.
    double log_rest() const;
    double order() const { return static_cast<double>(weight.size() - 1); }
  };

  // Whether there are two parts on one side and one on the other.
  bool sampled_once() const { return with_.order() + without_.order() == 1; }
  std::pair<double, double> visible(double from, double to) const;
  void split_sampled(const std::vector<double>& boundaries, const std::vector<double>& places,
                     CellShares& shares) const;
  void split_any(const std::vector<double>& boundaries, const std::vector<double>& places,
                 CellShares& shares) const;
  double widest_strip() const;
  double decay_by_parts(double tilt, double frequency, const NodeTable& nodes,
                        const std::vector<double>& weight) const;

  // Each x is kept with the chance that N(x, width^2) stays under the limit; what is not kept is at
  // infinite loss. Smooth, so that the nodes lose no accuracy. No limit: nothing is cut.
  struct Cut {
    double limit;
    double width;
  };
  double log_kept(double x) const;
  double strip_growth() const { return cut_ ? 1 + 1 / (cut_->width * cut_->width) : 1; }

  std::optional<Cut> cut_;
  double mu_;
  Side with_;
  Side without_;
};

}  // namespace shoal::privacy
