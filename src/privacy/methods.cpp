#include "privacy/leaves.hpp"
#include "privacy/renyi_sum.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/privacy/charge.hpp>
#include <shoal/privacy/composition.hpp>
#include <shoal/privacy/methods.hpp>
#include <shoal/privacy/renyi_conversion.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace shoal::privacy {
namespace {

using namespace numeric;  // directed arithmetic reads better bare

// The question: the smallest epsilon at a delta, or the smallest delta at an epsilon.
struct Question {
  bool for_epsilon;
  double at;
};

// A step and how often it happens, with what it states in (epsilon, delta), if it does.
struct Step {
  Event event;
  double count;
  std::optional<Guarantee> states;
  bool worst_case;  // a pair attains what is stated, at every epsilon
};

[[noreturn]] void not_applicable(const std::string& why) {
  throw Error(ErrorCode::unsupported, why);
}

std::optional<Guarantee> exactly_stated(const Event& event) {
  if (const auto* e = std::get_if<event::Pure>(&event.node())) return Guarantee{e->epsilon, 0};
  if (const auto* e = std::get_if<event::EpsilonDelta>(&event.node())) {
    return Guarantee{e->epsilon, e->delta};
  }
  if (const auto* e = std::get_if<event::LeakyRandomizedResponse>(&event.node())) {
    return Guarantee{e->epsilon, e->delta};
  }
  if (const auto* e = std::get_if<event::NameAndShame>(&event.node()))
    return Guarantee{0, e->delta};
  if (const auto* e = std::get_if<event::RandomizedResponse>(&event.node());
      e != nullptr && e->categories == 2) {
    return Guarantee{e->epsilon, 0};
  }
  return std::nullopt;
}

Step step_of(const Leaf& leaf, Neighbors neighbors) {
  Step step{leaf.event, leaf.count, exactly_stated(leaf.event), true};
  if (step.states) return step;
  step.worst_case = false;
  try {
    const Charge charge = price(leaf.event, neighbors);
    if (charge.epsilon_units) {
      step.states = Guarantee{divide_up(static_cast<double>(*charge.epsilon_units), 1e12),
                              divide_up(static_cast<double>(charge.delta_units), 1e18)};
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported && error.code() != ErrorCode::invalid_argument)
      throw;
  }
  return step;
}

class Comparison {
 public:
  Comparison(const Event& event, Neighbors neighbors, Question question, ProfileOptions options)
      : event_(event), neighbors_(neighbors), question_(question), options_(options) {
    for (const Leaf& leaf : leaves_of(event)) steps_.push_back(step_of(leaf, neighbors));
  }

  std::vector<Method> rows() {
    Profile profile(event_, neighbors_, options_);  // throws what nothing can be said about
    add("basic", MethodKind::upper_bound, "sums of the steps' epsilons and deltas",
        [&] { return basic(); });
    add("advanced", MethodKind::upper_bound, "the form with tanh(epsilon / 2)",
        [&] { return theorem(advanced_composition_up); });
    add("dwork_rothblum_vadhan", MethodKind::upper_bound, "the first form, of 2010",
        [&] { return theorem(dwork_rothblum_vadhan_up); });
    add("simplified_optimal", MethodKind::upper_bound, "the smallest of three closed forms",
        [&] { return theorem(simplified_optimal_composition_up); });
    add("optimal", MethodKind::upper_bound,
        "the best that holds for every step of these epsilons and deltas",
        [&] { return optimal(); });
    add("zcdp", MethodKind::upper_bound, "the sum of the steps' rho, converted",
        [&] { return through_zcdp(); });
    add("rdp", MethodKind::upper_bound, "Renyi divergences at the best order, converted",
        [&] { return through_renyi(); });
    add("gdp", MethodKind::upper_bound, "the root of the sum of the steps' mu squared, converted",
        [&] { return through_gdp(); });
    add("gdp_central_limit", MethodKind::estimate,
        "NOT a bound: what many small steps come near to in the end",
        [&] { return central_limit(); });
    add("certified", MethodKind::bracket, "the accountant", [&] { return ask(profile); });
    return std::move(rows_);
  }

