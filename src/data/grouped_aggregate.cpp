#include <shoal/data/grouped_aggregate.hpp>

namespace shoal::data {
namespace {

// Secrets do not stay behind in freed memory. The volatile access keeps the compiler from dropping
// it.
template <typename Number>
void wipe(Number& number) {
  *static_cast<volatile Number*>(&number) = 0;
}

}  // namespace

GroupedAggregate::~GroupedAggregate() {
  for (ExactGroup& group : groups_) {
    wipe(group.units);
    for (Int128& sum : group.sums) wipe(sum);
    for (Leaves& leaves : group.leaves) {
      for (Leaf& leaf : leaves) {
        wipe(leaf.step);
        wipe(leaf.count);
      }
    }
    for (catalog::KeyValue& value : group.key) {
      if (!value) continue;
      for (char& letter : *value) wipe(letter);
    }
  }
}

}  // namespace shoal::data
