// The leaves of an event tree: what is left when repetition and composition dissolve, each with how
// often it happens. Samples, and groups of one leaf, count as leaves. Private to the accountant.
#pragma once

#include <shoal/privacy/event.hpp>

#include <vector>

namespace shoal::privacy {

struct Leaf {
  Event event;
  double count;
};

// Equal leaves are counted together, in the order of their first appearance.
std::vector<Leaf> leaves_of(const Event& event);

}  // namespace shoal::privacy