 private:
  void add(const std::string& name, MethodKind kind, const std::string& note,
           const std::function<Bounds()>& method) {
    Method row{name, kind};
    try {
      const Bounds bounds = method();
      if (name == "optimal" && all_worst_case()) row.kind = MethodKind::bracket;
      row.value = bounds.upper;
      if (row.kind == MethodKind::bracket) row.lower = bounds.lower;
      row.note = note;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported && error.code() != ErrorCode::invalid_argument) {
        throw;
      }
      row.note = error.what();
    }
    rows_.push_back(std::move(row));
  }

  Bounds ask(const Profile& profile) const {
    return question_.for_epsilon ? profile.epsilon(Delta(question_.at)).bounds
                                 : profile.delta(question_.at).bounds;
  }

  static Bounds upper(double value) { return {0, value}; }

  bool all_worst_case() const {
    return std::all_of(steps_.begin(), steps_.end(),
                       [](const Step& step) { return step.worst_case; });
  }

  // Steps that state no finite epsilon share what is left of the delta (of the epsilon) equally.
  Bounds basic() const {
    double epsilon = 0;
    double delta = 0;
    double sharing = 0;
    for (const Step& step : steps_) {
      if (step.states) {
        epsilon = add_up(epsilon, multiply_up(step.count, step.states->epsilon));
        delta = add_up(delta, multiply_up(step.count, step.states->delta));
      } else {
        sharing += step.count;
      }
    }
    if (question_.for_epsilon) {
      if (delta > question_.at) return upper(HUGE_VAL);
      if (sharing == 0) return upper(epsilon);
      const double share = divide_down(subtract_down(question_.at, delta), sharing);
      for (const Step& step : steps_) {
        if (step.states) continue;
        const Profile profile(step.event, neighbors_, options_);
        const double each = profile.epsilon(Delta(share)).bounds.upper;
        epsilon = add_up(epsilon, multiply_up(step.count, each));
      }
      return upper(epsilon);
    }
    if (epsilon > question_.at) return upper(1);
    if (sharing == 0) return upper(std::min(1.0, delta));
    const double share = divide_down(subtract_down(question_.at, epsilon), sharing);
    for (const Step& step : steps_) {
      if (step.states) continue;
      const Profile profile(step.event, neighbors_, options_);
      delta = add_up(delta, multiply_up(step.count, profile.delta(share).bounds.upper));
    }
    return upper(std::min(1.0, delta));
  }

  // For k equal steps with a slack s for delta.
  Bounds theorem(Guarantee (*composed)(const Guarantee&, std::int64_t, double)) const {
    if (steps_.size() != 1) {
      not_applicable(fmt::format("it is for one kind of step and there are {}", steps_.size()));
    }
    const Step& step = steps_.front();
    if (!step.states) not_applicable("the step has no epsilon that holds with a fixed delta");
    if (step.count > static_cast<double>(kMaxCount))
      not_applicable("there are more than 10^9 steps");
    const auto count = static_cast<std::int64_t>(step.count);
    const auto with = [&](double slack) { return composed(*step.states, count, slack); };
    // A larger slack makes epsilon smaller and delta larger, both without end: bisection in its
    // logarithm. `fits` is true for small slacks (delta asked) or for large ones (epsilon asked).
    double low = -700;
    double high = -1e-12;
    const auto small_enough = [&](double log_slack) {
      const Guarantee result = with(std::exp(log_slack));
      return question_.for_epsilon ? result.delta <= question_.at : result.epsilon > question_.at;
    };
    if (!small_enough(low)) {
      // Delta: even the least slack is too much. Epsilon: even the least slack will do.
      return upper(question_.for_epsilon ? HUGE_VAL : with(std::exp(low)).delta);
    }
    for (int turn = 0; turn < 100; ++turn) {
      const double middle = (low + high) / 2;
      (small_enough(middle) ? low : high) = middle;
    }
    if (question_.for_epsilon) return upper(with(std::exp(low)).epsilon);
    const Guarantee result = with(std::exp(high));
    return upper(result.epsilon <= question_.at ? std::min(1.0, result.delta) : 1);
  }

  Bounds optimal() const {
    std::vector<Event> known;
    for (const Step& step : steps_) {
      if (!step.states) not_applicable("a step has no epsilon that holds with a fixed delta");
      known.push_back(event::Repeat{static_cast<std::int64_t>(std::min(step.count, 9e18)),
                                    event::EpsilonDelta{step.states->epsilon, step.states->delta}});
    }
    return ask(Profile(event::Compose{std::move(known)}, neighbors_, options_));
  }

