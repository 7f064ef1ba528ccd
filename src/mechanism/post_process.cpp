#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/mechanism/post_process.hpp>
#include <shoal/numeric/directed.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

namespace shoal::mechanism {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

void check(const Estimate& estimate) {
  if (!std::isfinite(estimate.value) || !(estimate.lower <= estimate.upper)) {
    refuse(fmt::format("an estimate of {} in [{}, {}]; give a finite value and lower <= upper",
                       format_number(estimate.value), format_number(estimate.lower),
                       format_number(estimate.upper)));
  }
}

void check(std::span<const Estimate> estimates) {
  if (estimates.empty()) refuse("no estimates; give at least one");
  for (const Estimate& estimate : estimates) check(estimate);
}

std::vector<double> checked_weights(std::span<const double> weights, std::size_t count) {
  if (weights.empty()) return std::vector<double>(count, 1.0);
  if (weights.size() != count) {
    refuse(
        fmt::format("{} weights for {} values; give one a value, or none", weights.size(), count));
  }
  for (const double weight : weights) {
    if (!(weight > 0 && std::isfinite(weight))) {
      refuse(fmt::format("a weight is {}; it must be finite and above 0", format_number(weight)));
    }
  }
  return {weights.begin(), weights.end()};
}

void check_total(double total) {
  if (!std::isfinite(total)) {
    refuse(fmt::format("the total is {}; it must be finite", format_number(total)));
  }
}

std::vector<double> values_of(std::span<const Estimate> estimates) {
  std::vector<double> values;
  for (const Estimate& estimate : estimates) values.push_back(estimate.value);
  return values;
}

// The intervals, unless one of them became empty: then those that were given, all of them.
std::vector<Estimate> with_values(std::span<const Estimate> given, std::vector<Estimate> tightened,
                                  std::span<const double> values) {
  const bool contradiction = std::any_of(tightened.begin(), tightened.end(),
                                         [](const Estimate& e) { return e.lower > e.upper; });
  if (contradiction) tightened.assign(given.begin(), given.end());
  for (std::size_t i = 0; i < tightened.size(); ++i) tightened[i].value = values[i];
  return tightened;
}

Estimate with_value(const Estimate& given, const Estimate& tightened, double value) {
  return with_values({&given, 1}, {tightened}, {&value, 1}).front();
}

// Each part is the total less the others, which lie between their own ends.
void tighten_to_total(std::span<Estimate> estimates, double total) {
  const std::size_t count = estimates.size();
  // Sums over the parts from i on, and below while the loop runs over the parts before i: a sum
  // that leaves out one part cannot be had by subtracting, which would lose its direction.
  std::vector<double> lower_after(count + 1, 0.0);
  std::vector<double> upper_after(count + 1, 0.0);
  for (std::size_t i = count; i-- > 0;) {
    lower_after[i] = numeric::add_down(estimates[i].lower, lower_after[i + 1]);
    upper_after[i] = numeric::add_up(estimates[i].upper, upper_after[i + 1]);
  }
  double lower_before = 0;
  double upper_before = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Estimate given = estimates[i];
    const double others_lower = numeric::add_down(lower_before, lower_after[i + 1]);
    const double others_upper = numeric::add_up(upper_before, upper_after[i + 1]);
    estimates[i].lower = std::max(given.lower, numeric::subtract_down(total, others_upper));
    estimates[i].upper = std::min(given.upper, numeric::subtract_up(total, others_lower));
    lower_before = numeric::add_down(lower_before, given.lower);
    upper_before = numeric::add_up(upper_before, given.upper);
  }
}

// Pools neighbours that are out of order until none are; a pool's value is its weighted mean.
std::vector<double> isotonic(std::span<const double> values, std::span<const double> weights) {
  struct Pool {
    double mean;
    double weight;
    std::size_t size;
  };
  std::vector<Pool> pools;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Pool last{values[i], weights[i], 1};
    while (!pools.empty() && pools.back().mean >= last.mean) {
      const Pool& before = pools.back();
      const double weight = before.weight + last.weight;
      const double share = last.weight / weight;
      last = {before.mean + share * (last.mean - before.mean), weight, before.size + last.size};
      pools.pop_back();
    }
    pools.push_back(last);
  }
  std::vector<double> result;
  for (const Pool& pool : pools) result.insert(result.end(), pool.size, pool.mean);
  return result;
}

}  // namespace

Confidence simultaneous(Confidence confidence, std::int64_t count) {
  if (count < 1) refuse(fmt::format("{} intervals; give at least 1", count));
  // The count as a double, rounded up.
  const auto nearest = static_cast<double>(count);
  const double many = count > (std::int64_t{1} << 53) ? numeric::step_up(nearest) : nearest;
  const double miss = numeric::divide_down(numeric::subtract_down(1, confidence.value()), many);
  const double each = count == 1 ? confidence.value() : numeric::subtract_up(1, miss);
  if (!(each < 1)) {
    refuse(
        fmt::format("{} intervals that hold together with confidence {} would each need one "
                    "that no double below 1 can state; use fewer intervals or less confidence",
                    count, format_number(confidence.value())));
  }
  return Confidence(each);
}

