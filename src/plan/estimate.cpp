#include <shoal/base/error.hpp>
#include <shoal/plan/estimate.hpp>

#include <algorithm>
#include <cmath>

namespace shoal::plan {
namespace {

using Interval = Estimate;

// Several noisy numbers in one answer: each gets an equal part of the chance to be missed.
Confidence divided(Confidence confidence, int parts) {
  return Confidence(1 - (1 - confidence.value()) / parts);
}

class Estimator {
 public:
  Estimator(const Plan& plan, std::size_t grouping, const PlannedAggregate& aggregate,
            const catalog::ReleasedGroup& group, Confidence confidence)
      : plan_(plan),
        noise_(plan.noises.at(grouping)),
        aggregate_(aggregate),
        group_(group),
        confidence_(confidence) {
    SHOAL_CHECK(group.values.size() == noise_.statistics.size());
  }

  Estimate make() const {
    switch (aggregate_.kind) {
      case AggregateKind::sum:
        return aggregate_.denominator ? centred_sum() : plain_sum();
      case AggregateKind::average:
        return average();
      case AggregateKind::variance:
        return variance();
      case AggregateKind::deviation:
        return deviation();
      case AggregateKind::quantile:
      case AggregateKind::minimum:
      case AggregateKind::maximum:
        return quantile();
      case AggregateKind::count:
      case AggregateKind::units:
      case AggregateKind::distinct:
        break;
    }
    // A count is not negative: the interval loses nothing by ending there. The value stays as it
    // came, unbiased.
    const Interval one = noisy(aggregate_.statistic, confidence_);
    return {one.value, std::max(0.0, one.lower), std::max(0.0, one.upper)};
  }

 private:
  const catalog::GridRange& range() const { return plan_.statistics[aggregate_.statistic].range; }

  Interval noisy(std::size_t index, Confidence confidence) const {
    const auto value = static_cast<double>(group_.values[index]);
    const mechanism::GroupStatistic& statistic = noise_.statistics.at(index);
    if (!statistic.noise) {
      const auto shown =
          mechanism::survivor_interval(*noise_.selection, group_.values[index], confidence);
      return {value, static_cast<double>(shown.lower), static_cast<double>(shown.upper)};
    }
    const auto width = static_cast<double>(mechanism::error_interval(*statistic.noise, confidence));
    if (group_.consistent.empty()) return {value, value - width, value + width};
    // The interval of what was released holds, whatever is made of it.
    const auto made = static_cast<double>(group_.consistent[index]);
    return {made, std::min(made, value - width), std::max(made, value + width)};
  }

  // The true number of rows is a whole number; where it is none at all there is no average to be
  // missed.
  static Interval ratio(const Interval& sum, const Interval& count) {
    const double fewest = std::max(1.0, count.lower);
    const double most = std::max(1.0, count.upper);
    return {sum.value / std::max(1.0, count.value), sum.lower / (sum.lower < 0 ? fewest : most),
            sum.upper / (sum.upper < 0 ? most : fewest)};
  }

  Estimate plain_sum() const {
    const Interval one = noisy(aggregate_.statistic, confidence_);
    return {range().value_of(one.value), range().value_of(one.lower), range().value_of(one.upper)};
  }

  Estimate centred_sum() const {
    const Confidence each = divided(confidence_, 2);
    const Interval sum = noisy(aggregate_.statistic, each);
    const Interval count = noisy(*aggregate_.denominator, each);
    const auto middle = static_cast<double>(range().middle());
    const double low = middle * (middle > 0 ? count.lower : count.upper);
    const double high = middle * (middle > 0 ? count.upper : count.lower);
    return {range().value_of(sum.value + middle * count.value), range().value_of(sum.lower + low),
            range().value_of(sum.upper + high)};
  }

  Estimate average() const {
    const Confidence each = divided(confidence_, 2);
    const Interval centred =
        ratio(noisy(aggregate_.statistic, each), noisy(*aggregate_.denominator, each));
    const auto place = [&](double steps) {
      const double from_zero = static_cast<double>(range().middle()) + steps;
      return range().value_of(std::clamp(from_zero, static_cast<double>(range().lower),
                                         static_cast<double>(range().upper)));
    };
    return {place(centred.value), place(centred.lower), place(centred.upper)};
  }

