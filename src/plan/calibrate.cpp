#include "plan/calibrate.hpp"

#include "plan/noise_share.hpp"
#include "plan/presentation.hpp"
#include "plan/quantile_noise.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/privacy/conversion.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::plan {
namespace {

using catalog::Statistic;
using catalog::StatisticKind;
using mechanism::GroupedNoise;
using mechanism::GroupStatistic;

// Noise of a sum spans about 2^24 grid steps: rounding a value to the grid then changes an answer
// by nothing that could be seen beside the noise.
constexpr double kStepsInNoise = 0x1p24;

// Noise of squares may span this many, well within what samplers can do.
constexpr double kWidestSquareNoise = 0x1p46;

Epsilon checked_epsilon(double epsilon) {
  if (!(epsilon > 0)) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("epsilon is {}; it must be above 0 (0.1 to 1 is common for one question)",
                    format_number(epsilon)));
  }
  return Epsilon(epsilon);
}

// Half widths of the interval at sensitivity 1, as continuous noise would have them: enough to
// compare.
double laplace_width(Confidence confidence) { return std::log(1 / (1 - confidence.value())); }

double gaussian_width(Confidence confidence) {
  double low = 0;
  double high = 40;
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) > 1 - confidence.value() ? low : high) = middle;
  }
  return high;
}

class Calibrator {
 public:
  Calibrator(const WantedAggregates& wanted, const ResolvedOptions& options, Plan& plan)
      : wanted_(wanted), options_(options), plan_(plan) {
    for (const PlannedGrouping& grouping : plan.groupings) hidden_ += grouping.hidden ? 1 : 0;
    has_units_ = std::any_of(wanted.statistics.begin(), wanted.statistics.end(),
                             [](const auto& one) { return one.kind == StatisticKind::units; });
  }

  void run() {
    plan_.epsilon = checked_epsilon(options_.epsilon);
    plan_.confidence = Confidence(options_.confidence);
    set_delta();
    choose_share();
    plan_.delta = Delta(share_.laplace ? hidden_delta() : delta_);
    for (const WantedValue& value : wanted_.values) place(value);
    for (const WantedStatistic& one : wanted_.statistics) add_statistic(one);
    std::size_t part = 0;
    for (std::size_t i = 0; i < plan_.groupings.size(); ++i) {
      make_noisy(plan_.groupings[i], plan_.noises[i], part);
    }
    plan_.event = mechanism::grouped_event(plan_.noises, plan_.neighbors);
    plan_.charge = privacy::price(plan_.event, plan_.neighbors);
    set_limit();
    check();
  }

