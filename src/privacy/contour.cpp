#include "privacy/contour.hpp"

#include "privacy/logarithms.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace shoal::privacy {
namespace {

// e^kNothing, times any number of nodes, is far below the rounding that is allowed for.
constexpr double kNothing = -700;
// Where all that may happen is nearly used up the bound falls for ever, by less and less; so small
// a part of it is not worth a step towards larger tilts.
constexpr double kWorthWalking = 1e-3;

constexpr double kPi = std::numbers::pi;
constexpr double kLargestTilt = 2e4;
// More than these in all tables together, and another engine is faster.
constexpr double kMostNodes = 1e5;

// Sums in so many lanes: fewer roundings in a row, and the compiler can use vector instructions.
constexpr std::size_t kLanes = 8;

// One law on the line: the nodes' masses, turning by a fixed angle from each point to the next.
class Rotor {
 public:
  Rotor(const NodeTable& table, const std::vector<double>& weight, double mean, double step) {
    const std::size_t size = (table.size() + kLanes - 1) / kLanes * kLanes;
    for (auto* list : {&real_, &imaginary_, &cosine_, &sine_}) list->assign(size, 0);
    for (std::size_t i = 0; i < table.size(); ++i) {
      const double offset = table.loss[i] - mean;
      real_[i] = weight[i];
      cosine_[i] = std::cos(step * offset);
      sine_[i] = std::sin(step * offset);
      turn_error_ += weight[i] * (table.loss_error[i] + 4 * std::abs(offset));
    }
    turn_error_ = kRounding * (step * turn_error_ + 6);
  }

  // The sum at the present point; then turns to the next.
  std::pair<double, double> advance() {
    std::array<double, kLanes> real{};
    std::array<double, kLanes> imaginary{};
    for (std::size_t i = 0; i < real_.size(); i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const std::size_t k = i + lane;
        const double a = real_[k];
        const double b = imaginary_[k];
        real[lane] += a;
        imaginary[lane] += b;
        real_[k] = a * cosine_[k] - b * sine_[k];
        imaginary_[k] = a * sine_[k] + b * cosine_[k];
      }
    }
    double sum_real = 0;
    double sum_imaginary = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      sum_real += real[lane];
      sum_imaginary += imaginary[lane];
    }
    return {sum_real, sum_imaginary};
  }

  // What each turn adds to the error of the sum.
  double turn_error() const { return turn_error_; }

 private:
  std::vector<double> real_, imaginary_, cosine_, sine_;
  double turn_error_ = 0;
};

}  // namespace

std::vector<CountedLaw> without_tails(const std::vector<CountedLaw>& laws, double tail) {
  std::vector<CountedLaw> cut;
  for (const CountedLaw& part : laws) {
    const LawPointer law = part.law->without_tail(tail);
    cut.push_back({law ? law : part.law, part.count});
  }
  return cut;
}

Contour::Contour(std::vector<CountedLaw> laws, double gaussian_variance, double relative_error)
    : laws_(std::move(laws)),
      gaussian_variance_(gaussian_variance),
      variance_error_(relative_error + 8 * kRounding) {
  for (const CountedLaw& part : laws_) count_ += part.count;
  tolerance_ = 1e-13 / std::max(1.0, count_);
  tables_.resize(laws_.size());
  weights_.resize(laws_.size());
  means_.resize(laws_.size());
  errors_.resize(laws_.size());
}

void Contour::prepare(double largest_tilt, double largest_frequency) {
  if (largest_tilt <= largest_tilt_ && largest_frequency <= largest_frequency_) return;
  largest_tilt_ = std::max(largest_tilt_, largest_tilt);
  largest_frequency_ = std::max(largest_frequency_, largest_frequency);
  for (std::size_t k = 0; k < laws_.size(); ++k) {
    tables_[k] = laws_[k].law->nodes(largest_tilt_, largest_frequency_, tolerance_);
  }
}

bool Contour::reliable() const {
  return std::all_of(laws_.begin(), laws_.end(),
                     [](const CountedLaw& part) { return part.law->smooth(); }) &&
         std::all_of(tables_.begin(), tables_.end(),
                     [](const NodeTable& table) { return table.reliable; });
}

double Contour::nodes() const {
  auto sum = static_cast<double>(kLanes);
  for (const NodeTable& table : tables_) sum += static_cast<double>(table.size());
  return sum;
}

