#include <shoal/data/exact_aggregate.hpp>

namespace shoal::data {

// Secrets do not stay behind in freed memory. The volatile access keeps the compiler from dropping
// it.
ExactAggregate::~ExactAggregate() {
  for (Int128& sum : sums_) *static_cast<volatile Int128*>(&sum) = 0;
}

}  // namespace shoal::data
