// The sums of an exact aggregate cannot be read.
#include <shoal/data/exact_aggregate.hpp>

auto peek(const shoal::data::ExactAggregate& exact) {
#ifdef ALLOWED
  return exact.size();
#else
  return exact.sums_;
#endif
}
