// Privacy events: what was done to the data, as immutable data. The ledger stores them as JSON; any
// accountant, today's or a better one, can price them again.
//
// An event class never disappears and never changes meaning; an unknown or malformed one is refused
// with its position in the text. Format, one object with one key each:
//   {"discrete_laplace": {"scale": 20, "sensitivity": 10}}
//   {"discrete_gaussian": {"sigma": 20, "sensitivity": 10}}
//   {"laplace": {"scale": 2, "sensitivity": 1}}
//   {"gaussian": {"sigma": 2, "sensitivity": 1}}
//   {"randomized_response": {"epsilon": 1, "categories": 4}}
//   {"leaky_randomized_response": {"epsilon": 1, "delta": 0.000001}}
//   {"name_and_shame": {"delta": 0.000001}}
//   {"exponential": {"epsilon": 0.5}}
//   {"pure": {"epsilon": 0.5}}
//   {"epsilon_delta": {"epsilon": 0.5, "delta": 0.000001}}
//   {"zcdp": {"rho": 0.02}}
//   {"rdp": {"orders": [2, 8], "epsilons": [0.1, 0.5]}}
//   {"gdp": {"mu": 0.5}}
//   {"poisson_sampled": {"rate": 0.01, "event": {...}}}
//   {"sampled_without_replacement": {"population": 1000, "sample": 10, "event": {...}}}
//   {"shuffled": {"epsilon": 1, "users": 1000}}
//   {"group": {"size": 3, "event": {...}}}
//   {"repeat": {"count": 3, "event": {...}}}
//   {"compose": [{...}, {...}]}
//
// The neighbouring relation is not in the event but in the question that an accountant is asked.
// The `sensitivity` of additive noise is how far the statistic moves when one person is added or
// removed; exchanging one for another is a removal and an addition, so it moves by up to twice as
// much, unless the field "replace_sensitivity" says how far (a count moves by 1, not by 2).
#pragma once

#include <shoal/base/neighbors.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace shoal::privacy {

class Event;

namespace event {

// Noise P(x) proportional to exp(-|x| / scale) on the integers, added to an integer statistic that
// moves by at most `sensitivity` when one person is added or removed.
struct DiscreteLaplace {
  double scale;
  double sensitivity;
  std::optional<double> replace_sensitivity = {};
  bool operator==(const DiscreteLaplace&) const = default;
};

// Noise P(x) proportional to exp(-x^2 / (2 sigma^2)) on the integers; sensitivity as above.
struct DiscreteGaussian {
  double sigma;
  double sensitivity;
  std::optional<double> replace_sensitivity = {};
  bool operator==(const DiscreteGaussian&) const = default;
};

// Noise of density proportional to exp(-|x| / scale) on the real line, added to one number that
// moves by at most `sensitivity` when one person is added or removed; or anything made of that sum
// alone, such as rounding it to a grid. (A vector with that sensitivity in L1 norm is a `pure`
// event: that one coordinate carrying all of it is the worst case is not shown.)
struct Laplace {
  double scale;
  double sensitivity;
  std::optional<double> replace_sensitivity = {};
  bool operator==(const Laplace&) const = default;
};

// Noise of density proportional to exp(-x^2 / (2 sigma^2)), independent in each coordinate of a
// statistic of any dimension that moves by at most `sensitivity` in L2 norm when one person is
// added or removed; or anything made of that sum alone.
struct Gaussian {
  double sigma;
  double sensitivity;
  std::optional<double> replace_sensitivity = {};
  bool operator==(const Gaussian&) const = default;
};

// One of `categories` values, reported as it is with probability
// e^epsilon / (e^epsilon + categories - 1) and otherwise as one of the others, each as likely.
// epsilon stands for the exact value of the double. categories >= 2.
struct RandomizedResponse {
  double epsilon;
  std::int64_t categories;
  bool operator==(const RandomizedResponse&) const = default;
};

// One bit: with probability delta it is told, recognisably as such; else it goes through randomized
// response of two categories. No (epsilon, delta)-private mechanism tells a pair of neighbours
// apart better. Doubles stand for their exact values; delta in [0, 1].
struct LeakyRandomizedResponse {
  double epsilon;
  double delta;
  bool operator==(const LeakyRandomizedResponse&) const = default;
};

// Each row is published as it is with probability delta, independently; else nothing of it is. It
// is (0, delta)-private and protects nobody who is named: there for audits and for teaching. delta
// in [0, 1], the exact value of the double.
struct NameAndShame {
  double delta;
  bool operator==(const NameAndShame&) const = default;
};

// Anything whose bounded range is at most epsilon (Durfee and Rogers 2019): for neighbours D, D'
// there is a t with t <= ln(P(M(D) = y) / P(M(D') = y)) <= t + epsilon at every outcome y. In
// particular the exponential mechanism with chances proportional to
// exp(epsilon * score / (2 * sensitivity)).
struct Exponential {
  double epsilon;
  bool operator==(const Exponential&) const = default;
};

// Anything that is epsilon-differentially private.
struct Pure {
  double epsilon;
  bool operator==(const Pure&) const = default;
};

// Anything that is rho-zero-concentrated differentially private.
struct Zcdp {
  double rho;
  bool operator==(const Zcdp&) const = default;
};

// Anything that is (epsilon, delta)-differentially private. delta in [0, 1].
struct EpsilonDelta {
  double epsilon;
  double delta;
  bool operator==(const EpsilonDelta&) const = default;
};

// Anything whose Renyi divergence of order orders[i] is at most epsilons[i], in both directions.
// Orders above 1 and increasing.
struct Rdp {
  std::vector<double> orders;
  std::vector<double> epsilons;
  bool operator==(const Rdp&) const = default;
};

// Anything that is mu-Gaussian differentially private: no easier to tell apart than N(0, 1) and
// N(mu, 1).
struct Gdp {
  double mu;
  bool operator==(const Gdp&) const = default;
};

// Many users each report one value through the same epsilon-differentially private local
// randomizer, and a shuffler hides who sent which. The number of users is public; neighbours differ
// in the value of one of them, under either relation.
struct Shuffled {
  double epsilon;
  std::int64_t users;
  bool operator==(const Shuffled&) const = default;
};

struct PoissonSampled;
struct SampledWithoutReplacement;
struct Group;
struct Repeat;
struct Compose;

}  // namespace event

