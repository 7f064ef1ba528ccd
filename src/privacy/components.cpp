#include "privacy/components.hpp"

#include "privacy/atom_law.hpp"
#include "privacy/base_laws.hpp"
#include "privacy/both_relations.hpp"
#include "privacy/curve_law.hpp"
#include "privacy/laplace_law.hpp"
#include "privacy/mixture_law.hpp"
#include "privacy/sampled_laws.hpp"
#include "privacy/two_way.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/privacy/bounded_range.hpp>
#include <shoal/privacy/composition.hpp>
#include <shoal/privacy/shuffle.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace shoal::privacy {
namespace {

[[noreturn]] void unsupported(const std::string& message) {
  throw Error(ErrorCode::unsupported, message);
}

// Gathers the leaves of the tree. `group` people change together; `count` is how often the node at
// hand happens.
class Collector {
 public:
  Collector(Neighbors neighbors, Direction direction)
      : neighbors_(neighbors), direction_(direction) {}

  void visit(const Event& event, double group, double count) {
    if (count == 0) return;
    std::visit([&](const auto& node) { leaf(node, group, count); }, event.node());
  }

  Components finish() {
    if (uniform_ && !mixed_) {
      result_.uniform = uniform_;
      result_.uniform_count = uniform_count_;
    }
    return std::move(result_);
  }

 private:
  bool added() const { return direction_ == Direction::added; }

  void add(const std::string& key, double count, const auto& make) {
    const auto found = index_.find(key);
    if (found != index_.end()) {
      result_.parts[found->second].count += count;
      return;
    }
    index_[key] = result_.parts.size();
    Component component = make();
    component.count = count;
    result_.parts.push_back(std::move(component));
  }

  void add_law(const std::string& key, double count, const auto& make) {
    add(key, count, [&] {
      LawPointer law = make();
      return Component{law, law, 1};
    });
  }

  void uniform(UniformSteps::Kind kind, double epsilon, double delta, double count) {
    const bool same = uniform_ && uniform_->kind == kind && uniform_->epsilon == epsilon &&
                      uniform_->delta == delta;
    if (uniform_ && !same) mixed_ = true;
    uniform_ = UniformSteps{kind, epsilon, delta};
    uniform_count_ += count;
  }

  // Noise so small, or a move so far, that every output tells.
  void nothing_hidden() {
    add("no noise", 1, [] {
      return Component{std::make_shared<AtomLaw>(std::vector<Atom>{}, 1.0), nullptr, 1};
    });
  }

  void gaussian(double shift_up, double shift_down, double count) {
    if (shift_up == 0) return;
    mixed_ = true;
    using namespace numeric;
    const double up = multiply_up(count, multiply_up(shift_up, shift_up));
    const double down = multiply_down(count, multiply_down(shift_down, shift_down));
    if (!std::isfinite(add_up(result_.variance_up, up))) {
      nothing_hidden();
      return;
    }
    result_.variance_up = add_up(result_.variance_up, up);
    result_.variance_down = std::max(0.0, add_down(result_.variance_down, std::max(0.0, down)));
  }

  template <class Noise>
  std::pair<double, double> shift(const Noise& noise, double width, double group) const {
    const double moved = distance(noise, neighbors_);
    using namespace numeric;
    return {divide_up(multiply_up(moved, group), width),
            divide_down(multiply_down(moved, group), width)};
  }

  // An integer statistic moves by whole numbers, for each person.
  template <class Noise>
  double whole_steps(const Noise& noise) const {
    if (neighbors_ == Neighbors::add_remove) return std::floor(noise.sensitivity);
    const double twice = 2 * std::floor(noise.sensitivity);
    return noise.replace_sensitivity ? std::min(twice, std::floor(*noise.replace_sensitivity))
                                     : twice;
  }

  // Two-valued loss +-epsilon, with a mass delta at infinity.
  void response(double epsilon, double delta, double count) {
    if (epsilon == 0 && delta == 0) return;
    uniform(UniformSteps::Kind::randomized_response, epsilon, delta, count);
    add_law(fmt::format("response {} {}", epsilon, delta), count,
            [&] { return response_law(epsilon, 2, delta, std::nullopt); });
  }