  Bounds through_zcdp() const {
    const Charge charge = price(event_, neighbors_);
    const double rho = divide_up(static_cast<double>(charge.rho_units), 1e15);
    return after_failures(charge, Profile(event::Zcdp{rho}, neighbors_, options_));
  }

  Bounds through_gdp() const {
    const Charge charge = price(event_, neighbors_);
    if (!charge.gaussian_units) not_applicable("a step is not Gaussian for any mu that is known");
    const double half = divide_up(static_cast<double>(*charge.gaussian_units), 1e15);
    return after_failures(charge,
                          Profile(event::Gdp{sqrt_up(multiply_up(2, half))}, neighbors_, options_));
  }

  // Charges hold but for a probability of failure, which comes off the delta.
  Bounds after_failures(const Charge& charge, const Profile& profile) const {
    const double failure = divide_up(static_cast<double>(charge.delta_units), 1e18);
    if (!question_.for_epsilon) {
      return upper(std::min(1.0, add_up(failure, profile.delta(question_.at).bounds.upper)));
    }
    if (failure > question_.at) return upper(HUGE_VAL);
    return upper(profile.epsilon(Delta(subtract_down(question_.at, failure))).bounds.upper);
  }

  Bounds through_renyi() const {
    const RenyiSum sum(event_, neighbors_);
    const double value =
        question_.for_epsilon ? sum.epsilon_up(question_.at) : sum.delta_up(question_.at);
    if (std::isinf(value) && question_.at > sum.infinite()) {
      not_applicable("the Renyi divergences of a step are not known, or infinite");
    }
    return upper(value);
  }

  Bounds central_limit() const {
    double square = 0;
    bool sampled = false;
    for (const Step& step : steps_) {
      const auto* sample = std::get_if<event::PoissonSampled>(&step.event.node());
      const Event& noise = sample != nullptr ? sample->event : step.event;
      double mu = 0;
      if (const auto* e = std::get_if<event::Gaussian>(&noise.node())) {
        mu = distance(*e, neighbors_) / e->sigma;
      } else if (const auto* gdp = std::get_if<event::Gdp>(&noise.node())) {
        mu = gdp->mu;
      } else {
        not_applicable("it is for Gaussian noise, on Poisson samples or whole");
      }
      if (sample == nullptr) {
        square += step.count * mu * mu;
        continue;
      }
      if (neighbors_ != Neighbors::add_remove) not_applicable("for samples it is for add_remove");
      sampled = true;
      const double each = mu > 0 ? poisson_gaussian_mu_estimate(1 / mu, sample->rate, 1).value : 0;
      square += step.count * each * each;
    }
    if (!sampled) not_applicable("nothing is sampled: gdp says it exactly");
    const double mu = std::sqrt(square);
    if (!(mu <= 1000)) not_applicable("the estimate of mu is above 1000");
    if (!question_.for_epsilon) return upper(gdp_delta(mu, question_.at).upper);
    return upper(gdp_epsilon(mu, Delta(question_.at)).upper);
  }

  Event event_;
  Neighbors neighbors_;
  Question question_;
  ProfileOptions options_;
  std::vector<Step> steps_;
  std::vector<Method> rows_;
};

}  // namespace

std::string_view to_string(MethodKind kind) {
  switch (kind) {
    case MethodKind::upper_bound:
      return "upper bound";
    case MethodKind::bracket:
      return "bracket";
    case MethodKind::estimate:
      return "estimate";
  }
  return "unknown";
}

std::vector<Method> methods_at_delta(const Event& event, Neighbors neighbors, Delta delta,
                                     ProfileOptions options) {
  return Comparison(event, neighbors, {true, delta.value()}, options).rows();
}

std::vector<Method> methods_at_epsilon(const Event& event, Neighbors neighbors, double epsilon,
                                       ProfileOptions options) {
  if (!(epsilon >= 0 && std::isfinite(epsilon))) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("epsilon is {}; it must be finite and not negative", epsilon));
  }
  return Comparison(event, neighbors, {false, epsilon}, options).rows();
}

double renyi_divergence_up(const Event& event, Neighbors neighbors, double order) {
  if (!(order > 1)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the order is {}; it must be above 1", order));
  }
  return RenyiSum(event, neighbors).divergence_up(order);
}

}  // namespace shoal::privacy