class Event {
 public:
  using Node =
      std::variant<event::DiscreteLaplace, event::DiscreteGaussian, event::Laplace, event::Gaussian,
                   event::RandomizedResponse, event::LeakyRandomizedResponse, event::NameAndShame,
                   event::Exponential, event::Pure, event::EpsilonDelta, event::Zcdp, event::Rdp,
                   event::Gdp, event::PoissonSampled, event::SampledWithoutReplacement,
                   event::Shuffled, event::Group, event::Repeat, event::Compose>;

  // Each throws invalid_argument if a parameter is out of range. Implicit on purpose: an event of
  // any class is an event.
  Event(event::DiscreteLaplace event);
  Event(event::DiscreteGaussian event);
  Event(event::Laplace event);
  Event(event::Gaussian event);
  Event(event::RandomizedResponse event);
  Event(event::LeakyRandomizedResponse event);
  Event(event::NameAndShame event);
  Event(event::Exponential event);
  Event(event::Pure event);
  Event(event::EpsilonDelta event);
  Event(event::Zcdp event);
  Event(event::Rdp event);
  Event(event::Gdp event);
  Event(event::PoissonSampled event);
  Event(event::SampledWithoutReplacement event);
  Event(event::Shuffled event);
  Event(event::Group event);
  Event(event::Repeat event);
  Event(event::Compose event);

  const Node& node() const;
  bool operator==(const Event& other) const;

 private:
  std::shared_ptr<const Node> node_;
};

namespace event {

// The event on a random part of the people: each is in it with chance `rate`, independently, and
// nobody learns who is. Nested, the rates multiply.
struct PoissonSampled {
  double rate;
  Event event;
  bool operator==(const PoissonSampled&) const = default;
};

// The event on `sample` of the `population` people, every such choice as likely, and nobody learns
// which. The population is public, so neighbours exchange one person.
struct SampledWithoutReplacement {
  std::int64_t population;
  std::int64_t sample;
  Event event;
  bool operator==(const SampledWithoutReplacement&) const = default;
};

// The same event, but neighbours differ in up to `size` people.
struct Group {
  std::int64_t size;
  Event event;
  bool operator==(const Group&) const = default;
};

// The same event, `count` times.
struct Repeat {
  std::int64_t count;
  Event event;
  bool operator==(const Repeat&) const = default;
};

// Several events on the same data. None at all costs nothing.
struct Compose {
  std::vector<Event> events;
  bool operator==(const Compose&) const = default;
};

}  // namespace event

inline const Event::Node& Event::node() const { return *node_; }

// How far the statistic of an event of additive noise moves between neighbours: its sensitivity,
// or, under replace_one, its replace_sensitivity and failing that twice the sensitivity (exactly).
template <class Noise>
double distance(const Noise& noise, Neighbors neighbors) {
  if (neighbors == Neighbors::add_remove) return noise.sensitivity;
  return noise.replace_sensitivity.value_or(2 * noise.sensitivity);
}

// The event as one line of JSON, keys in a fixed order, numbers so that they read back exactly.
std::string to_json(const Event& event);

// Throws parse_error for text that is no JSON, and for an unknown, malformed or out-of-range event,
// with its place in the tree (such as /compose/1/discrete_laplace/scale).
Event event_from_json(std::string_view text);

}  // namespace shoal::privacy
