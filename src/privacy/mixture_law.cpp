#include "privacy/mixture_law.hpp"

#include "privacy/cell_quadrature.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <utility>

namespace shoal::privacy {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLogRootTwoPi = 0.91893853320467274178;

double upper_tail(double x) { return 0.5 * std::erfc(x / std::numbers::sqrt2); }

// A distance from the centre beyond which a standard normal has at most this mass.
double reach(double tail) { return std::sqrt(2 * std::max(1.0, -std::log(tail))); }

}  // namespace

MixtureLaw::MixtureLaw(double mu, std::vector<double> with, std::vector<double> without)
    : mu_(mu), with_{std::move(with), 1.0}, without_{std::move(without), -1.0} {}

double MixtureLaw::Side::log_ratio(double x, double mu) const {
  double largest = 0;
  for (std::size_t j = 1; j < weight.size(); ++j) {
    const double shift = static_cast<double>(j) * mu;
    largest = std::max(largest, shift * (sign * x - shift / 2));
  }
  double sum = 0;
  if (largest < 600) {
    // Near 1 its logarithm would lose the digits that a small sampling rate needs.
    for (std::size_t j = 1; j < weight.size(); ++j) {
      const double shift = static_cast<double>(j) * mu;
      sum += weight[j] * std::expm1(shift * (sign * x - shift / 2));
    }
    if (sum > -0.5) return std::log1p(sum);
    sum = 0;
  }
  for (std::size_t j = 0; j < weight.size(); ++j) {
    const double shift = static_cast<double>(j) * mu;
    sum += weight[j] * std::exp(shift * (sign * x - shift / 2) - largest);
  }
  return largest + std::log(sum);
}

double MixtureLaw::Side::log_rest() const {
  double moved = 0;
  for (std::size_t j = 1; j < weight.size(); ++j) moved += weight[j];
  return moved < 0.5 ? std::log1p(-moved) : std::log(weight[0]);
}

double MixtureLaw::Side::slope(double x, double mu) const {
  const double total = log_ratio(x, mu);
  double sum = 0;
  for (std::size_t j = 1; j < weight.size(); ++j) {
    const double shift = static_cast<double>(j) * mu;
    sum += shift * weight[j] * std::exp(shift * (sign * x - shift / 2) - total);
  }
  return sign * sum;
}

double MixtureLaw::Side::angle(double x, double y, double mu) const {
  double largest = 0;
  for (std::size_t j = 1; j < weight.size(); ++j) {
    const double shift = static_cast<double>(j) * mu;
    largest = std::max(largest, shift * (sign * x - shift / 2));
  }
  double real = 0;
  double imaginary = 0;
  for (std::size_t j = 0; j < weight.size(); ++j) {
    const double shift = static_cast<double>(j) * mu;
    const double size = weight[j] * std::exp(shift * (sign * x - shift / 2) - largest);
    real += size * std::cos(shift * y);
    imaginary += size * std::sin(shift * y);
  }
  return std::atan2(imaginary, real);
}

double MixtureLaw::loss(double x) const {
  return with_.log_ratio(x, mu_) - without_.log_ratio(x, mu_);
}

double MixtureLaw::place(double target) const {
  // Where everything of P or Q but the unshifted part is gone, the loss has its limits.
  const double lowest =
      with_.weight[0] > 0 && without_.order() == 0 ? with_.log_rest() : -kInfinity;
  const double highest =
      without_.weight[0] > 0 && with_.order() == 0 ? -without_.log_rest() : kInfinity;
  if (target <= lowest) return -kInfinity;
  if (target >= highest) return kInfinity;
  if (sampled_once()) {
    const bool removed = without_.order() == 0;
    const double rate = removed ? with_.weight[1] : without_.weight[1];
    const double z = log_unmixed(rate, removed ? target : -target);
    const double x = z / mu_ + mu_ / 2;
    return removed ? x : -x;
  }
  double low = -1;
  double high = 1;
  while (loss(low) > target) low *= 2;
  while (loss(high) < target) high *= 2;
  double x = (low + high) / 2;
  for (int round = 0; round < 200; ++round) {
    const double excess = loss(x) - target;
    (excess > 0 ? high : low) = x;
    const double derivative = with_.slope(x, mu_) - without_.slope(x, mu_);
    double next = x - excess / derivative;
    if (!(next > low && next < high)) next = (low + high) / 2;
    if (std::abs(next - x) <= 4e-16 * std::abs(x) || next == x) return next;
    x = next;
  }
  return x;
}

