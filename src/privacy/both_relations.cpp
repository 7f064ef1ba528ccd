#include "privacy/both_relations.hpp"

#include <algorithm>
#include <type_traits>
#include <variant>

namespace shoal::privacy {

bool knows_both_relations(const Event& event) {
  return std::visit(
      [](const auto& e) {
        using Node = std::decay_t<decltype(e)>;
        if constexpr (requires { e.replace_sensitivity; }) {
          return true;
        } else if constexpr (std::is_same_v<Node, event::Compose>) {
          return std::all_of(e.events.begin(), e.events.end(), knows_both_relations);
        } else if constexpr (std::is_same_v<Node, event::Repeat> ||
                             std::is_same_v<Node, event::PoissonSampled>) {
          return knows_both_relations(e.event);
        } else {
          return false;
        }
      },
      event.node());
}

}  // namespace shoal::privacy
