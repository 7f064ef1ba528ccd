#include "privacy/lattice_profile.hpp"

#include "privacy/logarithms.hpp"
#include "privacy/mixture_law.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace shoal::privacy {
namespace {

constexpr std::size_t kLargestLattice = std::size_t{1} << 21;
constexpr int kRounds = 5;
constexpr double kMostPoints = 1 << 20;
constexpr double kLargestTilt = 2e4;
// The first attempt has no more cells than this.
constexpr double kFirstCells = 1 << 17;
// The part of delta, in tolerances, that may be cut off above and counted as infinite.
constexpr double kCut = 0.05;
// How much coarser it is than what the tolerance asks for.
constexpr double kCoarse = 4;

// The largest step of which all differences are multiples, but for rounding: Euclid's algorithm.
double common_step(const std::vector<double>& differences) {
  double step = 0;
  double largest = 0;
  for (const double difference : differences) largest = std::max(largest, difference);
  for (double a : differences) {
    double b = step;
    while (b > 1e-7 * largest) {
      const double rest = std::abs(std::remainder(a, b));
      a = b;
      b = rest < 1e-9 * largest ? 0 : rest;
    }
    step = a;
    if (step < 1e-6 * largest) return 0;
  }
  return step;
}

// Where the lattice of a law without masses of its own should have a point: at the mean of the
// heaviest stretch of one step, so that a narrow heavy part is not pushed to one side.
double anchor_of(const LossLaw& law, double step) {
  const std::vector<double> atoms = law.atoms();
  if (!atoms.empty()) return atoms.back();
  const NodeTable nodes = law.nodes(1, 0, 1e-9);
  // The losses increase along the nodes of every law that has no atoms.
  double with = 0;
  double without = 0;
  double heaviest = 0;
  double anchor = 0;
  std::size_t first = 0;
  for (std::size_t last = 0; last < nodes.size(); ++last) {
    with += std::exp(nodes.log_mass[last]);
    without += std::exp(nodes.log_mass[last] - nodes.loss[last]);
    for (; nodes.loss[last] - nodes.loss[first] > step; ++first) {
      with -= std::exp(nodes.log_mass[first]);
      without -= std::exp(nodes.log_mass[first] - nodes.loss[first]);
    }
    if (with > heaviest && without > 0) {
      heaviest = with;
      anchor = std::log(with / without);
    }
  }
  return anchor;
}

}  // namespace

LatticeProfile::LatticeProfile(std::vector<CountedLaw> laws, double variance, double variance_error,
                               double infinite_down, double infinite_up, Contour& contour,
                               double tolerance)
    : laws_(std::move(laws)),
      log_infinite_down_(log_of(infinite_down)),
      log_infinite_up_(log_of(infinite_up)),
      contour_(contour),
      given_(laws_),
      variance_(variance),
      tolerance_(tolerance) {
  std::vector<double> differences;
  only_atoms_ = variance == 0;
  for (const CountedLaw& part : laws_) {
    const std::vector<double> atoms = part.law->atoms();
    for (std::size_t i = 1; i < atoms.size(); ++i) differences.push_back(atoms[i] - atoms[i - 1]);
    only_atoms_ = only_atoms_ && part.law->only_atoms();
  }
  common_ = common_step(differences);
  if (variance > 0) {
    gaussian_ = std::make_shared<MixtureLaw>(std::sqrt(variance), std::vector<double>{0, 1},
                                             std::vector<double>{1});
    laws_.push_back({gaussian_, 1});
    // The loss is variance / 2 plus its root times a standard normal, which stays within 40.
    gaussian_loss_error_ = variance_error * (variance + 40 * std::sqrt(variance));
  }
}

double LatticeProfile::largest_total() const {
  double sum = 0;
  for (const CountedLaw& part : laws_) sum += part.count * part.law->largest_loss();
  return sum;
}

double LatticeProfile::first_step(double tilt, double epsilon) const {
  if (exact()) return common_;
  double count = 0;
  for (const CountedLaw& part : laws_) count += part.count;
  // Spreading inflates the variance by step^2 / 6 for each loss, joining deflates it by about
  // step^2 / 12 to step^2 / 3; ln delta moves by half of that times tilt (tilt + 1).
  const double wanted = tolerance_ * std::max(1.0, tilt * epsilon);
  double step = std::sqrt(8 * wanted / (count * tilt * (tilt + 1)));
  double narrowest = HUGE_VAL;
  double range = 0;
  for (const CountedLaw& part : laws_) {
    const double width = part.law->highest_loss(1e-6) - part.law->lowest_loss(1e-6);
    if (width > 0) narrowest = std::min(narrowest, width);
    range = std::max(range, part.law->highest_loss(1e-12) - part.law->lowest_loss(1e-12));
  }
  // A coarse answer is better than none.
  // The first attempt finds where to look, the second one looks closely.
  step = std::max(std::min(kCoarse * step, narrowest / 16), range / kFirstCells);
  if (common_ > 0) step = common_ / std::ceil(common_ / step);
  return step;
}