double MixtureLaw::infinite() const {
  if (!cut_) return 0;
  double mass = 0;
  const double deviation = std::sqrt(1 + cut_->width * cut_->width);
  for (std::size_t j = 0; j < with_.weight.size(); ++j) {
    mass += with_.weight[j] * upper_tail((cut_->limit - static_cast<double>(j) * mu_) / deviation);
  }
  return mass * (1 + 1e-9);
}

// The best test is a threshold x on the loss: P(x..) - e^epsilon Q(x..). An error of the threshold
// only changes it in the second order, since the difference is stationary there.
std::optional<Bounds> MixtureLaw::delta(double epsilon) const {
  const double x = place(epsilon);
  double p = 0;
  double q = 0;
  for (std::size_t j = 0; j < with_.weight.size(); ++j) {
    p += with_.weight[j] * upper_tail(x - static_cast<double>(j) * mu_);
  }
  for (std::size_t j = 0; j < without_.weight.size(); ++j) {
    q += without_.weight[j] * upper_tail(x + static_cast<double>(j) * mu_);
  }
  // In logarithms, since e^epsilon may be out of range where q is next to nothing; a q that has
  // vanished says nothing about the product.
  const bool vanished = !(q > 0);
  q = vanished ? 0 : std::exp(std::log(q) + epsilon);
  const double far = std::isfinite(x) ? std::abs(x) + (with_.order() + without_.order()) * mu_ : 0;
  const double error = kRounding * (p + q) * (64 + 8 * std::abs(epsilon) + 8 * far * (far + 1));
  return Bounds{vanished && epsilon > 0 ? 0 : std::max(0.0, p - q - error),
                std::min(1.0, std::max(0.0, p - q) + error + 1e-300)};
}

LawPointer MixtureLaw::without_tail(double tail) const {
  constexpr double kWidth = 0.25;
  MixtureLaw cut = *this;
  // The lowest limit, but for a part in a hundred, that cuts off no more than that: the moments at
  // high tilts are ruled by the last losses that are kept.
  double low = 0;
  double high = with_.order() * mu_ + std::sqrt(1 + kWidth * kWidth) * reach(tail);
  while (high - low > 0.01 * high) {
    cut.cut_ = Cut{(low + high) / 2, kWidth};
    (cut.infinite() > tail ? low : high) = cut.cut_->limit;
  }
  cut.cut_ = Cut{high, kWidth};
  return std::make_shared<MixtureLaw>(std::move(cut));
}

double MixtureLaw::log_kept(double x) const {
  if (!cut_) return 0;
  const double distance = (x - cut_->limit) / cut_->width;
  if (distance < -10) return 0;
  if (distance < 36) return std::log(upper_tail(distance));
  // Further up the tail leaves the range of doubles: its asymptotic series.
  const double square = distance * distance;
  return -square / 2 - std::log(distance) - kLogRootTwoPi +
         std::log1p(-1 / square + 3 / (square * square));
}

double MixtureLaw::widest_strip() const {
  return kPi / (std::max(with_.order(), without_.order()) * mu_);
}