Estimate clamp(const Estimate& estimate, double low, double high) {
  check(estimate);
  if (!(low <= high)) {
    refuse(fmt::format("clamping to [{}, {}]; give low <= high", format_number(low),
                       format_number(high)));
  }
  const Estimate tightened{0, std::max(estimate.lower, low), std::min(estimate.upper, high)};
  return with_value(estimate, tightened, std::clamp(estimate.value, low, high));
}

Estimate non_negative(const Estimate& estimate) {
  return clamp(estimate, 0, std::numeric_limits<double>::infinity());
}

Estimate round_to_multiple(const Estimate& estimate, double step) {
  check(estimate);
  if (!(step > 0 && std::isfinite(step))) {
    refuse(fmt::format("rounding to multiples of {}; give a step that is finite and above 0",
                       format_number(step)));
  }
  // Ends that overflow stay infinite, on the outer side.
  const double first = std::ceil(numeric::divide_down(estimate.lower, step));
  const double last = std::floor(numeric::divide_up(estimate.upper, step));
  const Estimate tightened{0, std::max(estimate.lower, numeric::multiply_down(first, step)),
                           std::min(estimate.upper, numeric::multiply_up(last, step))};
  const double multiple = std::round(estimate.value / step) * step + 0.0;  // no minus zero
  return with_value(estimate, tightened, std::isfinite(multiple) ? multiple : estimate.value);
}

std::vector<Estimate> monotone(std::span<const Estimate> estimates,
                               std::span<const double> weights) {
  check(estimates);
  const std::vector<double> trust = checked_weights(weights, estimates.size());
  std::vector<Estimate> tightened(estimates.begin(), estimates.end());
  for (std::size_t i = 1; i < tightened.size(); ++i) {
    tightened[i].lower = std::max(tightened[i].lower, tightened[i - 1].lower);
  }
  for (std::size_t i = tightened.size() - 1; i-- > 0;) {
    tightened[i].upper = std::min(tightened[i].upper, tightened[i + 1].upper);
  }
  return with_values(estimates, std::move(tightened), isotonic(values_of(estimates), trust));
}

std::vector<Estimate> with_total(std::span<const Estimate> estimates, double total,
                                 std::span<const double> weights) {
  check(estimates);
  check_total(total);
  const std::vector<double> trust = checked_weights(weights, estimates.size());
  std::vector<double> values = values_of(estimates);
  const double missing = total - std::accumulate(values.begin(), values.end(), 0.0);
  // A value gives way in proportion to its variance. Relative to the largest, so that nothing
  // overflows.
  const double least_trust = *std::min_element(trust.begin(), trust.end());
  double sum = 0;
  for (const double weight : trust) sum += least_trust / weight;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] += missing * (least_trust / trust[i] / sum);
  }
  std::vector<Estimate> tightened(estimates.begin(), estimates.end());
  tighten_to_total(tightened, total);
  return with_values(estimates, std::move(tightened), values);
}

std::vector<double> project_to_total(std::span<const double> values, double total,
                                     std::span<const double> weights) {
  if (values.empty()) refuse("no values; give at least one");
  check_total(total);
  if (total < 0) {
    refuse(fmt::format("values that are not negative cannot sum to {}; give a total of at least 0",
                       format_number(total)));
  }
  const std::vector<double> trust = checked_weights(weights, values.size());
  for (const double value : values) {
    if (!std::isfinite(value)) refuse("a value is not finite; give finite values");
  }
  // x_i = max(0, v_i - m / w_i) for the one m that gives the total. Those that stay above 0 are the
  // first in the order of v_i w_i; each is taken as long as the m that the taken ones ask for
  // leaves it above 0.
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return values[a] * trust[a] > values[b] * trust[b];
  });
  double multiplier = 0;
  double sum = 0;
  double spread = 0;
  bool first = true;
  for (const std::size_t i : order) {
    if (!first && values[i] * trust[i] <= multiplier) break;
    sum += values[i];
    spread += 1 / trust[i];
    multiplier = (sum - total) / spread;
    first = false;
  }
  std::vector<double> result;
  for (std::size_t i = 0; i < values.size(); ++i) {
    result.push_back(std::max(0.0, values[i] - multiplier / trust[i]));
  }
  return result;
}

std::vector<Estimate> non_negative_with_total(std::span<const Estimate> estimates, double total,
                                              std::span<const double> weights) {
  check(estimates);
  const std::vector<double> values = project_to_total(values_of(estimates), total, weights);
  std::vector<Estimate> tightened(estimates.begin(), estimates.end());
  for (Estimate& estimate : tightened) {
    estimate.lower = std::max(estimate.lower, 0.0);
    estimate.upper = std::min(estimate.upper, total);
  }
  tighten_to_total(tightened, total);
  return with_values(estimates, std::move(tightened), values);
}

}  // namespace shoal::mechanism