  void leaf(const event::Gaussian& e, double group, double count) {
    const auto [up, down] = shift(e, e.sigma, group);
    gaussian(up, down, count);
  }
  void leaf(const event::Gdp& e, double group, double count) {
    using namespace numeric;
    gaussian(multiply_up(e.mu, group), multiply_down(e.mu, group), count);
  }
  void leaf(const event::Laplace& e, double group, double count) {
    const double epsilon = distance(e, neighbors_) * group / e.scale;
    if (epsilon == 0) return;
    mixed_ = true;
    add_law(fmt::format("laplace {}", epsilon), count,
            [&] { return std::make_shared<LaplaceLaw>(epsilon, 1, false); });
  }
  void leaf(const event::DiscreteLaplace& e, double group, double count) {
    const double steps = whole_steps(e) * group;
    if (steps == 0) return;
    mixed_ = true;
    add(fmt::format("discrete_laplace {} {}", e.scale, steps), count,
        [&] { return discrete_laplace_laws(e.scale, steps); });
  }
  void leaf(const event::DiscreteGaussian& e, double group, double count) {
    const double steps = whole_steps(e) * group;
    if (steps == 0) return;
    mixed_ = true;
    if (e.sigma > kLargestSummedSigma) {
      // A rounded Gaussian but for a factor close to 1: see base_laws.hpp.
      const WideNoise wide = wide_discrete_gaussian(e.sigma, steps);
      using namespace numeric;
      gaussian(divide_up(steps, e.sigma), divide_down(steps, e.sigma), count);
      result_.mass_slack += count * wide.mass;
      result_.loss_slack_up += count * wide.loss_up;
      result_.loss_slack_down += count * wide.loss_down;
      result_.infinite_slack += count * wide.infinite;
      return;
    }
    if (steps > kFarthestSteps * e.sigma) {
      nothing_hidden();
      return;
    }
    add_law(fmt::format("discrete_gaussian {} {}", e.sigma, steps), count,
            [&] { return discrete_gaussian_law(e.sigma, steps); });
  }
  void leaf(const event::RandomizedResponse& e, double group, double count) {
    if (e.epsilon == 0) return;
    if (group > 1) {
      opaque_pure(e.epsilon, group, count);
    } else if (e.categories == 2) {
      response(e.epsilon, 0, count);
    } else {
      mixed_ = true;
      add_law(fmt::format("response {} of {}", e.epsilon, e.categories), count, [&] {
        return response_law(e.epsilon, static_cast<double>(e.categories), 0, std::nullopt);
      });
    }
  }
  void leaf(const event::LeakyRandomizedResponse& e, double group, double count) {
    leaf(event::EpsilonDelta{e.epsilon, e.delta}, group, count);
  }
  void leaf(const event::EpsilonDelta& e, double group, double count) {
    if (group > 1) {
      grouped(e, group, count);
    } else {
      response(e.epsilon, e.delta, count);
    }
  }
  void leaf(const event::NameAndShame& e, double group, double count) {
    // Nobody of the group is named with chance (1 - delta)^group.
    const double delta = group == 1 ? e.delta : -std::expm1(group * std::log1p(-e.delta));
    if (delta == 0) return;
    uniform(UniformSteps::Kind::randomized_response, 0, std::min(1.0, delta), count);
    add(fmt::format("name_and_shame {}", delta), count, [&] {
      const LawPointer upper = response_law(0, 2, delta, std::nullopt);
      if (neighbors_ == Neighbors::replace_one) return Component{upper, upper, 1};
      // Without the person nothing of theirs can show: only one side is ever told.
      const double kept = std::log1p(-delta);
      const std::vector<Atom> atoms = {added() ? Atom{-kept, 1} : Atom{kept, 1 - delta}};
      return Component{upper, std::make_shared<AtomLaw>(atoms, added() ? 0 : delta), 1};
    });
  }
  void leaf(const event::Pure& e, double group, double count) {
    if (group > 1) {
      opaque_pure(e.epsilon, group, count);
    } else {
      response(e.epsilon, 0, count);
    }
  }
  // Epsilon times the group is all that is known; one person alone is a lower bound.
  void opaque_pure(double epsilon, double group, double count) {
    mixed_ = true;
    add(fmt::format("pure {} {}", epsilon, group), count, [&] {
      return Component{response_law(numeric::multiply_up(epsilon, group), 2, 0, std::nullopt),
                       response_law(epsilon, 2, 0, std::nullopt), 1};
    });
  }
  void leaf(const event::Exponential& e, double group, double count) {
    const double epsilon = numeric::multiply_up(e.epsilon, group);  // ranges add
    if (epsilon == 0) return;
    uniform(UniformSteps::Kind::bounded_range, epsilon, 0, count);
    add(fmt::format("exponential {}", epsilon), count, [&] {
      // Beyond what Shoal takes for an epsilon nothing is promised.
      Curve curve = [epsilon](double at) {
        return epsilon > kMaxEpsilon ? 1.0 : bounded_range_profile(Epsilon(epsilon), at).upper;
      };
      return Component{std::make_shared<CurveLaw>(std::move(curve)),
                       response_law(epsilon / 2, 2, 0, std::nullopt), 1};
    });
  }
  void leaf(const event::Zcdp& e, double group, double count) {
    if (e.rho == 0) return;
    mixed_ = true;
    using namespace numeric;
    result_.rho = add_up(result_.rho, multiply_up(count, multiply_up(e.rho, group * group)));
  }
  void leaf(const event::Rdp& e, double group, double count) {
    mixed_ = true;
    if (group > 1) {
      unsupported(fmt::format(
          "rdp inside a group of {}: a table of Renyi orders says nothing about groups; state the "
          "event itself (such as gaussian) or its zcdp",
          group));
    }
    result_.tables.push_back({e.orders, e.epsilons, count});
  }
  void leaf(const event::Shuffled& e, double group, double count) {
    if (group > 1) {
      grouped(e, group, count);
      return;
    }
    if (e.epsilon == 0) return;
    mixed_ = true;
    add(fmt::format("shuffled {} {}", e.epsilon, e.users), count, [&] {
      const Epsilon local(e.epsilon);
      const std::int64_t users = e.users;
      return Component{std::make_shared<CurveLaw>([local, users](double at) {
                         return shuffle_delta(local, users, at).upper;
                       }),
                       shuffled_response_law(e.epsilon, static_cast<double>(users)), 1};
    });
  }
  void leaf(const event::Group& e, double group, double count) {
    visit(e.event, group * static_cast<double>(e.size), count);
  }
  void leaf(const event::Repeat& e, double group, double count) {
    visit(e.event, group, count * static_cast<double>(e.count));
  }
  void leaf(const event::Compose& e, double group, double count) {
    for (const Event& part : e.events) visit(part, group, count);
  }

