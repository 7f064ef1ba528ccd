// Which events have the same profile in both directions.
#include "privacy/components.hpp"

#include <algorithm>
#include <variant>

namespace shoal::privacy {
namespace {

bool directed(const Event& event, Neighbors neighbors);

struct DirectedVisitor {
  Neighbors neighbors;

  bool operator()(const event::NameAndShame&) const { return neighbors == Neighbors::add_remove; }
  bool operator()(const event::PoissonSampled& e) const {
    return (e.rate < 1 && neighbors == Neighbors::add_remove) || directed(e.event, neighbors);
  }
  bool operator()(const event::SampledWithoutReplacement&) const { return true; }
  bool operator()(const event::Group& e) const { return directed(e.event, neighbors); }
  bool operator()(const event::Repeat& e) const { return directed(e.event, neighbors); }
  bool operator()(const event::Compose& e) const {
    return std::any_of(e.events.begin(), e.events.end(),
                       [&](const Event& part) { return directed(part, neighbors); });
  }
  // What is stated of both directions, and laws that are their own mirror image.
  bool operator()(const event::DiscreteLaplace&) const { return false; }
  bool operator()(const event::DiscreteGaussian&) const { return false; }
  bool operator()(const event::Laplace&) const { return false; }
  bool operator()(const event::Gaussian&) const { return false; }
  bool operator()(const event::RandomizedResponse&) const { return false; }
  bool operator()(const event::LeakyRandomizedResponse&) const { return false; }
  bool operator()(const event::Exponential&) const { return false; }
  bool operator()(const event::Pure&) const { return false; }
  bool operator()(const event::EpsilonDelta&) const { return false; }
  bool operator()(const event::Zcdp&) const { return false; }
  bool operator()(const event::Rdp&) const { return false; }
  bool operator()(const event::Gdp&) const { return false; }
  bool operator()(const event::Shuffled&) const { return false; }
};

bool directed(const Event& event, Neighbors neighbors) {
  return std::visit(DirectedVisitor{neighbors}, event.node());
}

}  // namespace

bool symmetric(const Event& event, Neighbors neighbors) { return !directed(event, neighbors); }

}  // namespace shoal::privacy
