// Exact groups cannot be read.
#include <shoal/data/grouped_aggregate.hpp>

auto peek(const shoal::data::GroupedAggregate& exact) {
#ifdef ALLOWED
  return sizeof(exact);
#else
  return exact.groups_;
#endif
}
