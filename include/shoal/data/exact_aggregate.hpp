// Exact aggregates: the true sums, before noise. They are secret: there is no getter, no printing,
// no JSON, no copy, no comparison. The only way out is release(), which adds noise under a
// reservation.
#pragma once

#include <shoal/base/int128.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace shoal::release {
class ExactAggregateKey;
}

namespace shoal::data {

class ExactAggregate {
 public:
  // One integer a statistic, in the order of the plan.
  explicit ExactAggregate(std::vector<Int128>&& sums) : sums_(std::move(sums)) {}
  ExactAggregate(ExactAggregate&& other) noexcept : sums_(std::move(other.sums_)) {
    other.sums_.clear();
  }
  ExactAggregate& operator=(ExactAggregate&&) = delete;
  ExactAggregate(const ExactAggregate&) = delete;
  ExactAggregate& operator=(const ExactAggregate&) = delete;
  ~ExactAggregate();

  // Public: the plan says it.
  std::size_t size() const { return sums_.size(); }

  template <typename Stream>
  friend Stream& operator<<(Stream&, const ExactAggregate&) = delete;

 private:
  friend class ::shoal::release::ExactAggregateKey;
  std::vector<Int128> sums_;
};

}  // namespace shoal::data
