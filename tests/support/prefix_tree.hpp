// Walks every bit string up to a length and adds up what a sampler makes of them: the exact
// probability, as a multiple of 2^-depth, that a value was decided within that many bits.
#pragma once

#include "support/scripted_source.hpp"

#include <cmath>
#include <map>
#include <vector>

namespace shoal::test {

template <class Value>
struct DecidedMass {
  std::map<Value, double> decided;  // exact: sums of few powers of two
  double undecided = 0;

  double of(const Value& value) const {
    const auto found = decided.find(value);
    return found == decided.end() ? 0.0 : found->second;
  }
};

namespace detail {

template <class Value, class Sampler>
void walk(const Sampler& sampler, std::size_t depth, std::vector<bool>& prefix,
          DecidedMass<Value>& mass) {
  const double weight = std::ldexp(1.0, -static_cast<int>(prefix.size()));
  ScriptedSource source(prefix);
  try {
    // Shorter prefixes were not enough, so all of this one was used: the strings decided never
    // overlap.
    const Value value = sampler(source);
    mass.decided[value] += weight;
    return;
  } catch (const ScriptExhausted&) {
    if (prefix.size() == depth) {
      mass.undecided += weight;
      return;
    }
  }
  for (const bool bit : {false, true}) {
    prefix.push_back(bit);
    walk(sampler, depth, prefix, mass);
    prefix.pop_back();
  }
}

}  // namespace detail

template <class Value, class Sampler>
DecidedMass<Value> decided_mass(const Sampler& sampler, std::size_t depth) {
  DecidedMass<Value> mass;
  std::vector<bool> prefix;
  detail::walk(sampler, depth, prefix, mass);
  return mass;
}

}  // namespace shoal::test
