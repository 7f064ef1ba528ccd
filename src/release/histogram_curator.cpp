#include "release/marginal_tables_key.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/discrete_laplace.hpp>
#include <shoal/mechanism/exponential_mechanism.hpp>
#include <shoal/mechanism/selector.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/random/bernoulli.hpp>
#include <shoal/release/histogram_curator.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

namespace shoal::release {
namespace {

using mechanism::ScoreChange;
using mechanism::ScoreSensitivity;

constexpr std::uint64_t kEpsilonParts = std::uint64_t{1} << 20;

data::MarginalTables whole(const data::CodedTable& table) {
  data::AttributeSet all;
  for (std::size_t j = 0; j < table.sizes().size(); ++j) all = all | data::AttributeSet::single(j);
  return count_marginals(table, {&all, 1}, 1);
}

std::int64_t largest_gap(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  std::int64_t largest = 0;
  for (std::size_t q = 0; q < a.size(); ++q) {
    const std::int64_t gap = a[q] - b[q];
    largest = std::max(largest, gap < 0 ? -gap : gap);
  }
  return largest;
}

// The choice that epsilon pays for. Its scale and then its price are rounded up, which could leave
// the price above epsilon; two doubles further down it cannot.
mechanism::ExponentialMechanism choice_within(double epsilon, const ScoreSensitivity& sensitivity) {
  const Epsilon below(numeric::step_down(numeric::step_down(epsilon)));
  return {mechanism::selection_scale(below, sensitivity)};
}

}  // namespace

HistogramCurator::HistogramCurator(privacy::Reservation&& reservation,
                                   const data::CodedTable& table,
                                   std::vector<std::vector<std::int64_t>> queries,
                                   std::int64_t largest_step, random::BitSource& bits)
    : reservation_(std::move(reservation)),
      bits_(bits),
      largest_step_(largest_step),
      queries_(std::move(queries)),
      histogram_(whole(table)) {
  SHOAL_CHECK(reservation_.touched());
  SHOAL_CHECK(std::holds_alternative<privacy::event::Pure>(reservation_.event().node()));
  limit_ = price(reservation_.event(), Neighbors::replace_one);
  const std::vector<std::int64_t>& counts = MarginalTablesKey::counts(histogram_, 0);
  rows_ = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  for (const std::vector<std::int64_t>& query : queries_) {
    const bool fits = query.size() == counts.size() &&
                      std::all_of(query.begin(), query.end(), [&](std::int64_t step) {
                        return step >= 0 && step <= largest_step;
                      });
    if (fits && largest_step >= 1 && largest_step <= (1 << 20)) continue;
    throw Error(ErrorCode::invalid_argument, "a query needs one value from 0 to " +
                                                 std::to_string(largest_step) + " for each of " +
                                                 std::to_string(counts.size()) + " possible rows");
  }
}

double HistogramCurator::epsilon_left() const {
  const auto left = static_cast<double>(*limit_.epsilon_units - *spent_.epsilon_units);
  return std::max(0.0, numeric::divide_down(numeric::step_down(left), 1e12));
}

void HistogramCurator::charge(const privacy::Event& event) {
  const privacy::Charge after = add(spent_, price(event, Neighbors::replace_one));
  if (!after.epsilon_units || *after.epsilon_units > *limit_.epsilon_units) {
    throw Error(ErrorCode::budget_exceeded,
                "what was reserved does not pay for this step: use more noise, or reserve more");
  }
  spent_ = after;
}

std::vector<std::int64_t> HistogramCurator::exact_answers() const {
  const std::vector<std::int64_t>& counts = MarginalTablesKey::counts(histogram_, 0);
  std::vector<std::int64_t> answers;
  for (const std::vector<std::int64_t>& query : queries_) {
    answers.push_back(
        std::inner_product(query.begin(), query.end(), counts.begin(), std::int64_t{0}));
  }
  return answers;
}

std::size_t HistogramCurator::choose_table(std::int64_t size, double epsilon,
                                           const std::function<void(const Offer&)>& produce) {
  const ScoreSensitivity sensitivity{Sensitivity(size * largest_step_), ScoreChange::two_sided};
  const mechanism::ExponentialMechanism spec = choice_within(epsilon, sensitivity);
  charge(privacy_event(spec, sensitivity));
  std::vector<std::int64_t> exact = exact_answers();
  for (std::int64_t& answer : exact) answer *= size;
  mechanism::Selector selector = mechanism::make_selector(spec, bits_);
  produce([&](std::span<const std::int64_t> answers) {
    selector.offer(-Int128{largest_gap(exact, answers)});
  });
  return selector.result().front();
}

void HistogramCurator::accept_table(std::int64_t size, double epsilon,
                                    const std::function<std::vector<std::int64_t>()>& propose) {
  // Rounded down to a whole number of parts, and charged as given. A charge reads 0.1 as one tenth,
  // which may lie under the double.
  const auto parts = static_cast<std::uint64_t>(
      std::floor(numeric::step_down(epsilon) * static_cast<double>(kEpsilonParts)));
  charge(privacy::event::Pure{epsilon});
  std::vector<std::int64_t> exact = exact_answers();
  for (std::int64_t& answer : exact) answer *= size;
  const auto unit = static_cast<std::uint64_t>(2 * size * largest_step_) * kEpsilonParts;
  while (true) {
    const auto gap = static_cast<std::uint64_t>(largest_gap(exact, propose()));
    SHOAL_CHECK(gap == 0 || parts <= std::numeric_limits<std::uint64_t>::max() / gap);
    if (random::bernoulli_exp_minus(parts * gap, unit, bits_)) return;
  }
}

std::size_t HistogramCurator::choose_query(std::span<const std::int64_t> expected, double epsilon) {
  if (expected.size() != queries_.size()) {
    throw Error(ErrorCode::invalid_argument, "give one expected answer for each of " +
                                                 std::to_string(queries_.size()) + " queries");
  }
  const ScoreSensitivity sensitivity{Sensitivity(largest_step_), ScoreChange::two_sided};
  const mechanism::ExponentialMechanism spec = choice_within(epsilon, sensitivity);
  charge(privacy_event(spec, sensitivity));
  const std::vector<std::int64_t> exact = exact_answers();
  mechanism::Selector selector = mechanism::make_selector(spec, bits_);
  for (std::size_t q = 0; q < exact.size(); ++q) {
    const Int128 gap = Int128{exact[q]} - expected[q];
    selector.offer(gap < 0 ? -gap : gap);
  }
  return selector.result().front();
}

std::int64_t HistogramCurator::measure(std::size_t query, double epsilon) {
  SHOAL_CHECK(query < queries_.size());
  const mechanism::DiscreteLaplace spec{
      numeric::divide_up(static_cast<double>(largest_step_), epsilon)};
  // An exchange moves the answer by one query's range, not by two.
  const auto range = static_cast<double>(largest_step_);
  charge(privacy::event::DiscreteLaplace{spec.scale, range, range});
  const Int128 noise = sample(spec, bits_);
  return static_cast<std::int64_t>(noise + exact_answers()[query]);
}

}  // namespace shoal::release
