#include "privacy/parameter_search.hpp"

#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/normal.hpp>
#include <shoal/privacy/composition.hpp>
#include <shoal/privacy/pairings.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

namespace shoal::privacy {
namespace {

// A table is read, not computed with; and near the edge of a pure guarantee, where few questions
// with Laplace noise are, more digits take the accountant seconds.
constexpr double kTolerance = 1e-5;

NoiseUse use_of(NoiseLaw law, std::int64_t count, double sensitivity) {
  NoiseUse use;
  use.law = law;
  use.count = count;
  use.sensitivity = sensitivity;
  return use;
}

double moves_by(double sensitivity, Neighbors neighbors) {
  return neighbors == Neighbors::add_remove ? sensitivity : 2 * sensitivity;
}

// The largest epsilon of one question for which advanced composition of all stays within the
// target's, rounded down: the bound grows with it, and what is returned was tried.
double advanced_epsilon_down(std::int64_t count, double slack, const Target& target) {
  const auto fits = [&](double each) {
    return advanced_composition_up({each, 0}, count, slack).epsilon <= target.epsilon.value();
  };
  double low = 0;
  double high = std::min(kMaxEpsilon, target.epsilon.value());
  for (int i = 0; i < 100 && high - low > 1e-12 * high; ++i) {
    const double middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

double parameter_of(NoiseLaw law, Composition composition, std::int64_t count, double sensitivity,
                    const Target& target) {
  if (composition == Composition::certified) {
    return calibrate_noise(use_of(law, count, sensitivity), target, kTolerance).parameter;
  }
  const auto times = static_cast<double>(count);
  const double delta = target.delta.value();
  const bool advanced = composition == Composition::advanced;
  if (!is_gaussian(law)) {
    const double moves = moves_by(sensitivity, target.neighbors);
    return advanced
               ? numeric::divide_up(moves, advanced_epsilon_down(count, delta, target))
               : numeric::divide_up(numeric::multiply_up(times, moves), target.epsilon.value());
  }
  // The slack and count times the rest are exactly half of delta each, at most.
  const double shared = advanced ? delta / 2 : delta;
  const double each = advanced ? advanced_epsilon_down(count, delta / 2, target)
                               : numeric::divide_down(target.epsilon.value(), times);
  const Target one{Epsilon(each), Delta(numeric::divide_down(shared, times)), target.neighbors};
  return calibrate_noise(use_of(law, 1, sensitivity), one).parameter;
}

Pairing pairing_of(NoiseLaw law, Composition composition, std::int64_t count, double sensitivity,
                   const Target& target) {
  const double tail = numeric::subtract_down(1, kPairingConfidence);
  Pairing row;
  row.law = law;
  row.composition = composition;
  row.parameter = parameter_of(law, composition, count, sensitivity, target);
  if (is_gaussian(law)) {
    row.standard_deviation = row.parameter;
    row.error = numeric::multiply_up(row.parameter, numeric::two_sided_normal_quantile_up(tail));
  } else {
    row.standard_deviation = row.parameter * std::numbers::sqrt2;
    row.error = numeric::multiply_up(row.parameter, -numeric::log_down(tail));
  }
  const Event event = event_of(use_of(law, count, sensitivity), row.parameter);
  row.epsilon = Profile(event, target.neighbors, {kTolerance, {}}).epsilon(target.delta);
  // The theorem of the row is a proof too.
  row.epsilon.bounds.upper = std::min(row.epsilon.bounds.upper, target.epsilon.value());
  row.epsilon.bounds.lower = std::min(row.epsilon.bounds.lower, row.epsilon.bounds.upper);
  return row;
}

}  // namespace

std::string_view to_string(Composition composition) {
  switch (composition) {
    case Composition::basic:
      return "basic";
    case Composition::advanced:
      return "advanced";
    case Composition::certified:
      return "certified";
  }
  return "unknown";
}

PairingTable compare_pairings(std::int64_t count, double sensitivity, const Target& target) {
  event_of(use_of(NoiseLaw::laplace, count, sensitivity), 1);  // refuses what is out of range
  require_epsilon(target);
  PairingTable table{count, sensitivity, target, {}, 0};
  for (const Composition composition :
       {Composition::basic, Composition::advanced, Composition::certified}) {
    for (const NoiseLaw law : {NoiseLaw::laplace, NoiseLaw::gaussian}) {
      const bool pure = law == NoiseLaw::laplace && composition != Composition::advanced;
      if (target.delta.value() == 0 && !pure) continue;
      table.rows.push_back(pairing_of(law, composition, count, sensitivity, target));
    }
  }
  const auto best =
      std::min_element(table.rows.begin(), table.rows.end(),
                       [](const Pairing& a, const Pairing& b) { return a.error < b.error; });
  table.best = static_cast<std::size_t>(std::distance(table.rows.begin(), best));
  return table;
}

}  // namespace shoal::privacy