  // A group of an event for which only the generic bound is known: delta(epsilon / k) for each of k
  // steps from one end of the group to the other.
  void grouped(const Event& event, double group, double count) {
    mixed_ = true;
    add(fmt::format("group {} {}", group, to_json(event)), count, [&] {
      const auto inner = std::make_shared<TwoWay>(event, neighbors_, ProfileOptions{}, true);
      const Direction direction = direction_;
      const auto forward = [inner, group](Direction side, double at) {
        return std::min(1.0, group_delta_up([&](double x) { return inner->delta(side, x).upper; },
                                            at, static_cast<std::int64_t>(group)));
      };
      Curve curve = [forward, direction](double at) {
        if (at >= 0) return forward(direction, at);
        return reversed_delta(at, forward(reverse(direction), -at));
      };
      return Component{std::make_shared<CurveLaw>(std::move(curve)), nullptr, 1};
    });
  }

  void leaf(const event::PoissonSampled& e, double group, double count) {
    double rate = e.rate;
    Event inner = e.event;
    for (;;) {
      if (const auto* together = std::get_if<event::Group>(&inner.node())) {
        // Each member of a group is sampled alone, so the group is of the sample.
        group *= static_cast<double>(together->size);
        inner = Event(together->event);
      } else if (const auto* nested = std::get_if<event::PoissonSampled>(&inner.node())) {
        rate *= nested->rate;
        inner = Event(nested->event);
      } else if (const auto* repeat = std::get_if<event::Repeat>(&inner.node());
                 repeat != nullptr && repeat->count <= 1) {
        if (repeat->count == 0) return;
        inner = Event(repeat->event);
      } else if (const auto* compose = std::get_if<event::Compose>(&inner.node());
                 compose != nullptr && compose->events.size() <= 1) {
        if (compose->events.empty()) return;
        inner = Event(compose->events.front());
      } else {
        break;
      }
    }
    if (rate == 0) return;
    if (rate == 1) {
      visit(inner, group, count);
      return;
    }
    mixed_ = true;
    refuse_groups(inner);
    sampled(inner, rate, group, count);
  }

  // A group inside several events that share a sample would be of some of them only.
  static void refuse_groups(const Event& inner) {
    if (to_json(inner).find("\"group\"") != std::string::npos) {
      unsupported(
          "a group inside sampled events: its members are sampled one by one; put the group around "
          "the sampled event");
    }
  }

