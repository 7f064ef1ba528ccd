// Exact groups cannot be printed.
#include <shoal/data/grouped_aggregate.hpp>

#include <iostream>

void show(const shoal::data::GroupedAggregate& exact) {
#ifdef ALLOWED
  std::cout << sizeof(exact);
#else
  std::cout << exact;
#endif
}
