// An exact aggregate cannot be copied.
#include <shoal/data/exact_aggregate.hpp>

#include <utility>

shoal::data::ExactAggregate take(shoal::data::ExactAggregate& exact) {
#ifdef ALLOWED
  return std::move(exact);
#else
  return exact;
#endif
}
