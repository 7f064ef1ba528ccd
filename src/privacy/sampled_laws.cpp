#include "privacy/sampled_laws.hpp"

#include "privacy/both_relations.hpp"
#include "privacy/curve_law.hpp"
#include "privacy/two_way.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <variant>

namespace shoal::privacy {

LawPointer sampled_atoms(const Event& inner, const Sampling& sampling) {
  if (const auto* e = std::get_if<event::RandomizedResponse>(&inner.node())) {
    return response_law(e->epsilon, static_cast<double>(e->categories), 0, sampling);
  }
  if (const auto* e = std::get_if<event::Pure>(&inner.node())) {
    return response_law(e->epsilon, 2, 0, sampling);
  }
  if (const auto* e = std::get_if<event::EpsilonDelta>(&inner.node())) {
    return response_law(e->epsilon, 2, e->delta, sampling);
  }
  if (const auto* e = std::get_if<event::LeakyRandomizedResponse>(&inner.node())) {
    return response_law(e->epsilon, 2, e->delta, sampling);
  }
  if (const auto* e = std::get_if<event::NameAndShame>(&inner.node())) {
    return response_law(0, 2, e->delta, sampling);
  }
  if (const auto* e = std::get_if<event::DiscreteLaplace>(&inner.node())) {
    const double steps = std::floor(e->sensitivity);
    if (steps <= kLargestSummedSteps) return discrete_laplace_law(e->scale, steps, sampling);
  }
  if (const auto* e = std::get_if<event::DiscreteGaussian>(&inner.node())) {
    if (e->sigma <= kLargestSummedSigma && e->sensitivity <= kFarthestSteps * e->sigma) {
      return discrete_gaussian_law(e->sigma, std::floor(e->sensitivity), sampling);
    }
  }
  return nullptr;
}

Component sampled_curve(const Event& event, const Sampling& sampling) {
  const auto inner = std::make_shared<TwoWay>(event, Neighbors::add_remove, ProfileOptions{}, true);
  const double rate = sampling.rate;
  const bool add_one = sampling.added;
  Curve curve = [inner, rate, add_one](double at) {
    if (add_one)
      return poisson_added(at, rate,
                           [&](double x) { return inner->delta(Direction::added, x).upper; });
    return poisson_removed(at, rate,
                           [&](double x) { return inner->delta(Direction::removed, x).upper; });
  };
  return Component{std::make_shared<CurveLaw>(std::move(curve)), nullptr, 1};
}

Component replaced_sample(const Event& event, double rate, bool fixed_size) {
  const auto exchanged =
      std::make_shared<TwoWay>(event, Neighbors::replace_one, ProfileOptions{}, true);
  // Under Poisson sampling the person may be in no sample at all. Where the event does not say how
  // far that is, seeing that somebody is in the sample may tell the rest.
  const bool unknown = !fixed_size && !knows_both_relations(event);
  const auto removed =
      !fixed_size && !unknown
          ? std::make_shared<TwoWay>(event, Neighbors::add_remove, ProfileOptions{}, true)
          : nullptr;
  const auto forward = [exchanged, removed, rate, unknown](double at) {
    if (unknown) return rate * exchanged->delta(Direction::removed, at).upper * (1 + 1e-15);
    const double exact = log_unmixed(rate, at);
    // Rounded down: delta falls in epsilon.
    const double inner = exact - 8 * kRounding * (1 + std::abs(exact));
    const double among = exchanged->delta(Direction::removed, inner).upper;
    if (!removed) return rate * among * (1 + 1e-15);
    const double share = std::exp(at - inner);
    const double away = std::max(removed->delta(Direction::removed, inner).upper,
                                 removed->delta(Direction::added, inner).upper);
    return std::min(1.0, rate * ((1 - share) * away + share * among) * (1 + 1e-14));
  };
  Curve curve = [forward](double at) {
    return at >= 0 ? forward(at) : reversed_delta(at, forward(-at));
  };
  return Component{std::make_shared<CurveLaw>(std::move(curve)), nullptr, 1};
}

}  // namespace shoal::privacy