Contour::Tilted Contour::tilted(double c, bool keep_weights) {
  Tilted total;
  total.log_moment = gaussian_variance_ * c * (c + 1) / 2;
  total.mean = gaussian_variance_ * (c + 0.5);
  total.variance = gaussian_variance_;
  total.error = variance_error_ * total.log_moment;
  std::vector<double> scratch;
  for (std::size_t k = 0; k < laws_.size(); ++k) {
    const NodeTable& table = tables_[k];
    std::vector<double>& weight = keep_weights ? weights_[k] : scratch;
    weight.resize(table.size());
    double largest = -HUGE_VAL;
    for (std::size_t i = 0; i < table.size(); ++i) {
      weight[i] = table.log_mass[i] + c * table.loss[i];
      largest = std::max(largest, weight[i]);
    }
    double sum = 0;
    double mean = 0;
    for (std::size_t i = 0; i < table.size(); ++i) {
      // Weights that are nothing beside the largest are not worth the slow end of exp.
      const double below = weight[i] - largest;
      weight[i] = below < kNothing ? 0 : std::exp(below);
      sum += weight[i];
      mean += weight[i] * table.loss[i];
    }
    mean /= sum;
    double variance = 0;
    double error = 0;
    for (std::size_t i = 0; i < table.size(); ++i) {
      const double offset = table.loss[i] - mean;
      variance += weight[i] * offset * offset;
      error += weight[i] *
               (table.mass_error[i] + c * (table.loss_error[i] + 3 * std::abs(table.loss[i])) +
                3 * std::abs(table.log_mass[i]));
    }
    const double count = laws_[k].count;
    const double rounding =
        kRounding * (error / sum + static_cast<double>(table.size()) + 16) + tolerance_;
    const double log_moment = largest + std::log(sum);
    total.log_moment += count * log_moment;
    total.mean += count * mean;
    total.variance += count * variance / sum;
    total.error += count * (rounding + 4 * kRounding * std::abs(log_moment));
    if (keep_weights) {
      for (double& w : weight) w /= sum;
      means_[k] = mean;
      errors_[k] = rounding + 4 * kRounding;
    }
  }
  return total;
}

// The saddle of K(c) - epsilon c - ln c - ln(1 + c), which is convex: Newton within a bracket.
std::optional<double> Contour::saddle(double epsilon) {
  double low = 0;
  double high = kLargestTilt;
  double c = tilt_;
  for (int round = 0; round < 100; ++round) {
    if (c > largest_tilt_) prepare(2 * c, largest_frequency_);
    if (nodes() > kMostNodes) return std::nullopt;
    const Tilted at = tilted(c, false);
    const double gradient = at.mean - epsilon - 1 / c - 1 / (1 + c);
    const double curvature = at.variance + 1 / (c * c) + 1 / ((1 + c) * (1 + c));
    (gradient < 0 ? low : high) = c;
    double next = c - gradient / curvature;
    if (!(next > low && next < high)) next = high < kLargestTilt ? (low + high) / 2 : 4 * c;
    next = std::min(next, 4 * c);
    if (next >= kLargestTilt) return std::nullopt;
    if (std::abs(next - c) < 1e-3 * c) return next;
    c = next;
  }
  return c;
}

double Contour::chernoff_epsilon_up(double log_delta) {
  if (log_delta == -HUGE_VAL) return HUGE_VAL;
  const double moment = log_moment_up(tilt_);
  return sound_upper((moment - log_delta + log_stick(tilt_)) / tilt_ +
                     16 * kRounding * (std::abs(moment) - log_delta + tilt_ + 1) / tilt_);
}

double Contour::chernoff_log_delta_up(double epsilon) {
  const std::optional<double> c = saddle(epsilon);
  if (!c || !reliable()) return 0;
  tilt_ = *c;
  const double moment = log_moment_up(*c);
  return std::min(0.0, moment - *c * epsilon + log_stick(*c) +
                           16 * kRounding * (std::abs(moment) + *c * epsilon + *c + 1));
}

double Contour::log_moment_up(double c) {
  if (c > largest_tilt_) prepare(2 * c, largest_frequency_);
  if (!reliable()) return HUGE_VAL;
  const Tilted at = tilted(c, false);
  return at.log_moment + at.error;
}

double Contour::log_chernoff(double c, double epsilon, double log_moment) const {
  return log_moment - c * epsilon + log_stick(c);
}