  void sampled(const Event& inner, double rate, double group, double count) {
    const Components one = take_apart(inner, Neighbors::add_remove, Direction::removed);
    if (one.empty()) return;
    const std::string text = to_json(inner);
    const std::string key = fmt::format("sampled {} {} {}", rate, group, text);
    // An exchange that moves the statistic by less than twice has no simple worst case, nor has one
    // of which nothing is known but that it is private between exchanged tables.
    const bool worst_known =
        neighbors_ == Neighbors::add_remove ||
        (knows_both_relations(inner) && text.find("replace_sensitivity") == std::string::npos);
    // Gaussian noise of any kind and number, on one sample, is one Gaussian.
    if (one.only_gaussian() && group <= kLargestMixture && worst_known) {
      const double mu = std::sqrt(one.variance_up);
      add_law(key, count, [&] { return sampled_gaussian_law(mu, rate, group); });
      return;
    }
    if (group > 1) {
      grouped(event::PoissonSampled{rate, inner}, group, count);
      return;
    }
    if (neighbors_ == Neighbors::replace_one) {
      add(key, count, [&] { return replaced_sample(inner, rate, false); });
      return;
    }
    if (const auto* laplace = std::get_if<event::Laplace>(&inner.node())) {
      const double epsilon = laplace->sensitivity / laplace->scale;
      add_law(key, count, [&] { return std::make_shared<LaplaceLaw>(epsilon, rate, added()); });
      return;
    }
    if (LawPointer law = sampled_atoms(inner, {rate, added()})) {
      // Of name_and_shame it is more than the worst case.
      const bool shame = std::holds_alternative<event::NameAndShame>(inner.node());
      add(key, count, [&] { return Component{law, shame ? nullptr : law, 1}; });
      return;
    }
    add(key, count, [&] { return sampled_curve(inner, {rate, added()}); });
  }

  LawPointer sampled_gaussian_law(double mu, double rate, double group) const {
    const std::vector<double> one = {1.0};
    const std::vector<double> some = binomial_weights(rate, static_cast<int>(group));
    if (neighbors_ == Neighbors::replace_one) return std::make_shared<MixtureLaw>(mu, some, some);
    return added() ? std::make_shared<MixtureLaw>(mu, one, some)
                   : std::make_shared<MixtureLaw>(mu, some, one);
  }

  void leaf(const event::SampledWithoutReplacement& e, double group, double count) {
    if (neighbors_ == Neighbors::add_remove) {
      unsupported(
          "sampled_without_replacement under add_remove: a sample of fixed size needs a population "
          "of fixed size, so neighbours exchange a person; ask with neighbors replace_one");
    }
    if (const auto* together = std::get_if<event::Group>(&e.event.node())) {
      leaf(event::SampledWithoutReplacement{e.population, e.sample, together->event},
           group * static_cast<double>(together->size), count);
      return;
    }
    refuse_groups(e.event);
    if (group > 1) {
      grouped(e, group, count);
      return;
    }
    if (e.sample == 0) return;
    const double rate = static_cast<double>(e.sample) / static_cast<double>(e.population);
    if (rate == 1) {
      visit(e.event, group, count);
      return;
    }
    mixed_ = true;
    const Components one = take_apart(e.event, Neighbors::replace_one, Direction::removed);
    if (one.empty()) return;
    add(fmt::format("fixed sample {} {} {}", e.population, e.sample, to_json(e.event)), count, [&] {
      Component component = replaced_sample(e.event, rate, true);
      if (one.only_gaussian()) {
        // Everyone else alike: the sample differs only if it holds the person.
        const std::vector<double> some = {1 - rate, rate};
        const double mu = std::sqrt(one.variance_down);
        component.lower = added()
                              ? std::make_shared<MixtureLaw>(mu, std::vector<double>{1.0}, some)
                              : std::make_shared<MixtureLaw>(mu, some, std::vector<double>{1.0});
      }
      return component;
    });
  }

  Neighbors neighbors_;
  Direction direction_;
  Components result_;
  std::map<std::string, std::size_t> index_;
  std::optional<UniformSteps> uniform_;
  double uniform_count_ = 0;
  bool mixed_ = false;
};

}  // namespace

Components take_apart(const Event& event, Neighbors neighbors, Direction direction) {
  Collector collector(neighbors, direction);
  collector.visit(event, 1, 1);
  return collector.finish();
}

}  // namespace shoal::privacy
