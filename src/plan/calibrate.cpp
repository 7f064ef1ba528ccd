#include "plan/calibrate.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/privacy/conversion.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::plan {
namespace {

using catalog::Statistic;
using catalog::StatisticKind;

// Noise of a sum spans about 2^24 grid steps: rounding a value to the grid then changes an answer
// by nothing that could be seen beside the noise.
constexpr double kStepsInNoise = 0x1p24;

// Each statistic's equal share of the cost, and how to meet it.
struct Share {
  bool laplace = true;
  std::int64_t units = 0;  // of epsilon (laplace) or rho (gaussian)
  std::int64_t rest = 0;   // what dividing left over: one unit more for each of the first so many

  Share for_statistic(std::size_t index) const {
    return {laplace, units + (static_cast<std::int64_t>(index) < rest ? 1 : 0), 0};
  }

  // Noise scale for sensitivity 1, near enough for choosing a grid.
  double unit_scale() const {
    const double amount = static_cast<double>(units);
    return laplace ? 1e12 / amount : std::sqrt(1e15 / (2 * amount));
  }
};

[[noreturn]] void too_noisy(double epsilon) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("epsilon {} is so small that the noise cannot be represented; use a "
                          "larger epsilon, fewer "
                          "columns or a smaller max_rows_per_person",
                          format_number(epsilon)));
}

mechanism::AnyMechanism smallest_noise(const Share& share, Sensitivity sensitivity,
                                       double epsilon) {
  const auto distance = static_cast<double>(sensitivity.steps());
  double scale = 0;
  if (share.laplace) {
    // Rounded up, so the exact ratio, and with it the charge, is at most the share.
    scale =
        numeric::divide_up(numeric::multiply_up(distance, 1e12), static_cast<double>(share.units));
  } else {
    const double rho = numeric::from_units_down(share.units, privacy::kRhoDecimals);
    scale = numeric::divide_up(distance, numeric::sqrt_down(numeric::multiply_down(2, rho)));
  }
  if (!(scale <= random::kMaxScale)) too_noisy(epsilon);
  scale = std::max(scale, random::kMinScale);
  if (share.laplace) return mechanism::DiscreteLaplace{scale};
  return mechanism::DiscreteGaussian{scale};
}

Statistic place(const WantedStatistic& wanted, const Share& share, std::int64_t rows_per_unit,
                double epsilon) {
  Statistic statistic;
  statistic.kind = wanted.kind;
  if (wanted.kind == StatisticKind::rows) return statistic;
  statistic.column = wanted.column->name;
  if (wanted.kind == StatisticKind::values) return statistic;
  const catalog::Bounds& bounds = *wanted.column->bounds;
  const double largest = wanted.kind == StatisticKind::centred_sum
                             ? (bounds.upper - bounds.lower) / 2
                             : std::max(std::fabs(bounds.lower), std::fabs(bounds.upper));
  const double noise = largest * static_cast<double>(rows_per_unit) * share.unit_scale();
  if (!(noise > 0 && std::isfinite(noise))) too_noisy(epsilon);
  const bool whole = wanted.column->type == catalog::ColumnType::integer && noise <= 0x1p48;
  statistic.range = place_on_grid(bounds, choose_grid(bounds, noise / kStepsInNoise, whole));
  return statistic;
}

Epsilon checked_epsilon(double epsilon) {
  if (!(epsilon > 0)) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("epsilon is {}; it must be above 0 (0.1 to 1 is common for one question)",
                    format_number(epsilon)));
  }
  return Epsilon(epsilon);
}

Delta checked_delta(const QueryOptions& options) {
  const Delta delta(options.delta.value_or(0));
  if (options.noise == NoiseChoice::gaussian && delta.value() == 0) {
    throw Error(ErrorCode::invalid_argument,
                "gaussian noise needs a delta above 0; add for example --delta 1e-7");
  }
  return delta;
}

// Half widths of the interval at sensitivity 1, as continuous noise would have them: enough to
// compare.
double laplace_width(const Share& share, Confidence confidence) {
  return share.unit_scale() * std::log(1 / (1 - confidence.value()));
}

