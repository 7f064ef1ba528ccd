// Privacy events: what was done to the data, as immutable data. The ledger stores them as JSON; any
// accountant, today's or a better one, can price them again.
//
// An event class never disappears and never changes meaning; an unknown or malformed one is refused
// with its position in the text. Format, one object with one key each:
//   {"discrete_laplace": {"scale": 20, "sensitivity": 10}}
//   {"discrete_gaussian": {"sigma": 20, "sensitivity": 10}}
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
  using Node = std::variant<event::DiscreteLaplace, event::DiscreteGaussian, event::Pure,
                            event::Zcdp, event::Repeat, event::Compose>;

  // Each throws invalid_argument if a parameter is out of range. Implicit on purpose: an event of
  // any class is an event.
  Event(event::DiscreteLaplace event);
  Event(event::DiscreteGaussian event);
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
