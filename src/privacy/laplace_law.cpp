#include "privacy/laplace_law.hpp"

#include "privacy/cell_quadrature.hpp"
#include "privacy/cell_shares.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace shoal::privacy {
namespace {

// Pieces of the line between the ends on which fifteen nodes are used.
constexpr double kLongestPiece = 1.0;

}  // namespace

LaplaceLaw::LaplaceLaw(double epsilon, double rate, bool added)
    : epsilon_(epsilon), rate_(rate), added_(added) {}

double LaplaceLaw::sampled(double base) const {
  const double loss = rate_ == 1 ? base : log_mixed(rate_, base);
  return added_ ? -loss : loss;
}

double LaplaceLaw::unsampled(double loss) const {
  if (added_) loss = -loss;
  if (rate_ == 1) return loss;
  return log_unmixed(rate_, loss);
}

double LaplaceLaw::mass(double plain, double moved) const {
  return added_ ? plain : (1 - rate_) * plain + rate_ * moved;
}

double LaplaceLaw::mass_at(bool top) const {
  const double small = std::exp(-epsilon_) / 2;
  return top ? mass(small, 0.5) : mass(0.5, small);
}

std::vector<double> LaplaceLaw::atoms() const {
  const double a = sampled(-epsilon_);
  const double b = sampled(epsilon_);
  return {std::min(a, b), std::max(a, b)};
}

double LaplaceLaw::lowest_loss(double) const { return atoms().front(); }
double LaplaceLaw::highest_loss(double) const { return atoms().back(); }

// Without sampling delta is 1 - e^{(epsilon - epsilon_0)/2} between the ends; sampling is an affine
// map of X.
std::optional<Bounds> LaplaceLaw::delta(double epsilon) const {
  const double low = atoms().front();
  const double high = atoms().back();
  // The largest loss is known up to a few roundings; that much delta may be left there.
  const double uncertain = 16 * kRounding * (1 + std::abs(high) + epsilon_);
  if (epsilon >= high) return Bounds{0, epsilon > high + uncertain ? 0 : uncertain};
  if (epsilon <= low) {
    const double value = -std::expm1(epsilon);
    return Bounds{value * (1 - 4 * kRounding), std::min(1.0, value * (1 + 4 * kRounding))};
  }
  const double base = unsampled(epsilon);
  // Added: (P, Q) is (plain, mixture), and plain against moved looks the same as the reverse.
  const double inner = -std::expm1(((added_ ? -base : base) - epsilon_) / 2);
  const double factor = added_ ? rate_ * std::exp(epsilon + base) : rate_;
  const double value = factor * inner;
  // The inner difference may cancel near the end.
  const double error = kRounding * (64 + 16 * epsilon_) *
                       (value + factor * (1 + std::abs(base) + std::abs(epsilon)));
  return Bounds{std::max(0.0, value - error), std::min(1.0, value + error)};
}

NodeTable LaplaceLaw::nodes(double largest_tilt, double largest_frequency, double tolerance) const {
  NodeTable table;
  const auto add = [&](double base, double plain, double moved) {
    const double loss = sampled(base);
    if (!(mass(plain, moved) > 0)) return;  // too small for a double
    table.add(loss, std::log(mass(plain, moved)), 16 + 4 * epsilon_,
              4 * std::abs(loss) + 4 * epsilon_ + 2);
  };
  const double small = std::exp(-epsilon_) / 2;
  add(-epsilon_, 0.5, small);
  add(epsilon_, small, 0.5);
  // Between the ends: pieces short enough that the error of the rule, by the ellipse on which the
  // integrand is analytic, stays within the tolerance.
  using Rule = boost::math::quadrature::gauss<double, 15>;
  double length = std::min(kLongestPiece, 2 * epsilon_);
  const double power = largest_tilt + 2;
  for (int round = 0; round < 60; ++round) {
    double log_error = std::numeric_limits<double>::infinity();
    for (const double rho : {2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 256.0, 1024.0}) {
      const double imaginary = length / 2 * (rho - 1 / rho) / 2;
      const double real = length / 2 * ((rho + 1 / rho) / 2 - 1);
      if (imaginary > 1.5) break;
      // |1 - q + qX| lies between cos(imaginary / 2) times and once its value at the real part.
      log_error = std::min(log_error, power * real + largest_frequency * imaginary -
                                          largest_tilt * std::log(std::cos(imaginary / 2)) -
                                          30 * std::log(rho) + std::log(8 / 15.0 * 64));
    }
    if (log_error < std::log(tolerance)) break;
    length /= 2;
  }
  const auto pieces = static_cast<int>(std::ceil(2 * epsilon_ / length));
  length = 2 * epsilon_ / pieces;
  for (int piece = 0; piece < pieces; ++piece) {
    const double middle = -epsilon_ + (piece + 0.5) * length;
    for (std::size_t k = 0; k < Rule::abscissa().size(); ++k) {
      for (const double side : {1.0, -1.0}) {
        if (side < 0 && Rule::abscissa()[k] == 0) continue;
        const double base = middle + side * length / 2 * Rule::abscissa()[k];
        const double scale = length / 2 * Rule::weights()[k] / 4;
        add(base, scale * std::exp(-(base + epsilon_) / 2),
            scale * std::exp((base - epsilon_) / 2));
      }
    }
  }
  return table;
}

