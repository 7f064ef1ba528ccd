// Opens exact aggregates for tests of the engine. Production has one such key, in
// src/release/release.cpp; a test that includes this must not link that layer.
#pragma once

#include <shoal/data/exact_aggregate.hpp>

#include <vector>

namespace shoal::release {

class ExactAggregateKey {
 public:
  static const std::vector<Int128>& sums(const data::ExactAggregate& exact) { return exact.sums_; }
};

}  // namespace shoal::release

namespace shoal::test {

inline std::vector<long long> open(const data::ExactAggregate& exact) {
  std::vector<long long> sums;
  for (const Int128 sum : release::ExactAggregateKey::sums(exact))
    sums.push_back(static_cast<long long>(sum));
  return sums;
}

}  // namespace shoal::test
