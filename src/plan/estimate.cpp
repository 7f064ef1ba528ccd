#include <shoal/base/error.hpp>
#include <shoal/plan/estimate.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace shoal::plan {
namespace {

struct Interval {
  double value;
  double lower;
  double upper;
};

Interval noisy(const Plan& plan, std::size_t index, std::span<const Int128> released,
               Confidence confidence) {
  const auto width =
      static_cast<double>(mechanism::error_interval(plan.noises[index].mechanism, confidence));
  const auto value = static_cast<double>(released[index]);
  return {value, value - width, value + width};
}

// Two noisy numbers in one answer: each gets half of the chance to be missed.
Confidence halved(Confidence confidence) { return Confidence((1 + confidence.value()) / 2); }

Interval ratio(const Interval& sum, const Interval& count) {
  // The true number of rows is a whole number; where it is none at all there is no average to be
  // missed.
  const double fewest = std::max(1.0, count.lower);
  const double most = std::max(1.0, count.upper);
  return {sum.value / std::max(1.0, count.value), sum.lower / (sum.lower < 0 ? fewest : most),
          sum.upper / (sum.upper < 0 ? most : fewest)};
}

Estimate average(const Plan& plan, const PlannedOutput& output, std::span<const Int128> released) {
  const Confidence confidence = halved(plan.confidence);
  const catalog::GridRange& range = plan.statistics[output.statistic].range;
  const Interval centred = ratio(noisy(plan, output.statistic, released, confidence),
                                 noisy(plan, *output.denominator, released, confidence));
  const auto place = [&](double steps) {
    const double from_zero = static_cast<double>(range.middle()) + steps;
    return range.value_of(
        std::clamp(from_zero, static_cast<double>(range.lower), static_cast<double>(range.upper)));
  };
  return {place(centred.value), place(centred.lower), place(centred.upper)};
}

Estimate centred_sum(const Plan& plan, const PlannedOutput& output,
                     std::span<const Int128> released) {
  const Confidence confidence = halved(plan.confidence);
  const catalog::GridRange& range = plan.statistics[output.statistic].range;
  const Interval sum = noisy(plan, output.statistic, released, confidence);
  const Interval count = noisy(plan, *output.denominator, released, confidence);
  const auto middle = static_cast<double>(range.middle());
  const double value = sum.value + middle * count.value;
  const double width = (sum.upper - sum.value) + std::fabs(middle) * (count.upper - count.value);
  return {range.value_of(value), range.value_of(value - width), range.value_of(value + width)};
}

}  // namespace

Estimate estimate(const Plan& plan, const PlannedOutput& output, std::span<const Int128> released) {
  SHOAL_CHECK(released.size() == plan.statistics.size());
  if (output.kind == OutputKind::average) return average(plan, output, released);
  if (output.denominator) return centred_sum(plan, output, released);
  const Interval one = noisy(plan, output.statistic, released, plan.confidence);
  // A count is not negative: the interval loses nothing by ending there. The value stays as it
  // came, unbiased.
  if (output.kind == OutputKind::count)
    return {one.value, std::max(0.0, one.lower), std::max(0.0, one.upper)};
  const catalog::GridRange& range = plan.statistics[output.statistic].range;
  return {range.value_of(one.value), range.value_of(one.lower), range.value_of(one.upper)};
}

double expected_error(const Plan& plan, const PlannedOutput& output) {
  const std::vector<Int128> zeros(plan.statistics.size(), 0);
  if (output.kind == OutputKind::average) {
    // S / N moves by about width(S) / N, and by |S| / N <= radius times width(N) / N.
    const Confidence confidence = halved(plan.confidence);
    const catalog::GridRange& range = plan.statistics[output.statistic].range;
    const Interval sum = noisy(plan, output.statistic, zeros, confidence);
    const Interval count = noisy(plan, *output.denominator, zeros, confidence);
    return range.value_of(sum.upper + static_cast<double>(range.radius()) * count.upper);
  }
  const Estimate zero = estimate(plan, output, zeros);
  return zero.upper - zero.value;
}

}  // namespace shoal::plan
