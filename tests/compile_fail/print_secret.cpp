// An exact aggregate cannot be printed.
#include <shoal/data/exact_aggregate.hpp>

#include <iostream>

void show(const shoal::data::ExactAggregate& exact) {
#ifdef ALLOWED
  std::cout << exact.size();
#else
  std::cout << exact;
#endif
}