double Contour::log_tail(double tilt, double frequency) const {
  double sum = -gaussian_variance_ * frequency * frequency / 2;
  for (std::size_t k = 0; k < laws_.size(); ++k) {
    sum += laws_[k].count * std::log(laws_[k].law->decay(tilt, frequency, tables_[k], weights_[k]));
  }
  return sum;
}

double Contour::chernoff_epsilon(double log_delta) {
  // (K(c) - log_delta + log_stick(c)) / c is smooth with one minimum: golden section in ln c.
  const auto bound = [&](double log_c) {
    const double c = std::exp(log_c);
    if (c > largest_tilt_ && nodes() < kMostNodes) prepare(2 * c, largest_frequency_);
    if (c > largest_tilt_) return HUGE_VAL;
    return (tilted(c, false).log_moment - log_delta + log_stick(c)) / c;
  };
  double left = std::log(tilt_) - 1;
  double right = left + 2;
  double at_left = bound(left);
  double at_right = bound(right);
  // Walk until the minimum is enclosed, then narrow down.
  for (int round = 0; round < 40 && at_left < at_right && left > -30; ++round) {
    right = left;
    at_right = at_left;
    at_left = bound(left -= 1);
  }
  double next = right + 1;
  double at_next = bound(next);
  for (int round = 0; round < 40 && at_next < at_right * (1 - kWorthWalking) &&
                      next < std::log(kLargestTilt) && nodes() < kMostNodes;
       ++round) {
    left = right;
    right = next;
    at_right = at_next;
    at_next = bound(next += 1);
  }
  double low = left;
  double high = next;
  double best = at_right;
  double where = right;
  for (int round = 0; round < 5; ++round) {
    const double third = (high - low) / 3;
    const double a = bound(low + third);
    const double b = bound(high - third);
    if (a < best) best = a, where = low + third;
    if (b < best) best = b, where = high - third;
    (a < b ? high : low) = a < b ? high - third : low + third;
  }
  tilt_ = std::exp(where);
  return best;
}