 private:
  void set_delta() {
    delta_ = Delta(options_.delta.value_or(hidden_ > 0 ? options_.hidden_delta : 0)).value();
    if (options_.noise == NoiseChoice::gaussian && delta_ == 0) {
      throw Error(ErrorCode::invalid_argument,
                  "gaussian noise needs a delta above 0; add for example --delta 1e-7");
    }
    if (hidden_ > 0 && delta_ == 0 && options_.delta && options_.hidden_delta > 0) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("the keys of GROUP BY are not public, so small groups must be hidden, which "
                      "needs a delta; the question asks for delta 0: leave it out, or ask for "
                      "example with {}",
                      format_number(options_.hidden_delta)));
    }
    if (hidden_ > 0 && delta_ == 0) {
      throw Error(
          ErrorCode::refused_by_policy,
          "the keys of GROUP BY are not public, so small groups must be hidden, which needs "
          "a delta; the policy sets none aside for it. Let the owner list the values of the "
          "column (categories), or set failures in [budget]");
    }
  }

  // What showing a group by mistake may cost: all of delta beside Laplace noise, half of it beside
  // Gaussian noise, which needs the other half.
  double hidden_delta() const {
    if (hidden_ == 0) return 0;
    return share_.laplace ? delta_ : delta_ / 2;
  }
  double noise_delta() const { return hidden_ == 0 ? delta_ : delta_ / 2; }

  std::size_t parts() const {
    std::size_t count = 0;
    for (const PlannedGrouping& grouping : plan_.groupings) {
      count += wanted_.statistics.size() + (grouping.hidden && !has_units_ ? 1 : 0);
      count += extra_quantiles();
    }
    return count;
  }

  // Quantiles that are chosen one by one are parts of their own.
  std::size_t extra_quantiles() const {
    std::size_t extra = 0;
    for (std::size_t i = 0; i < wanted_.statistics.size(); ++i) {
      if (wanted_.statistics[i].kind != StatisticKind::leaves) continue;
      extra += quantile_parts(wanted_.aggregates, i) - 1;
    }
    return extra;
  }

  std::int64_t rho_units() const {
    const double rho = privacy::rho_within(plan_.epsilon, Delta(noise_delta())).value();
    // One unit less than rounded up is at most rho.
    return std::max<std::int64_t>(0, numeric::ratio_units_up(rho, 1, privacy::kRhoDecimals) - 1);
  }

  void choose_share() {
    const auto count = static_cast<std::int64_t>(parts());
    const std::int64_t epsilon_units =
        numeric::decimal_units_down(plan_.epsilon.value(), privacy::kEpsilonDecimals);
    const Share laplace{true, epsilon_units / count, epsilon_units % count};
    share_ = laplace;
    if (options_.noise != NoiseChoice::laplace && noise_delta() > 0) {
      const std::int64_t units = rho_units();
      const Share gaussian{false, units / count, units % count};
      const bool wanted = options_.noise == NoiseChoice::gaussian || laplace.units == 0;
      if (wanted || (gaussian.units > 0 && width(gaussian) < width(laplace))) share_ = gaussian;
    }
    if (share_.units == 0) too_noisy(options_.epsilon);
  }

  // How wide answers would be in the grouping that needs most noise.
  double width(const Share& share) const {
    double widest = 1;
    for (const GroupedNoise& noise : plan_.noises) {
      widest = std::max(widest, widening(share, noise, plan_.neighbors));
    }
    return share.unit_scale() * widest *
           (share.laplace ? laplace_width(plan_.confidence) : gaussian_width(plan_.confidence));
  }

  // The least noise that any grouping gives a statistic that a unit moves by `largest` in a group.
  double least_noise(double largest) const {
    double narrowest = HUGE_VAL;
    for (const GroupedNoise& noise : plan_.noises) {
      narrowest = std::min(narrowest, widening(share_, noise, plan_.neighbors));
    }
    const double noise = largest * narrowest * share_.unit_scale();
    if (!(noise > 0 && std::isfinite(noise))) too_noisy(options_.epsilon);
    return noise;
  }

  void place(const WantedValue& wanted) {
    PlannedValue value;
    value.identity = wanted.purpose == ValuePurpose::identity;
    value.whole = wanted.type.whole || wanted.purpose == ValuePurpose::presence;
    value.type = column_type(wanted.type);
    value.nulls = wanted.type.nullable || wanted.purpose == ValuePurpose::presence;
    if (wanted.purpose == ValuePurpose::presence) {
      value.range = catalog::place_on_grid({0, 1}, catalog::Grid{0});
    } else if (wanted.purpose != ValuePurpose::identity) {
      value.range = placed(wanted);
    }
    plan_.values.push_back(value);
  }

  catalog::GridRange placed(const WantedValue& wanted) const {
    const double rows = static_cast<double>(plan_.rows_per_group);
    const double half = (wanted.bounds.upper - wanted.bounds.lower) / 2;
    const double largest =
        std::max({std::fabs(wanted.bounds.lower), std::fabs(wanted.bounds.upper), half});
    if (wanted.purpose == ValuePurpose::leaves) return leaf_range(wanted);
    if (wanted.purpose == ValuePurpose::squares) {
      // The largest radius whose squares can still be hidden.
      double radius = std::sqrt(2 * kWidestSquareNoise / least_noise(rows));
      radius =
          std::min({radius, static_cast<double>(catalog::kMaxSquaredRadius) / 2, 0x1p50 / rows});
      if (radius < 32) too_noisy(options_.epsilon);
      const bool whole = wanted.type.whole && half + 1 <= radius;
      return place_on_grid(wanted.bounds,
                           choose_grid(wanted.bounds, whole ? 1 : 2 * half / radius, whole));
    }
    const double noise = least_noise(largest * rows);
    const bool whole = wanted.type.whole && noise <= 0x1p48;
    return place_on_grid(wanted.bounds, choose_grid(wanted.bounds, noise / kStepsInNoise, whole));
  }

  void add_statistic(const WantedStatistic& one) {
    Statistic statistic;
    statistic.kind = one.kind;
    statistic.value = one.value;
    if (one.kind != StatisticKind::rows && one.kind != StatisticKind::units) {
      statistic.column = wanted_.values[one.value].of;
      const bool counts = one.kind == StatisticKind::values || one.kind == StatisticKind::distinct;
      if (!counts) statistic.range = plan_.values[one.value].range;
    }
    plan_.statistics.push_back(statistic);
  }

  // What a unit adds to a statistic of one group.
  GroupStatistic bounded(const Statistic& statistic) const {
    std::int64_t rows = plan_.rows_per_group;
    if (statistic.kind == StatisticKind::units) rows = 1;
    if (statistic.kind == StatisticKind::distinct) rows = plan_.distinct_per_group;
    GroupStatistic made;
    if (__builtin_mul_overflow(statistic.least_per_row(), rows, &made.least) ||
        __builtin_mul_overflow(statistic.most_per_row(), rows, &made.most) ||
        std::max(-made.least, made.most) > (std::int64_t{1} << 52)) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("the bounds of {} times {} rows per person are too large to be summed "
                      "exactly; use narrower bounds or fewer rows per person",
                      statistic.column, rows));
    }
    return made;
  }

  void make_noisy(const PlannedGrouping& grouping, GroupedNoise& noise, std::size_t& part) {
    for (std::size_t i = 0; i < plan_.statistics.size(); ++i) {
      const Statistic& statistic = plan_.statistics[i];
      if (statistic.kind == StatisticKind::leaves) {
        noise.quantiles.push_back(make_quantiles(i, noise, part));
        continue;
      }
      GroupStatistic made = bounded(statistic);
      const Share mine = share_.part(part++);
      if (grouping.hidden && statistic.kind == StatisticKind::units) {
        noise.selection = threshold(mine, noise);
      } else {
        made.noise = smallest_noise(mine, made, noise, plan_.neighbors, options_.epsilon);
      }
      noise.statistics.push_back(made);
    }
    if (grouping.hidden && !has_units_)
      noise.selection = best_selection(share_.part(part++), noise);
  }

  mechanism::GroupQuantiles make_quantiles(std::size_t statistic, const GroupedNoise& noise,
                                           std::size_t& part) const {
    std::vector<Share> shares;
    const std::size_t count = quantile_parts(plan_.aggregates, statistic);
    for (std::size_t i = 0; i < count; ++i) shares.push_back(share_.part(part++));
    return quantile_noise(plan_, statistic, noise, shares, options_.epsilon);
  }

  // A little less than an equal part: the ledger rounds each charge up to a whole unit.
  Delta grouping_delta() const {
    const double part = numeric::divide_down(hidden_delta(), static_cast<double>(hidden_)) - 2e-18;
    if (!(part > 0)) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("delta {} is too small to hide groups with; use 1e-16 or more",
                              format_number(delta_)));
    }
    return Delta(part);
  }

  mechanism::KeySelection threshold(const Share& share, const GroupedNoise& noise) const {
    if (options_.selection == SelectionChoice::optimal) {
      throw Error(ErrorCode::invalid_argument,
                  "OPTIMAL selection gives no count of people, which this question asks for; use "
                  "LAPLACE_THRESHOLD, or leave group_selection_strategy out");
    }
    check_strategy();
    const mechanism::AnyMechanism made =
        smallest_noise(share, {std::nullopt, 0, 1}, noise, plan_.neighbors, options_.epsilon);
    const double scale = mechanism::noise_scale(made);
    if (share.laplace) {
      return mechanism::laplace_threshold(scale, grouping_delta(), noise.max_groups,
                                          plan_.min_units);
    }
    return mechanism::gaussian_threshold(scale, grouping_delta(), noise.max_groups,
                                         plan_.min_units);
  }

  void check_strategy() const {
    const bool wrong = (options_.selection == SelectionChoice::laplace && !share_.laplace) ||
                       (options_.selection == SelectionChoice::gaussian && share_.laplace);
    if (!wrong) return;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("group_selection_strategy needs {0} noise, and this question has the "
                            "other; add noise = {0} to OPTIONS, or leave the strategy out",
                            share_.laplace ? "GAUSSIAN" : "LAPLACE"));
  }

  mechanism::KeySelection optimal(const Share& share, const GroupedNoise& noise) const {
    double epsilon = 0;
    if (share.laplace) {
      epsilon = numeric::from_units_down(share.units, privacy::kEpsilonDecimals);
    } else {
      // Each group's epsilon tanh(epsilon / 2) must be within its part of rho.
      const double rho =
          static_cast<double>(share.units - 1) * 1e-15 / groups_moved(noise, plan_.neighbors);
      double low = 0;
      double high = 100;
      for (int step = 0; step < 200; ++step) {
        const double middle = (low + high) / 2;
        (middle * std::tanh(middle / 2) < rho * (1 - 1e-9) ? low : high) = middle;
      }
      epsilon = low * groups_moved(noise, plan_.neighbors);
    }
    return mechanism::optimal_selection(Epsilon(epsilon), grouping_delta(), noise.max_groups,
                                        plan_.neighbors, plan_.min_units);
  }

  // The one that shows the smallest groups; what it costs is the same.
  mechanism::KeySelection best_selection(const Share& share, const GroupedNoise& noise) const {
    if (options_.selection == SelectionChoice::optimal) return optimal(share, noise);
    const mechanism::KeySelection first = threshold(share, noise);
    if (options_.selection != SelectionChoice::automatic) return first;
    const mechanism::KeySelection second = optimal(share, noise);
    return even_chance_size(second) < even_chance_size(first) ? second : first;
  }

  // Whatever is summed and however often it is counted, an answer costs no more.
  void set_limit() {
    plan_.limit.delta_units = numeric::decimal_units_down(hidden_delta(), privacy::kDeltaDecimals);
    if (share_.laplace) {
      plan_.limit.epsilon_units =
          numeric::decimal_units_down(plan_.epsilon.value(), privacy::kEpsilonDecimals);
    } else {
      plan_.limit.rho_units = rho_units();
    }
  }

  // The whole point: what is charged is at most what was asked for.
  void check() const {
    SHOAL_CHECK(privacy::covers(privacy::declared(plan_.limit), plan_.event, plan_.neighbors));
    SHOAL_CHECK(plan_.charge.delta_units <=
                numeric::decimal_units_down(hidden_delta(), privacy::kDeltaDecimals));
    if (share_.laplace) {
      SHOAL_CHECK(*plan_.charge.epsilon_units <=
                  numeric::decimal_units_down(plan_.epsilon.value(), privacy::kEpsilonDecimals));
    } else {
      SHOAL_CHECK(privacy::epsilon_of_rho_up(
                      Rho(numeric::from_units_up(plan_.charge.rho_units, privacy::kRhoDecimals)),
                      Delta(noise_delta())) <= plan_.epsilon.value());
    }
  }

  const WantedAggregates& wanted_;
  const ResolvedOptions& options_;
  Plan& plan_;
  Share share_;
  double delta_ = 0;
  std::size_t hidden_ = 0;  // how many groupings have keys that must be hidden
  bool has_units_ = false;
};

}  // namespace

void calibrate(const WantedAggregates& wanted, const ResolvedOptions& options, Plan& plan) {
  Calibrator(wanted, options, plan).run();
}

}  // namespace shoal::plan