// Without sampling M(t) = ((t+1) e^{t epsilon} + t e^{-(t+1) epsilon}) / (2t + 1). With t = c + is
// the factor (t+1)/(2t+1) falls in s and t/(2t+1) stays below 1/2. With sampling nothing is
// claimed.
double LaplaceLaw::decay(double tilt, double frequency, const NodeTable&,
                         const std::vector<double>&) const {
  if (rate_ != 1) return 1;
  const double s2 = frequency * frequency;
  const double outer =
      std::sqrt(((tilt + 1) * (tilt + 1) + s2) / ((2 * tilt + 1) * (2 * tilt + 1) + 4 * s2));
  const double down = std::exp(-(2 * tilt + 1) * epsilon_);
  const double moment = ((tilt + 1) + tilt * down) / (2 * tilt + 1);
  return std::min(1.0, (outer + 0.5 * down) / moment * (1 + 1e-13));
}

// What lies between two losses, spread to them. The spread preserves the masses of the plain and of
// the moved noise, so it is the same before and after sampling, which is affine in X.
std::pair<double, double> LaplaceLaw::ends(double from, double to) const {
  double a = unsampled(from);
  double b = unsampled(to);
  if (added_) std::swap(a, b);
  a = std::max(a, -epsilon_);
  b = std::min(b, epsilon_);
  if (!(b > a)) return {0, 0};
  const double width = b - a;
  // Half of what a spread of the densities leaves at each end, without the exponentials there.
  const double half = std::pow(std::expm1(-width / 2), 2) / (-2 * std::expm1(-width));
  const double at_a =
      mass(half * std::exp(-(a + epsilon_) / 2), half * std::exp((a - epsilon_) / 2));
  const double at_b =
      mass(half * std::exp(-(b + epsilon_) / 2), half * std::exp((b - epsilon_) / 2));
  return added_ ? std::pair{at_b, at_a} : std::pair{at_a, at_b};
}

CellShares LaplaceLaw::split(const std::vector<double>& boundaries) const {
  const std::size_t cells = boundaries.size() - 1;
  CellShares shares(cells);
  const double bottom = atoms().front();
  const double top = atoms().back();

  for (std::size_t cell = 0; cell < cells; ++cell) {
    const double from = std::max(boundaries[cell], bottom);
    const double to = std::min(boundaries[cell + 1], top);
    const double width = boundaries[cell + 1] - boundaries[cell];
    shares.error[cell] = kRounding * (64 + 8 * epsilon_ + 16 * std::max(1.0, epsilon_) / width);
    if (!(to > from)) continue;
    const auto [at_from, at_to] = ends(from, to);
    if (from == boundaries[cell] && to == boundaries[cell + 1]) {
      shares.low[cell] += at_from;
      shares.high[cell] += at_to;
    } else {
      // The density ends inside this cell: what was spread to its ends is spread on to the cell's.
      add_point(shares, boundaries, cell, from, at_from);
      add_point(shares, boundaries, cell, to, at_to);
    }
  }
  shares.at_error = kRounding * (16 + 4 * epsilon_);
  add_atom(shares, boundaries, sampled(epsilon_), mass_at(true));
  add_atom(shares, boundaries, sampled(-epsilon_), mass_at(false));
  return shares;
}

}  // namespace shoal::privacy