std::optional<LogBounds> Contour::log_delta(double epsilon, double work) {
  const std::optional<double> at_saddle = saddle(epsilon);
  if (!at_saddle) return std::nullopt;
  const double c = *at_saddle;
  tilt_ = c;
  prepare(c, 0);
  Tilted at = tilted(c, true);
  const double curvature = at.variance + 1 / (c * c) + 1 / ((1 + c) * (1 + c));
  const double scale = at.log_moment - c * epsilon;
  // Relative to e^scale: the integral without its exponential factor.
  const double main = 1 / (c * (1 + c) * std::sqrt(2 * kPi * curvature));
  const double log_estimate = scale + std::log(main);

  // The highest frequency, from the decay that can be proven.
  double frequency = std::sqrt(2 * 30 / at.variance);
  double log_cut = 0;
  double period = (std::max(0.0, -log_estimate) + 27) / c;
  const auto too_much = [&] { return !(frequency * period / (2 * kPi) * nodes() <= work); };
  for (;;) {
    const double before = log_cut;
    if (too_much() || !reliable()) return std::nullopt;
    if (frequency > largest_frequency_) {
      prepare(c, 1.3 * frequency);
      at = tilted(c, true);
    }
    log_cut = log_tail(c, frequency);
    const double wanted = std::log(main) - 25 + std::log(kPi * frequency);
    if (log_cut < wanted) break;
    // For a normal loss the logarithm goes with the square of the frequency.
    const double factor = std::sqrt(wanted / std::min(log_cut, -1e-9));
    const double grown = std::clamp(1.05 * factor, 1.15, 2.5);
    // Where a much higher frequency has gained nothing, the next will not either.
    if (before < 0 && log_cut > 1.05 * before && grown > 2) return std::nullopt;
    frequency *= grown;
  }

  // The period of the aliases: those from above by Chernoff's bound at a higher tilt.
  double log_above = 0;
  for (;;) {
    log_above = HUGE_VAL;
    // For a normal loss the first of these is the best; rare large losses need smaller steps.
    const double normal = period / at.variance;
    for (const double rise :
         {std::min(normal, 3 * c), std::min(normal / 3, c), 0.3 * c, 0.1 * c, 0.03 * c, 0.01 * c}) {
      const double higher = c + rise;
      if (higher > largest_tilt_) prepare(higher, largest_frequency_);
      const Tilted above = tilted(higher, false);
      const double fall = (higher - c) * period;
      log_above =
          std::min(log_above, log_chernoff(higher, epsilon, above.log_moment + above.error) - fall -
                                  std::log(-std::expm1(-fall)));
      if (log_above < log_estimate - 25) break;
    }
    if (log_above < log_estimate - 25) break;
    if (too_much()) return std::nullopt;
    period *= 1.25;
  }
  if (too_much()) return std::nullopt;
  // Higher tilts may have renewed the tables.
  at = tilted(c, true);

  const double step = 2 * kPi / period;
  const auto last = static_cast<long>(std::ceil(frequency / step));
  std::vector<Rotor> rotors;
  double absolute_means = std::abs(epsilon) + gaussian_variance_ * (c + 1);
  double mean = gaussian_variance_ * (c + 0.5);
  for (std::size_t k = 0; k < laws_.size(); ++k) {
    rotors.emplace_back(tables_[k], weights_[k], means_[k], step);
    absolute_means += laws_[k].count * std::abs(means_[k]);
    mean += laws_[k].count * means_[k];
  }
  double sum = 0;
  double derivative = 0;
  double uncertain = 0;
  for (long j = 0; j <= last; ++j) {
    const double s = static_cast<double>(j) * step;
    double log_size = -gaussian_variance_ * s * s / 2;
    double log_largest = log_size;
    double angle = s * (mean - epsilon);
    const double laws = 1 + static_cast<double>(laws_.size());
    double error = kRounding * (8 * laws * s * absolute_means + 16) +
                   variance_error_ * (std::abs(log_size) + s * gaussian_variance_ * (c + 1));
    for (std::size_t k = 0; k < laws_.size(); ++k) {
      const auto [real, imaginary] = rotors[k].advance();
      const double square = real * real + imaginary * imaginary;
      const double count = laws_[k].count;
      if (!(square > 0)) return std::nullopt;
      const double log_square = std::log(square);
      const double argument = std::atan2(imaginary, real);
      log_size += count * log_square / 2;
      angle += count * argument;
      const double absolute = errors_[k] + rotors[k].turn_error() * static_cast<double>(j);
      error += count * (absolute / std::sqrt(square) +
                        kRounding * (8 + 2 * std::abs(log_square) + 4 * std::abs(argument)));
      log_largest += count * std::log(std::sqrt(square) + 2 * absolute);
    }
    // e^{log_size + i angle} / (t (1 + t)) with t = c + is.
    const double real = c * (1 + c) - s * s;
    const double imaginary = s * (1 + 2 * c);
    const double square = real * real + imaginary * imaginary;
    const double half = j == 0 ? 0.5 : 1.0;
    const double size = half * std::exp(log_size) / square;
    const double cosine = std::cos(angle);
    const double sine = std::sin(angle);
    const double value = size * (cosine * real + sine * imaginary);
    const double other = size * (sine * real - cosine * imaginary);
    sum += value;
    derivative -= c * value - s * other;
    // Where the error is of the size of the factors, the term is simply no larger than they may be.
    const double largest = half * 1.001 * (std::exp(log_largest) + std::exp(log_size));
    uncertain +=
        error < 0.5 ? size * std::sqrt(square) * std::expm1(error) : largest / std::sqrt(square);
  }
  sum *= step / kPi;
  derivative *= step / kPi;
  uncertain *= step / kPi;
  const double cut = std::exp(log_cut) / (kPi * static_cast<double>(last) * step) * (1 + 1e-6);
  const double slack = uncertain + cut;
  slope_ = derivative / sum;

  LogBounds bounds;
  const double scale_error =
      at.error + kRounding * static_cast<double>(4 + laws_.size()) *
                     (4 * std::abs(at.log_moment) + 4 * c * std::abs(epsilon) + 16);
  bounds.upper = scale + scale_error + std::log(sum + slack) + 1e-14;
  // In logarithms: delta itself may be out of the range of doubles.
  const double log_below = -c * period - std::log(-std::expm1(-c * period));
  const double higher_one = std::max(log_below, log_above);
  const double log_aliases =
      higher_one + std::log(std::exp(log_below - higher_one) + std::exp(log_above - higher_one));
  const double aliases = std::exp(std::min(700.0, log_aliases - scale + scale_error)) * (1 + 1e-6);
  const double least = sum - slack - aliases;
  bounds.lower = least > 0 ? scale - scale_error + std::log(least) - 1e-14 : -HUGE_VAL;
  return bounds;
}

}  // namespace shoal::privacy