NodeTable MixtureLaw::nodes(double largest_tilt, double largest_frequency, double tolerance) const {
  const double orders = with_.order() + without_.order();
  // The step for which the error of the trapezoidal rule stays within a quarter of the tolerance,
  // by the best strip of analyticity.
  double step = 0;
  for (int k = 1; k < 40; ++k) {
    const double strip = std::min(widest_strip(), 12.0) * k / 40;
    const double bent = std::cos(without_.order() * mu_ * strip / 2);
    const double exponent = std::log(8 / tolerance) + strip_growth() * strip * strip / 2 +
                            largest_frequency * orders * mu_ * strip -
                            largest_tilt * std::log(bent);
    step = std::max(step, 2 * kPi * strip / exponent);
  }
  const double side = reach(tolerance / 64);
  const double steepest =
      ((largest_tilt + 1) * with_.order() + largest_tilt * without_.order()) * mu_;
  const double low = -(side + without_.order() * mu_ / 2);
  double high = steepest + side;

  NodeTable table;
  constexpr double kMostNodes = 1e5;
  if (!((high - low) / step <= kMostNodes)) {
    table.reliable = false;
    step = (high - low) / 1e4;
  }
  table.step = step;
  const double log_step = std::log(step) - kLogRootTwoPi;
  double largest = -kInfinity;
  const double first = std::floor(low / step);
  for (std::int64_t index = 0;; ++index) {
    const double x = (first + static_cast<double>(index)) * step;
    const double above = with_.log_ratio(x, mu_);
    const double below = without_.log_ratio(x, mu_);
    table.place.push_back(x);
    table.slope_with.push_back(with_.slope(x, mu_));
    table.slope_without.push_back(without_.slope(x, mu_));
    const double slopes = table.slope_with.back() - table.slope_without.back();
    const double position = slopes * (3 * std::abs(x) + 2 * orders * mu_);
    const double loss_error = 4 * (std::abs(above) + std::abs(below)) + position +
                              (std::abs(above) + std::abs(below) > 0.5 ? 4 : 0);
    const double log_mass = log_step - x * x / 2 + above + log_kept(x);
    const double cut_error = cut_ ? 4 * std::abs(log_kept(x)) : 0;
    table.add(above - below, log_mass, 2 * x * x + loss_error + cut_error + 8, loss_error);
    const double tilted = log_mass + largest_tilt * (above - below);
    largest = std::max(largest, tilted);
    // Past the steepest slope the integrand falls at least as fast as a normal tail.
    if (x >= high && (!table.reliable || tilted < largest + std::log(tolerance) - 8)) break;
  }
  return table;
}

// Moves the line of integration by iy: |e^{isL}| becomes e^{-s Im L}, and Im L, the sum of the two
// angles, is never negative. The bound falls in s, so it holds for every higher frequency too. See
// contour.proof.md.
double MixtureLaw::decay(double tilt, double frequency, const NodeTable& nodes,
                         const std::vector<double>& weight) const {
  const double quarter = widest_strip() / 2;
  double mean_slope = 0;
  double square_slope = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const double slope = nodes.slope_with[i] - nodes.slope_without[i];
    mean_slope += weight[i] * slope;
    square_slope += weight[i] * slope * slope;
  }
  const double spread = square_slope - mean_slope * mean_slope;
  const double shift = std::min(
      frequency * mean_slope / (strip_growth() + frequency * frequency * std::max(0.0, spread)),
      quarter / 2);

  const bool two_parts = with_.order() <= 1 && without_.order() <= 1;
  const double sine = std::sin(mu_ * shift);
  const double less = 2 * std::pow(std::sin(mu_ * shift / 2), 2);  // 1 - cos
  double sum = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (weight[i] < 1e-18) {
      sum += weight[i];
      continue;
    }
    double angle = 0;
    if (two_parts) {
      const double a = nodes.slope_with[i] / mu_;
      const double b = -nodes.slope_without[i] / mu_;
      angle = std::atan2(a * sine, 1 - a * less) + std::atan2(b * sine, 1 - b * less);
    } else {
      angle = with_.angle(nodes.place[i], shift, mu_) + without_.angle(nodes.place[i], shift, mu_);
    }
    sum += weight[i] * std::exp(-frequency * angle);
  }
  const double strip = std::min(quarter - shift, 2 * kPi / nodes.step);
  const auto bent = [&](double y) {
    return without_.order() == 0 ? 1.0 : std::pow(std::cos(without_.order() * mu_ * y / 2), -tilt);
  };
  const double aliased =
      4 * std::exp(strip_growth() * strip * strip / 2 - 2 * kPi * strip / nodes.step) * bent(strip);
  const double shifted =
      std::exp(strip_growth() * shift * shift / 2) * bent(shift) * (sum + aliased + 1e-13);
  return std::min({1.0, shifted, decay_by_parts(tilt, frequency, nodes, weight)});
}

