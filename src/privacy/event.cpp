#include <shoal/base/error.hpp>
#include <shoal/privacy/event.hpp>

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace shoal::privacy {
namespace {

void require_positive(double value, const char* name) {
  if (!(value > 0 && std::isfinite(value))) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is {}; it must be finite and above 0", name, value));
  }
}

void require_not_negative(double value, const char* name) {
  if (!(value >= 0 && std::isfinite(value))) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is {}; it must be finite and not negative", name, value));
  }
}

void require_chance(double value, const char* name) {
  if (!(value >= 0 && value <= 1)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is {}; it must be from 0 to 1", name, value));
  }
}

// Twice the sensitivity is what replace_one takes it for, so that must be finite too.
template <class Noise>
void require_sensitivity(const Noise& noise) {
  require_not_negative(noise.sensitivity, "sensitivity");
  if (!std::isfinite(2 * noise.sensitivity)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("sensitivity is {}; it must be below 8e307", noise.sensitivity));
  }
  if (noise.replace_sensitivity) {
    require_not_negative(*noise.replace_sensitivity, "replace_sensitivity");
    if (*noise.replace_sensitivity > 2 * noise.sensitivity) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("replace_sensitivity is {}; it cannot exceed twice the sensitivity, "
                              "{}, because an exchange is a removal and an addition",
                              *noise.replace_sensitivity, 2 * noise.sensitivity));
    }
  }
}

void require_at_least(std::int64_t value, std::int64_t least, const char* name) {
  if (value < least) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is {}; it must be at least {}", name, value, least));
  }
}

void require_renyi_table(const event::Rdp& event) {
  if (event.orders.empty() || event.orders.size() != event.epsilons.size()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} orders and {} epsilons; give one epsilon for each of at least one "
                            "order",
                            event.orders.size(), event.epsilons.size()));
  }
  double previous = 1;
  for (const double order : event.orders) {
    if (!(order > previous && std::isfinite(order))) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("order {} follows {}; orders must be finite, above 1 and increasing",
                              order, previous));
    }
    previous = order;
  }
  for (const double epsilon : event.epsilons) require_not_negative(epsilon, "epsilon");
}

template <typename T>
std::shared_ptr<const Event::Node> make_node(T&& event) {
  return std::make_shared<const Event::Node>(std::forward<T>(event));
}

}  // namespace

Event::Event(event::DiscreteLaplace event) {
  require_positive(event.scale, "scale");
  require_sensitivity(event);
  node_ = make_node(event);
}

Event::Event(event::DiscreteGaussian event) {
  require_positive(event.sigma, "sigma");
  require_sensitivity(event);
  node_ = make_node(event);
}

Event::Event(event::Laplace event) {
  require_positive(event.scale, "scale");
  require_sensitivity(event);
  node_ = make_node(event);
}

Event::Event(event::Gaussian event) {
  require_positive(event.sigma, "sigma");
  require_sensitivity(event);
  node_ = make_node(event);
}

Event::Event(event::RandomizedResponse event) {
  require_not_negative(event.epsilon, "epsilon");
  require_at_least(event.categories, 2, "categories");
  node_ = make_node(event);
}

Event::Event(event::LeakyRandomizedResponse event) {
  require_not_negative(event.epsilon, "epsilon");
  require_chance(event.delta, "delta");
  node_ = make_node(event);
}

Event::Event(event::NameAndShame event) {
  require_chance(event.delta, "delta");
  node_ = make_node(event);
}

Event::Event(event::Exponential event) {
  require_not_negative(event.epsilon, "epsilon");
  node_ = make_node(event);
}

Event::Event(event::Pure event) {
  require_not_negative(event.epsilon, "epsilon");
  node_ = make_node(event);
}

Event::Event(event::EpsilonDelta event) {
  require_not_negative(event.epsilon, "epsilon");
  require_chance(event.delta, "delta");
  node_ = make_node(event);
}

Event::Event(event::Zcdp event) {
  require_not_negative(event.rho, "rho");
  node_ = make_node(event);
}

Event::Event(event::Rdp event) {
  require_renyi_table(event);
  node_ = make_node(std::move(event));
}

Event::Event(event::Gdp event) {
  require_not_negative(event.mu, "mu");
  node_ = make_node(event);
}

Event::Event(event::PoissonSampled event) {
  require_chance(event.rate, "rate");
  node_ = make_node(std::move(event));
}

Event::Event(event::SampledWithoutReplacement event) {
  require_at_least(event.population, 1, "population");
  require_at_least(event.sample, 0, "sample");
  if (event.sample > event.population) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("sample is {}; it cannot exceed the population, {}", event.sample,
                            event.population));
  }
  node_ = make_node(std::move(event));
}

Event::Event(event::Shuffled event) {
  require_not_negative(event.epsilon, "epsilon");
  require_at_least(event.users, 1, "users");
  node_ = make_node(event);
}

Event::Event(event::Group event) {
  require_at_least(event.size, 1, "size");
  node_ = make_node(std::move(event));
}

Event::Event(event::Repeat event) {
  require_at_least(event.count, 0, "count");
  node_ = make_node(std::move(event));
}

Event::Event(event::Compose event) : node_(make_node(std::move(event))) {}

bool Event::operator==(const Event& other) const {
  return node_ == other.node_ || *node_ == *other.node_;
}

}  // namespace shoal::privacy
