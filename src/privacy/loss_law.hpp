// Laws of the privacy loss: for a pair (P, Q) of output distributions that dominates an event, the
// law of L = ln dP/dQ under P. A law answers two engines:
//
// - the contour (contour.hpp), with a table of nodes: points l_i and masses p_i whose sum
//   sum p_i e^{t l_i} is the moment M(t) = E_P[e^{tL}; L < infinity], within a stated error, for
//   all complex t on a vertical line;
// - loss distributions on a lattice (lattice_law.hpp), with the shares of each cell: what a
//   mean-preserving spread of dP/dQ puts on the two ends.
//
// Private to the accountant. Invariants: masses are those of P, so they add up to 1 together with
// the mass at infinity; dP/dQ = e^L has mean at most 1 under Q.
#pragma once

#include <shoal/privacy/profile.hpp>

#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace shoal::privacy {

// Half the distance between 1 and the next double: the largest relative error of one rounding.
inline constexpr double kRounding = 0x1p-53;

struct NodeTable {
  std::vector<double> loss;
  std::vector<double> log_mass;
  // In units of kRounding: relative error of the mass, and absolute error of the loss.
  std::vector<double> mass_error;
  std::vector<double> loss_error;
  // For mixtures of normals: where the node lies, the slopes there of ln P and of ln Q (relative to
  // the unshifted normal), and the distance of neighbouring nodes.
  std::vector<double> place;
  std::vector<double> slope_with;
  std::vector<double> slope_without;
  double step = 0;
  // Not set if there would have been too many nodes: then they are only a guide.
  bool reliable = true;

  std::size_t size() const { return loss.size(); }
  void add(double l, double log_p, double relative_error, double absolute_error) {
    loss.push_back(l);
    log_mass.push_back(log_p);
    mass_error.push_back(relative_error);
    loss_error.push_back(absolute_error);
  }
};

// What a mean-preserving spread of dP/dQ puts, as masses of P, on the lower and the upper end of
// each cell between neighbouring boundaries.
struct CellShares {
  explicit CellShares(std::size_t cells) : low(cells), high(cells), error(cells), at(cells + 1) {}

  std::vector<double> low;
  std::vector<double> high;
  std::vector<double> error;        // relative, of both shares of each cell
  std::vector<double> at;           // masses that lie on a boundary as they are
  double at_error = 8 * kRounding;  // relative, of those
  double below = 0;                 // at least the mass of P under the first boundary
  double above = 0;                 // at least the mass of P over the last one, without infinity
  double above_lowered = 0;  // at most what is left of it when the loss is lowered to that boundary
  double loss_error = 0;     // how far a boundary may lie from where it was asked for
};

class LossLaw {
 public:
  virtual ~LossLaw() = default;

  // At least, and at most, the mass at infinite loss.
  virtual double infinite() const { return 0; }
  virtual double infinite_down() const { return 0; }

  // Whether the nodes stand for the moment within the tolerance; if not, they only guide.
  virtual bool smooth() const { return true; }

  // delta of this law alone, infinity included, where there is a formula.
  virtual std::optional<Bounds> delta(double epsilon) const {
    static_cast<void>(epsilon);
    return std::nullopt;
  }

  // Nodes for tilts t = c + is with 0 <= c <= largest_tilt and |s| <= largest_frequency, so that
  // the error of the moment that comes from there being finitely many is at most `tolerance`.
  virtual NodeTable nodes(double largest_tilt, double largest_frequency,
                          double tolerance) const = 0;

  // An upper bound of |M(c + is)| / M(c) for every s >= frequency. `weight` are the normalised
  // masses p_i e^{c l_i} of the nodes.
  virtual double decay(double tilt, double frequency, const NodeTable& nodes,
                       const std::vector<double>& weight) const = 0;

  // boundaries increase.
  virtual CellShares split(const std::vector<double>& boundaries) const = 0;

  // Losses between which all of the mass lies but at most `tail` of P at each end (and infinity).
  virtual double lowest_loss(double tail) const = 0;
  virtual double highest_loss(double tail) const = 0;

  // The same law with its largest losses, of at most `tail` of P together, moved to infinity, in a
  // way that keeps it smooth; null if it has no such form. Rare enormous losses would otherwise
  // rule the moments at high tilts.
  virtual std::shared_ptr<const LossLaw> without_tail(double tail) const {
    static_cast<void>(tail);
    return nullptr;
  }

  // The supremum of the finite losses.
  virtual double largest_loss() const = 0;

  // Losses that have a mass of their own: a lattice should meet them; and whether that is all.
  virtual std::vector<double> atoms() const { return {}; }
  virtual bool only_atoms() const { return false; }
};

using LawPointer = std::shared_ptr<const LossLaw>;

struct CountedLaw {
  LawPointer law;
  double count = 1;
};

// Bounds of the logarithm of a delta.
struct LogBounds {
  double lower = 0;
  double upper = 0;
};

// ln(1 - rate + rate e^z), the loss of a sampled event. Near 1 the logarithm needs the difference
// from 1, near 0 the sum itself.
inline double log_mixed(double rate, double z) {
  if (z > 40) return z + std::log(rate + (1 - rate) * std::exp(-z));
  const double difference = rate * std::expm1(z);
  return difference > -0.5 ? std::log1p(difference) : std::log((1 - rate) + rate * std::exp(z));
}

// Its inverse, ln((e^loss - 1 + rate) / rate); -infinity under its range.
inline double log_unmixed(double rate, double loss) {
  if (loss > 40) return loss - std::log(rate);  // e^-40 is less than a rounding
  const double difference = std::expm1(loss) / rate;
  if (difference > -0.5) return std::log1p(difference);
  const double sum = std::exp(loss) - (1 - rate);
  return sum > 0 ? std::log(sum / rate) : -HUGE_VAL;
}

// An upper bound that may have come out as anything: not a number is the trivial bound, and nothing
// is below 0.
inline double sound_upper(double value) {
  if (value >= 0) return value;
  return value < 0 ? 0 : HUGE_VAL;
}

// A target ln delta comes rounded down, for upper bounds of epsilon; lower bounds take this one,
// which is above whatever it was rounded from.
inline double raised_target(double log_delta) {
  return log_delta + 16 * kRounding * (1 - log_delta);
}

}  // namespace shoal::privacy
