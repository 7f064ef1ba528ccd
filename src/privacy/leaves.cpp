#include "privacy/leaves.hpp"

#include <algorithm>

namespace shoal::privacy {
namespace {

struct Gatherer {
  std::vector<Leaf> leaves;

  void visit(const Event& event, std::int64_t group, double count) {
    if (count == 0) return;
    if (const auto* repeat = std::get_if<event::Repeat>(&event.node())) {
      visit(repeat->event, group, count * static_cast<double>(repeat->count));
    } else if (const auto* compose = std::get_if<event::Compose>(&event.node())) {
      for (const Event& part : compose->events) visit(part, group, count);
    } else if (const auto* inner = std::get_if<event::Group>(&event.node());
               inner != nullptr && group == 1) {
      visit(inner->event, inner->size, count);
    } else {
      add(group == 1 ? event : Event(event::Group{group, event}), count);
    }
  }

  void add(const Event& event, double count) {
    const auto same = std::find_if(leaves.begin(), leaves.end(),
                                   [&](const Leaf& leaf) { return leaf.event == event; });
    if (same != leaves.end()) {
      same->count += count;
    } else {
      leaves.push_back({event, count});
    }
  }
};

}  // namespace

std::vector<Leaf> leaves_of(const Event& event) {
  Gatherer gatherer;
  gatherer.visit(event, 1, 1);
  return std::move(gatherer.leaves);
}

}  // namespace shoal::privacy
