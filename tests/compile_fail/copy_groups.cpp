// Exact groups cannot be copied.
#include <shoal/data/grouped_aggregate.hpp>

#include <utility>

shoal::data::GroupedAggregate take(shoal::data::GroupedAggregate& exact) {
#ifdef ALLOWED
  return std::move(exact);
#else
  return exact;
#endif
}