  // With S and T the sums of centred values and of their squares less h: T/N + h - (S/N)^2.
  Estimate variance() const {
    const Confidence each = divided(confidence_, 3);
    const Interval count = noisy(*aggregate_.denominator, each);
    const Interval mean = ratio(noisy(aggregate_.statistic, each), count);
    const Interval square = ratio(noisy(*aggregate_.squares, each), count);
    const auto offset = static_cast<double>(catalog::square_offset(range()));
    const double furthest = std::max(std::fabs(mean.lower), std::fabs(mean.upper));
    const double nearest = mean.lower <= 0 && mean.upper >= 0
                               ? 0
                               : std::min(std::fabs(mean.lower), std::fabs(mean.upper));
    const double most = std::pow(static_cast<double>(range().radius()), 2);
    const auto clamped = [&](double steps) { return std::clamp(steps, 0.0, most); };
    Interval one = {clamped(square.value + offset - mean.value * mean.value),
                    clamped(square.lower + offset - furthest * furthest),
                    clamped(square.upper + offset - nearest * nearest)};
    if (aggregate_.of_sample) {
      const double fewest = std::max(2.0, count.lower);
      const double value = std::max(2.0, count.value);
      one.value *= value / (value - 1);
      one.upper *= fewest / (fewest - 1);
    }
    const double step = range().grid.step();
    return {one.value * step * step, one.lower * step * step, one.upper * step * step};
  }

  // Its interval was made when it was released, with the confidence that its columns need.
  Estimate quantile() const {
    const catalog::ReleasedQuantile& one = group_.quantiles.at(*aggregate_.quantile);
    const auto place = [&](std::int64_t step) {
      return range().value_of(static_cast<double>(step));
    };
    return {place(one.value), place(one.lower), place(one.upper)};
  }

  Estimate deviation() const {
    const Estimate one = variance();
    return {std::sqrt(one.value), std::sqrt(one.lower), std::sqrt(one.upper)};
  }

  const Plan& plan_;
  const mechanism::GroupedNoise& noise_;
  const PlannedAggregate& aggregate_;
  const catalog::ReleasedGroup& group_;
  Confidence confidence_;
};

}  // namespace

Estimate estimate(const Plan& plan, std::size_t grouping, const PlannedAggregate& aggregate,
                  const catalog::ReleasedGroup& group, Confidence confidence) {
  return Estimator(plan, grouping, aggregate, group, confidence).make();
}

std::optional<double> expected_error(const Plan& plan, std::size_t grouping,
                                     const PlannedAggregate& aggregate) {
  if (aggregate.squares || aggregate.quantile) return std::nullopt;
  const mechanism::GroupedNoise& noise = plan.noises.at(grouping);
  // A hidden group's count is as wide as its noise where the group is well above the threshold.
  const auto width = [&](std::size_t index, Confidence confidence) {
    const auto& statistic = noise.statistics.at(index);
    if (statistic.noise) {
      return static_cast<double>(mechanism::error_interval(*statistic.noise, confidence));
    }
    const auto* laplace = std::get_if<mechanism::LaplaceThreshold>(&*noise.selection);
    const mechanism::AnyMechanism plain =
        laplace ? mechanism::AnyMechanism(mechanism::DiscreteLaplace{laplace->scale})
                : mechanism::AnyMechanism(mechanism::DiscreteGaussian{
                      std::get<mechanism::GaussianThreshold>(*noise.selection).sigma});
    return static_cast<double>(mechanism::error_interval(plain, confidence));
  };
  const catalog::GridRange& range = plan.statistics[aggregate.statistic].range;
  if (!aggregate.denominator) {
    const double one = width(aggregate.statistic, plan.confidence);
    return aggregate.kind == AggregateKind::sum ? range.value_of(one) : one;
  }
  const Confidence each = divided(plan.confidence, 2);
  const double sum = width(aggregate.statistic, each);
  const double count = width(*aggregate.denominator, each);
  // A sum moves by |middle| for each row miscounted; S / N by about width(S) / N, and by
  // |S| / N <= radius times width(N) / N.
  const double weight = aggregate.kind == AggregateKind::sum
                            ? std::fabs(static_cast<double>(range.middle()))
                            : static_cast<double>(range.radius());
  return range.value_of(sum + weight * count);
}

}  // namespace shoal::plan
