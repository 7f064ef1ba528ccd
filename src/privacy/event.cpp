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

template <typename T>
std::shared_ptr<const Event::Node> make_node(T&& event) {
  return std::make_shared<const Event::Node>(std::forward<T>(event));
}

}  // namespace

Event::Event(event::DiscreteLaplace event) {
  require_positive(event.scale, "scale");
  require_not_negative(event.sensitivity, "sensitivity");
  node_ = make_node(event);
}

Event::Event(event::DiscreteGaussian event) {
  require_positive(event.sigma, "sigma");
  require_not_negative(event.sensitivity, "sensitivity");
  node_ = make_node(event);
}

Event::Event(event::Laplace event) {
  require_positive(event.scale, "scale");
  require_not_negative(event.sensitivity, "sensitivity");
  node_ = make_node(event);
}

Event::Event(event::Gaussian event) {
  require_positive(event.sigma, "sigma");
  require_not_negative(event.sensitivity, "sensitivity");
  node_ = make_node(event);
}

Event::Event(event::RandomizedResponse event) {
  require_not_negative(event.epsilon, "epsilon");
  if (event.categories < 2) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("categories is {}; it must be at least 2", event.categories));
  }
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

Event::Event(event::Zcdp event) {
  require_not_negative(event.rho, "rho");
  node_ = make_node(event);
}

Event::Event(event::Repeat event) {
  if (event.count < 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("count is {}; it must not be negative", event.count));
  }
  node_ = make_node(std::move(event));
}

Event::Event(event::Compose event) : node_(make_node(std::move(event))) {}

bool Event::operator==(const Event& other) const {
  return node_ == other.node_ || *node_ == *other.node_;
}

}  // namespace shoal::privacy
