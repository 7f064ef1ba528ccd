#include "release/marginal_scores.hpp"
#include "release/marginal_tables_key.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/discrete_gaussian.hpp>
#include <shoal/mechanism/exponential_mechanism.hpp>
#include <shoal/mechanism/selector.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/random/discrete_gaussian.hpp>
#include <shoal/random/rounded_normal.hpp>
#include <shoal/release/marginal_curator.hpp>

#include <cmath>
#include <string>
#include <utility>

namespace shoal::release {

namespace {

using mechanism::ScoreChange;
using mechanism::ScoreSensitivity;
using privacy::Event;

constexpr std::int64_t kMaxWeight = std::int64_t{1} << 32;
constexpr Int128 kMaxExpected = Int128{1} << 60;  // with 2^40 rows, distances stay below 2^61
constexpr std::int64_t kMaxRowsPerUnit = 1'000'000;

double units_down(std::int64_t limit, std::int64_t spent, int decimals) {
  const auto left = static_cast<double>(limit - spent);
  return std::max(0.0, numeric::divide_down(numeric::step_down(left), std::pow(10.0, decimals)));
}

}  // namespace

// Somebody who comes or goes moves the counts of all cells together by rows_per_unit in L1, hence
// in L2; somebody exchanged does that twice.
Event marginal_event(double sigma, const MarginalUnit& unit, MarginalNoise noise) {
  const auto rows = static_cast<double>(unit.rows_per_unit);
  const Event once = noise == MarginalNoise::discrete_gaussian
                         ? Event(privacy::event::DiscreteGaussian{sigma, rows, rows})
                         : Event(privacy::event::Gaussian{sigma, rows, rows});
  if (unit.neighbors == Neighbors::add_remove) return once;
  return privacy::event::Repeat{2, once};
}

Event choice_event(double scale, std::int64_t largest_weight, const MarginalUnit& unit) {
  const std::int64_t moves = unit.neighbors == Neighbors::add_remove ? 1 : 2;
  const std::int64_t steps = kExpectedSteps * largest_weight * unit.rows_per_unit * moves;
  return privacy_event(mechanism::ExponentialMechanism{scale},
                       ScoreSensitivity{Sensitivity(steps), ScoreChange::two_sided});
}

// Each distance is one number, which a row moves by a whole row of steps. The noise is on that
// grid, and so are its event's sigma and sensitivities.
Event distances_event(double sigma, std::int64_t marginals, const MarginalUnit& unit,
                      MarginalNoise noise) {
  const auto steps = static_cast<double>(unit.rows_per_unit * kComparedSteps);
  const double scale = sigma * kComparedSteps;
  const Event once = noise == MarginalNoise::discrete_gaussian
                         ? Event(privacy::event::DiscreteGaussian{scale, steps, 2 * steps})
                         : Event(privacy::event::Gaussian{scale, steps, 2 * steps});
  return privacy::event::Repeat{marginals, once};
}

MarginalCurator::MarginalCurator(privacy::Reservation&& reservation, data::CodedTable&& table,
                                 MarginalUnit unit, int threads, random::BitSource& bits)
    : reservation_(std::move(reservation)),
      table_(std::move(table)),
      unit_(unit),
      threads_(threads),
      bits_(bits) {
  SHOAL_CHECK(reservation_.touched());
  SHOAL_CHECK(reservation_.neighbors() == unit.neighbors);
  if (unit.rows_per_unit < 1 || unit.rows_per_unit > kMaxRowsPerUnit) {
    throw Error(ErrorCode::invalid_argument, std::to_string(unit.rows_per_unit) +
                                                 " rows of one unit are out of range: give 1 to " +
                                                 std::to_string(kMaxRowsPerUnit));
  }
  const Event::Node& node = reservation_.event().node();
  if (std::holds_alternative<privacy::event::Pure>(node)) {
    kind_ = Kind::pure;
  } else if (std::holds_alternative<privacy::event::Gdp>(node)) {
    kind_ = Kind::gdp;
  } else {
    SHOAL_CHECK(std::holds_alternative<privacy::event::Zcdp>(node));
  }
  limit_ = price(reservation_.event(), unit.neighbors);
}

MarginalNoise MarginalCurator::noise() const {
  return kind_ == Kind::gdp ? MarginalNoise::rounded_gaussian : MarginalNoise::discrete_gaussian;
}

double MarginalCurator::rho_left() const {
  return units_down(limit_.rho_units, spent_.rho_units, privacy::kRhoDecimals);
}

double MarginalCurator::half_square_left() const {
  if (kind_ != Kind::gdp || !limit_.gaussian_units || !spent_.gaussian_units) return 0;
  return units_down(*limit_.gaussian_units, *spent_.gaussian_units, privacy::kRhoDecimals);
}

double MarginalCurator::epsilon_left() const {
  if (kind_ != Kind::pure || !limit_.epsilon_units || !spent_.epsilon_units) return 0;
  return units_down(*limit_.epsilon_units, *spent_.epsilon_units, privacy::kEpsilonDecimals);
}

bool MarginalCurator::affords(const Event& event) const {
  const privacy::Charge after = add(spent_, price(event, unit_.neighbors));
  if (after.delta_units > limit_.delta_units) return false;
  switch (kind_) {
    case Kind::pure:
      return after.epsilon_units && *after.epsilon_units <= *limit_.epsilon_units;
    case Kind::gdp:
      return after.gaussian_units && *after.gaussian_units <= *limit_.gaussian_units;
    case Kind::zcdp:
      break;
  }
  return after.rho_units <= limit_.rho_units;
}

void MarginalCurator::charge(const Event& event) {
  if (!affords(event)) {
    throw Error(ErrorCode::budget_exceeded,
                "what was reserved does not pay for this step: use more noise, or reserve more");
  }
  spent_ = add(spent_, price(event, unit_.neighbors));
}

void MarginalCurator::prepare(std::span<const data::AttributeSet> sets) {
  std::vector<data::AttributeSet> missing;
  for (const data::AttributeSet set : sets) {
    if (!index_.contains(set)) {
      index_[set] = {tables_.size(), missing.size()};
      missing.push_back(set);
    }
  }
  if (!missing.empty()) tables_.push_back(count_marginals(table_, missing, threads_));
}

const std::vector<std::int64_t>& MarginalCurator::counts(data::AttributeSet set) {
  prepare({&set, 1});
  const auto [batch, place] = index_.at(set);
  return MarginalTablesKey::counts(tables_[batch], place);
}

// Charges what is given after the sampler has seen that sigma is good, and before it draws.
void MarginalCurator::draw_noise(double sigma, std::span<std::int64_t> into, const Event* charged) {
  const auto draw = [&](const auto& sampler) {
    if (charged) charge(*charged);
    sampler.fill(into, bits_);
  };
  if (noise() == MarginalNoise::rounded_gaussian) {
    draw(random::RoundedNormalSampler(sigma));
  } else {
    draw(random::DiscreteGaussianSampler(sigma));
  }
}

std::vector<std::int64_t> MarginalCurator::measure(data::AttributeSet set, double sigma) {
  const auto cells = static_cast<std::size_t>(data::cell_count(sizes(), set));
  std::vector<std::int64_t> noisy(cells);
  const Event event = marginal_event(sigma, unit_, noise());
  draw_noise(sigma, noisy, &event);
  const std::vector<std::int64_t>& exact = counts(set);
  for (std::size_t i = 0; i < cells; ++i) {
    noisy[i] = static_cast<std::int64_t>(Int128{exact[i]} + noisy[i]);
  }
  return noisy;
}

void MarginalCurator::prepay_distances(std::int64_t marginals, double sigma) {
  SHOAL_CHECK(marginals > 0 && prepaid_ == 0);
  const Event event = distances_event(sigma, marginals, unit_, noise());
  draw_noise(sigma * kComparedSteps, {}, &event);
  prepaid_ = marginals;
  prepaid_sigma_ = sigma;
}

std::vector<std::int64_t> MarginalCurator::distances(std::span<const ComparedTable> tables) {
  SHOAL_CHECK(prepaid_ > 0 && static_cast<std::int64_t>(tables.size()) == prepaid_);
  std::vector<data::AttributeSet> sets;
  for (const ComparedTable& table : tables) {
    const std::int64_t cells = data::cell_count(sizes(), table.set);
    Int128 total = 0;
    for (const std::int64_t steps : table.steps) total += steps < 0 ? -Int128{steps} : steps;
    if (static_cast<std::int64_t>(table.steps.size()) != cells || total > kMaxExpected) {
      throw Error(ErrorCode::invalid_argument,
                  "a table to compare with needs a count for each of " + std::to_string(cells) +
                      " cells, and no more than 2^60 steps in all");
    }
    sets.push_back(table.set);
  }
  prepaid_ = 0;
  std::vector<std::int64_t> noisy(tables.size());
  draw_noise(prepaid_sigma_ * kComparedSteps, noisy, nullptr);
  prepare(sets);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    noisy[i] =
        static_cast<std::int64_t>(noisy[i] + marginal_distance(counts(tables[i].set), tables[i]));
  }
  return noisy;
}