// Integration by parts over x >= x0, where the loss moves fast, and nothing gained below:
//   |M(c + is)| / M(c) <= 1 - G(x0) + V(x0) / s,
// G the tilted mass and V the total variation of the density of the loss over x >= x0. Best for
// losses with a rare large part. The logarithm of that density is a concave parabola plus a
// multiple of a sigmoid's integral, so it has at most two maxima: V is at most four times its
// supremum.
double MixtureLaw::decay_by_parts(double tilt, double frequency, const NodeTable& nodes,
                                  const std::vector<double>& weight) const {
  const bool removed = with_.order() == 1 && without_.order() == 0;
  const bool added = with_.order() == 0 && without_.order() == 1;
  if (cut_ || (!removed && !added)) return 1;
  const double step = nodes.step;
  // Bounds of the second derivatives of the logarithms of the tilted density and of that of the
  // loss: the sigmoid's slope is at most mu^2 / 4.
  const double bend = mu_ * mu_ / 4;
  const double density_bend = removed ? std::max(0.0, (tilt + 1) * bend - 1) : 0;
  const double loss_bend = std::max(1.0, (tilt + 2) * bend + 1);
  const double mass_slack = std::exp(-density_bend * step * step / 8) * (1 - 1e-9);
  const double peak_slack = std::exp(loss_bend * step * step / 8) * (1 + 1e-9);
  double mass = 0;
  double peak = 0;
  double best = 1;
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const double slope = nodes.slope_with[i] - nodes.slope_without[i];
    if (!(slope > 0)) break;
    peak = std::max(peak, weight[i] / (step * slope));
    if (i + 1 < nodes.size()) mass += std::sqrt(weight[i] * weight[i + 1]);
    best = std::min(best, 1 - mass * mass_slack + 4 * peak * peak_slack / frequency);
  }
  return best;
}

CellShares MixtureLaw::split(const std::vector<double>& boundaries) const {
  std::vector<double> places(boundaries.size());
  for (std::size_t i = 0; i < boundaries.size(); ++i) places[i] = place(boundaries[i]);
  CellShares shares(boundaries.size() - 1);
  if (sampled_once()) {
    split_sampled(boundaries, places, shares);
  } else {
    split_any(boundaries, places, shares);
  }
  for (std::size_t j = 0; j < with_.weight.size(); ++j) {
    const double shift = static_cast<double>(j) * mu_;
    shares.below += with_.weight[j] * upper_tail(shift - places.front());
    shares.above += with_.weight[j] * upper_tail(places.back() - shift);
  }
  for (std::size_t j = 0; j < without_.weight.size(); ++j) {
    const double shift = static_cast<double>(j) * mu_;
    shares.above_lowered += without_.weight[j] * upper_tail(places.back() + shift);
  }
  shares.above_lowered =
      shares.above_lowered > 0
          ? std::exp(std::log(shares.above_lowered) + boundaries.back()) * (1 - 1e-9)
          : 0;
  shares.below *= 1 + 1e-9;
  shares.above *= 1 + 1e-9;
  return shares;
}

// Beyond 39 nothing of a standard normal is left in a double; P reaches further by its shifts.
std::pair<double, double> MixtureLaw::visible(double from, double to) const {
  return {std::max(from, -39.0), std::min(to, 39.0 + with_.order() * mu_)};
}

