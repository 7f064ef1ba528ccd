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
//   {"zcdp": {"rho": 0.02}}
//   {"repeat": {"count": 3, "event": {...}}}
//   {"compose": [{...}, {...}]}
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace shoal::privacy {

class Event;

namespace event {

// Noise P(x) proportional to exp(-|x| / scale) on the integers, added to an integer statistic that
// moves by at most `sensitivity` between neighbours.
struct DiscreteLaplace {
  double scale;
  double sensitivity;
  bool operator==(const DiscreteLaplace&) const = default;
};

// Noise P(x) proportional to exp(-x^2 / (2 sigma^2)) on the integers; sensitivity as above.
struct DiscreteGaussian {
  double sigma;
  double sensitivity;
  bool operator==(const DiscreteGaussian&) const = default;
};

// Noise of density proportional to exp(-|x| / scale) on the real line, added to one number that
// moves by at most `sensitivity` between neighbours; or anything made of that sum alone, such as
// rounding it to a grid. (A vector with that sensitivity in L1 norm is a `pure` event: that one
// coordinate carrying all of it is the worst case is not shown.)
struct Laplace {
  double scale;
  double sensitivity;
  bool operator==(const Laplace&) const = default;
};

// Noise of density proportional to exp(-x^2 / (2 sigma^2)), independent in each coordinate of a
// statistic of any dimension that moves by at most `sensitivity` in L2 norm between neighbours; or
// anything made of that sum alone.
struct Gaussian {
  double sigma;
  double sensitivity;
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

struct Repeat;
struct Compose;

}  // namespace event

class Event {
 public:
  using Node =
      std::variant<event::DiscreteLaplace, event::DiscreteGaussian, event::Laplace, event::Gaussian,
                   event::RandomizedResponse, event::LeakyRandomizedResponse, event::NameAndShame,
                   event::Exponential, event::Pure, event::Zcdp, event::Repeat, event::Compose>;

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
  Event(event::Zcdp event);
  Event(event::Repeat event);
  Event(event::Compose event);

  const Node& node() const;
  bool operator==(const Event& other) const;

 private:
  std::shared_ptr<const Node> node_;
};

namespace event {

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

// The event as one line of JSON, keys in a fixed order, numbers so that they read back exactly.
std::string to_json(const Event& event);

// Throws parse_error for text that is no JSON, and for an unknown, malformed or out-of-range event,
// with its place in the tree (such as /compose/1/discrete_laplace/scale).
Event event_from_json(std::string_view text);

}  // namespace shoal::privacy