double gaussian_width(const Share& share, Confidence confidence) {
  double low = 0;
  double high = 40;
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) > 1 - confidence.value() ? low : high) = middle;
  }
  return share.unit_scale() * high;
}

Share choose_share(std::size_t count, const QueryOptions& options, Epsilon epsilon, Delta delta,
                   Confidence confidence) {
  const auto parts = static_cast<std::int64_t>(count);
  const std::int64_t epsilon_units =
      numeric::decimal_units_down(epsilon.value(), privacy::kEpsilonDecimals);
  const Share laplace{true, epsilon_units / parts, epsilon_units % parts};
  if (options.noise == NoiseChoice::laplace || delta.value() == 0) {
    if (laplace.units == 0) too_noisy(epsilon.value());
    return laplace;
  }
  const double rho = privacy::rho_within(epsilon, delta).value();
  // One unit less than rounded up is at most rho.
  const std::int64_t rho_units =
      std::max<std::int64_t>(0, numeric::ratio_units_up(rho, 1, privacy::kRhoDecimals) - 1);
  const Share gaussian{false, rho_units / parts, rho_units % parts};
  if (options.noise == NoiseChoice::gaussian) {
    if (gaussian.units == 0) too_noisy(epsilon.value());
    return gaussian;
  }
  if (laplace.units == 0 && gaussian.units == 0) too_noisy(epsilon.value());
  if (laplace.units == 0) return gaussian;
  if (gaussian.units == 0) return laplace;
  return gaussian_width(gaussian, confidence) < laplace_width(laplace, confidence) ? gaussian
                                                                                   : laplace;
}

}  // namespace

Sensitivity sensitivity_of(const Statistic& statistic, std::int64_t rows_per_unit,
                           Neighbors neighbors) {
  const std::int64_t least = statistic.least_per_row();
  const std::int64_t most = statistic.most_per_row();
  // A unit adds something in [rows * least, rows * most], which holds 0. Removing it moves the sum
  // by at most the larger end; exchanging it, by at most the length.
  const std::int64_t per_row =
      neighbors == Neighbors::add_remove ? std::max(-least, most) : most - least;
  std::int64_t total = 0;
  if (__builtin_mul_overflow(std::max<std::int64_t>(per_row, 1), rows_per_unit, &total) ||
      total > (std::int64_t{1} << 53)) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format(
            "the bounds of {} times max_rows_per_person are too large to be summed exactly; use "
            "narrower bounds or fewer rows per person",
            statistic.column));
  }
  return Sensitivity(total);
}

void calibrate(const std::vector<WantedStatistic>& wanted, const QueryOptions& options,
               Plan& plan) {
  plan.epsilon = checked_epsilon(options.epsilon);
  const Delta delta = checked_delta(options);
  const Share share = choose_share(wanted.size(), options, plan.epsilon, delta, plan.confidence);
  plan.delta = share.laplace ? Delta(0) : delta;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Share mine = share.for_statistic(i);
    const Statistic statistic = place(wanted[i], mine, plan.rows_per_unit, options.epsilon);
    const Sensitivity sensitivity = sensitivity_of(statistic, plan.rows_per_unit, plan.neighbors);
    plan.statistics.push_back(statistic);
    plan.noises.push_back({smallest_noise(mine, sensitivity, options.epsilon), sensitivity});
  }
  // The sensitivities are those of the plan's relation, and the event says so.
  plan.event = privacy::stated_for(mechanism::joint_event(plan.noises), plan.neighbors);
  plan.charge = privacy::price(plan.event, plan.neighbors);
  // The whole point: what is charged is at most what was asked for.
  if (share.laplace) {
    SHOAL_CHECK(*plan.charge.epsilon_units <=
                numeric::decimal_units_down(plan.epsilon.value(), privacy::kEpsilonDecimals));
  } else {
    SHOAL_CHECK(privacy::epsilon_of_rho_up(
                    Rho(numeric::from_units_up(plan.charge.rho_units, privacy::kRhoDecimals)),
                    plan.delta) <= plan.epsilon.value());
  }
}

}  // namespace shoal::plan