// Where only one side has a second part, of weight q, the differences of X = dP/dQ (or of 1 / X)
// across a cell are q e^z (e^{z' - z} - 1): no logarithm, and no digit lost however small q and the
// cell are.
void MixtureLaw::split_sampled(const std::vector<double>& boundaries,
                               const std::vector<double>& places, CellShares& shares) const {
  const bool removed = without_.order() == 0;
  const Side& side = removed ? with_ : without_;
  const double rate = side.weight[1];
  const auto exponent = [&](double x) { return mu_ * (side.sign * x - mu_ / 2); };
  for (std::size_t cell = 0; cell + 1 < boundaries.size(); ++cell) {
    const double low_loss = boundaries[cell];
    const double high_loss = boundaries[cell + 1];
    const double width = high_loss - low_loss;
    const auto [from, to] = visible(places[cell], places[cell + 1]);
    if (!(to > from)) continue;
    // Of the second part at the two ends: its exponent, and how far the end lies outside of the
    // range of the loss, if it does.
    const double at_low = removed ? exponent(places[cell]) : exponent(places[cell]) + low_loss;
    const double at_high =
        removed ? exponent(places[cell + 1]) : exponent(places[cell + 1]) + high_loss;
    const bool open_low = std::isinf(places[cell]);
    const bool open_high = std::isinf(places[cell + 1]);
    const double rest = side.weight[0];
    const double beyond_low = open_low ? -rest * std::expm1(low_loss - std::log1p(-rate)) : 0;
    const double beyond_high =
        open_high ? rest * std::exp(high_loss) * -std::expm1(-high_loss - std::log1p(-rate)) : 0;
    double low = 0;
    double high = 0;
    const double error = integrate_cells(from, to, mu_ + 1, width, [&](double x, double weight) {
      const double base = -x * x / 2 - kLogRootTwoPi;
      const double up = mu_ * (x - places[cell]);
      const double down = mu_ * (places[cell + 1] - x);
      if (removed) {
        high +=
            weight * (open_low ? rate * std::exp(base + exponent(x)) + beyond_low * std::exp(base)
                               : rate * std::exp(base + at_low) * std::expm1(up));
        low += weight * rate * std::exp(base + at_high) * -std::expm1(-down);
      } else {
        high += weight * rate * std::exp(base + at_low) * -std::expm1(-up);
        low += weight * (open_high ? rate * std::exp(base + exponent(x) + high_loss) +
                                         beyond_high * std::exp(base)
                                   : rate * std::exp(base + at_high) * std::expm1(down));
      }
    });
    shares.high[cell] = high / -std::expm1(-width);
    shares.low[cell] = low / std::expm1(width);
    const double far = std::max(std::abs(from), std::abs(to));
    shares.error[cell] =
        error + kRounding * (2 * far * far + 8 * mu_ * far + 8 * std::abs(high_loss) + 64 +
                             8 * (far + 1) / (to - from));
    const double slope = std::max(with_.slope(to, mu_) - without_.slope(to, mu_),
                                  with_.slope(from, mu_) - without_.slope(from, mu_));
    shares.loss_error = std::max(
        shares.loss_error, kRounding * (8 * std::abs(high_loss) + slope * (8 * far + 8 * mu_)));
  }
}

void MixtureLaw::split_any(const std::vector<double>& boundaries, const std::vector<double>& places,
                           CellShares& shares) const {
  const double orders = std::max(with_.order(), without_.order());
  for (std::size_t cell = 0; cell + 1 < boundaries.size(); ++cell) {
    const double floor_loss = boundaries[cell];
    const double width = boundaries[cell + 1] - floor_loss;
    const auto [from, to] = visible(places[cell], places[cell + 1]);
    if (!(to > from)) continue;
    const double all_high = std::expm1(-width);
    const double all_low = std::expm1(width);
    double low = 0;
    double high = 0;
    double worst = 0;
    const double error =
        integrate_cells(from, to, orders * mu_ + 1, width, [&](double x, double weight) {
          const double above = with_.log_ratio(x, mu_);
          const double below = without_.log_ratio(x, mu_);
          const double mass = weight * std::exp(above - x * x / 2 - kLogRootTwoPi);
          const double rise = std::clamp(above - below - floor_loss, 0.0, width);
          high += mass * (std::expm1(-rise) / all_high);
          low += mass * (std::expm1(width - rise) / all_low);
          worst = std::max(worst, std::abs(above) + std::abs(below));
        });
    shares.low[cell] = low;
    shares.high[cell] = high;
    const double far = std::max(std::abs(from), std::abs(to));
    const double slope = (with_.order() + without_.order()) * mu_;
    const double loss_error = kRounding * (8 * worst + slope * (4 * far + 4 * orders * mu_) + 8);
    shares.error[cell] = error + kRounding * (2 * far * far + 32) + 4 * loss_error / width;
    shares.loss_error = std::max(shares.loss_error, loss_error);
  }
}

double MixtureLaw::largest_loss() const {
  return with_.order() == 0 ? -without_.log_rest() : kInfinity;
}

double MixtureLaw::lowest_loss(double tail) const { return loss(-reach(tail)); }

double MixtureLaw::highest_loss(double tail) const {
  // Sharp, since the last losses that are kept rule the moments at high tilts.
  double low = -reach(tail);
  double high = with_.order() * mu_ + reach(tail);
  while (high - low > 0.01) {
    const double middle = (low + high) / 2;
    double mass = 0;
    for (std::size_t j = 0; j < with_.weight.size(); ++j) {
      mass += with_.weight[j] * upper_tail(middle - static_cast<double>(j) * mu_);
    }
    (mass * (1 + 1e-9) > tail ? low : high) = middle;
  }
  return loss(high);
}

}  // namespace shoal::privacy