// The gap of two epsilons, relative to the larger or, where that is next to nothing, to a part of
// what moves delta.
double LatticeProfile::gap(double lower, double upper, double tilt) const {
  if (!std::isfinite(upper)) return 1;
  constexpr double kNextToNothing = 0.01;
  return tilt * (upper - lower) / std::max(kNextToNothing, tilt * upper);
}

// Tilts that rare enormous losses rule, which the lattice leaves out, would put all of the weight
// where the answer is not. None if there are none.
std::optional<Contour> LatticeProfile::guide(double log_delta) const {
  double count = 1;
  for (const CountedLaw& part : given_) count += part.count;
  std::vector<CountedLaw> cut =
      without_tails(given_, std::exp(std::max(log_delta, -650.0)) * kCut * tolerance_ / count);
  const bool same = std::equal(
      cut.begin(), cut.end(), given_.begin(),
      [](const CountedLaw& one, const CountedLaw& other) { return one.law == other.law; });
  if (same) return std::nullopt;
  return Contour(std::move(cut), variance_);
}

double LatticeProfile::usable_tilt(Contour& guide, double epsilon, double otherwise) {
  const std::optional<double> saddle = guide.saddle(epsilon);
  return saddle ? std::min(*saddle, kLargestTilt) : otherwise;
}

// `log_scale` is the logarithm of the whole tilted law at the epsilon in question, of which delta
// is a part.
std::optional<LatticeProfile::Sums> LatticeProfile::compose(double step, double tilt,
                                                            double log_delta, double log_scale) {
  if (!(step > 0) || !std::isfinite(step)) return std::nullopt;
  double count = 0;
  for (const CountedLaw& part : laws_) count += part.count;
  // What is cut off above counts as infinite: far less than delta in all.
  const double tail =
      std::max(1e-300, std::exp(std::max(log_delta, -690.0)) * kCut * tolerance_ / count);
  constexpr double kLowTail = 1e-18;
  const double log_part = std::clamp(log_delta - log_scale, -25.0, -5.0);
  const double outside = exact() ? 1e-15 : tolerance_ * kCut * std::exp(log_part);
  std::vector<LatticePair> pairs;
  pairs.reserve(laws_.size());
  std::vector<LatticePart> upper;
  std::vector<LatticePart> lower;
  for (const CountedLaw& part : laws_) {
    const double range = part.law->highest_loss(tail) - part.law->lowest_loss(kLowTail);
    if (!(range / step < static_cast<double>(kLargestLattice))) return std::nullopt;
    pairs.push_back(put_on_lattice(*part.law, step, anchor_of(*part.law, step), kLowTail, tail));
    pairs.back().lower.loss_error += part.law == gaussian_ ? gaussian_loss_error_ : 0;
    upper.push_back({&pairs.back().upper, part.count});
    lower.push_back({&pairs.back().lower, part.count});
  }
  auto above = LatticeSum::compose(upper, tilt, Side::upper, kLargestLattice, outside);
  if (!above) return std::nullopt;
  auto below = LatticeSum::compose(lower, tilt, Side::lower, kLargestLattice, outside);
  if (!below) return std::nullopt;
  return Sums{std::move(*above), std::move(*below)};
}

LogBounds LatticeProfile::log_delta(double epsilon) {
  LogBounds best{log_infinite_down_,
                 std::min(0.0, log_sum(contour_.chernoff_log_delta_up(epsilon), log_infinite_up_))};
  // At or over the largest loss only infinity is left.
  const double at = std::min(epsilon, largest_total() * (1 - 1e-12));
  const double first_tilt = usable_tilt(contour_, at, kLargestTilt);
  const double first_estimate = contour_.log_moment_up(first_tilt) - first_tilt * at;
  std::optional<Contour> without = guide(std::min(0.0, first_estimate) - 3);
  Contour& cut = without ? *without : contour_;
  const double tilt = usable_tilt(cut, at, first_tilt);
  const double estimate = std::min(first_estimate, cut.log_moment_up(tilt) - tilt * at);
  double step = first_step(tilt, at);
  bool answered = false;
  for (int round = 0; round < kRounds; ++round) {
    const auto sums = compose(step, tilt, std::min(0.0, estimate) - 3, estimate);
    if (!sums && answered) break;
    if (!sums) {
      step *= 8;
      continue;
    }
    answered = true;
    best.upper = std::min(best.upper,
                          log_sum(sums->upper.log_delta(epsilon), log_of(sums->upper.infinite())));
    best.lower = std::max(best.lower, log_sum(sums->lower.log_delta(epsilon), log_infinite_down_));
    const double wide = (best.upper - best.lower) / std::max(1.0, tilt * epsilon);
    if (wide <= tolerance_ || exact() || as_fine_as_can_be(*sums)) break;
    step = refine(*sums, step, wide);
  }
  return best;
}