Int128 MarginalCurator::score(const MarginalCandidate& candidate) {
  return marginal_score(counts(candidate.set), candidate);
}

std::size_t MarginalCurator::choose(std::span<const MarginalCandidate> candidates, double scale) {
  if (candidates.empty()) {
    throw Error(ErrorCode::invalid_argument, "there is no marginal to choose from");
  }
  std::int64_t largest = 1;
  std::vector<data::AttributeSet> sets;
  for (const MarginalCandidate& candidate : candidates) {
    const std::int64_t cells = data::cell_count(sizes(), candidate.set);
    if (static_cast<std::int64_t>(candidate.expected.size()) != cells || candidate.weight < 1 ||
        candidate.weight > kMaxWeight) {
      throw Error(ErrorCode::invalid_argument,
                  "a candidate needs a weight from 1 to 2^32 and one expected count for each of " +
                      std::to_string(cells) + " cells");
    }
    Int128 total = 0;
    for (const std::int64_t steps : candidate.expected) total += steps < 0 ? -Int128{steps} : steps;
    if (total > kMaxExpected) {
      throw Error(ErrorCode::invalid_argument,
                  "expected counts may not add up to more than 2^60 steps: scale them down");
    }
    largest = std::max(largest, candidate.weight);
    sets.push_back(candidate.set);
  }
  const mechanism::ExponentialMechanism spec{scale};
  charge(choice_event(scale, largest, unit_));
  prepare(sets);
  mechanism::Selector selector = mechanism::make_selector(spec, bits_);
  for (const MarginalCandidate& candidate : candidates) selector.offer(score(candidate));
  return selector.result().front();
}

}  // namespace shoal::release