// Whether a finer lattice would take seconds.
bool LatticeProfile::as_fine_as_can_be(const Sums& sums) {
  return static_cast<double>(sums.upper.points()) > kMostPoints / 2;
}

// As fine as the gap asks for, but no finer than can be afforded.
double LatticeProfile::refine(const Sums& sums, double step, double gap) const {
  const double asked = step * std::clamp(0.7 * std::sqrt(tolerance_ / gap), 0.02, 0.7);
  const double finer =
      std::max(asked, step * static_cast<double>(sums.upper.points()) / kMostPoints);
  return common_ > 0 ? common_ / std::ceil(common_ / finer) : finer;
}

namespace {

// Epsilons between which the sum's delta, with the mass at infinity, crosses the target: it is
// above it at the first and not above it at the second (infinite if it always is). The search stays
// near its start: far below the loss that the tilt points to, the sum says nothing.
Bounds crossing(const LatticeSum& sum, double log_infinite, double log_delta, double start,
                double farthest, double tilt) {
  // What is not a number counts as above: no bound comes from it.
  const auto excess = [&](double at) {
    const double value = log_sum(sum.log_delta(at), log_infinite) - log_delta;
    return std::isnan(value) ? HUGE_VAL : value;
  };
  double low = std::min(start, farthest);
  double high = low;
  double stride = 0.5 / tilt;
  if (excess(low) > 0) {
    while (excess(high) > 0) {
      low = high;
      if (high >= farthest) return {low, HUGE_VAL};
      high = std::min(farthest, high + stride);
      stride *= 2;
    }
  } else {
    while (!(excess(low) > 0)) {
      high = low;
      if (low == 0) return {0, 0};
      low = std::max(0.0, low - stride);
      stride *= 2;
    }
  }
  double at = low + 0.7 * (high - low);
  for (int turn = 0; turn < 60 && high - low > 1e-10 * high; ++turn) {
    const double value = excess(at);
    (value > 0 ? low : high) = at;
    // Newton with the tilt for the slope, kept inside.
    double next = at + value / tilt;
    if (!(next > low && next < high) || turn % 4 == 3) next = (low + high) / 2;
    at = next;
  }
  return {low, high};
}

}  // namespace

// Without a lattice: the largest loss, or Chernoff's bound.
double LatticeProfile::quick_epsilon_up(double log_delta) {
  if (log_infinite_up_ > log_delta) return HUGE_VAL;
  const double rest = log_infinite_up_ == -HUGE_VAL
                          ? log_delta
                          : log_delta + std::log1p(-std::exp(log_infinite_up_ - log_delta));
  return std::min(largest_total() * (1 + 1e-12), contour_.chernoff_epsilon_up(rest - 1e-13));
}

Bounds LatticeProfile::epsilon(double log_delta) {
  double guess = contour_.chernoff_epsilon(log_delta);
  const double farthest = std::min(largest_total() * (1 + 1e-9) + 1e-9, 1e7);
  Bounds best{0, quick_epsilon_up(log_delta)};
  std::optional<Contour> without = guide(log_delta);
  Contour& cut = without ? *without : contour_;
  if (without) guess = cut.chernoff_epsilon(log_delta);
  double tilt = std::min(cut.tilt(), kLargestTilt);
  double step = first_step(tilt, std::min(guess, farthest));
  bool answered = false;
  for (int round = 0; round < kRounds; ++round) {
    const double log_scale = cut.log_moment_up(tilt) - tilt * guess;
    const auto sums = compose(step, tilt, log_delta, log_scale);
    if (!sums && answered) break;
    if (!sums) {
      step *= 8;
      continue;
    }
    answered = true;
    best.upper = std::min(best.upper, crossing(sums->upper, log_of(sums->upper.infinite()),
                                               log_delta, guess, farthest, tilt)
                                          .upper);
    best.lower = std::max(best.lower, crossing(sums->lower, log_infinite_down_,
                                               raised_target(log_delta), guess, farthest, tilt)
                                          .lower);
    const double wide = gap(best.lower, best.upper, tilt);
    if (wide <= tolerance_ || exact() || as_fine_as_can_be(*sums)) break;
    step = refine(*sums, step, wide);
    if (std::isfinite(best.upper)) {
      guess = best.upper;
      tilt = usable_tilt(cut, (best.lower + best.upper) / 2, tilt);
    }
  }
  return best;
}

}  // namespace shoal::privacy
