#include "session/settled_data.hpp"

#include "session/account_ledger.hpp"

#include <shoal/catalog/budget_marker.hpp>

#include <array>
#include <functional>
#include <vector>

namespace shoal::session {

engine::NameCopy mark_copies(const catalog::Policy& policy) {
  return [&policy](const catalog::Table& table, const std::filesystem::path& copy,
                   const std::function<void()>& give_name) {
    // A public file has no budget, and neither has its copy.
    if (table.is_public) return give_name();
    const std::filesystem::path data = policy.resolve(table.source);
    catalog::claim_budget(
        data, {policy.lineage, policy.ledger_place(), false, false, terms_of(policy).terms});
    const std::array both = {data, copy};
    catalog::LockedMarkers locked(both);
    std::vector<catalog::BudgetMark> marks = locked.read(data);
    // Nobody begins a budget with a snapshot: if its ledger is not there, it was lost. The witness
    // is beside the data.
    for (catalog::BudgetMark& mark : marks) {
      mark.opened = true;
      mark.witnessed = false;
    }
    locked.write(copy, marks);
    give_name();
  };
}

std::unique_ptr<engine::Engine> open_engine(const catalog::Policy& policy,
                                            std::span<const catalog::Table* const> tables) {
  return engine::open_engine(policy, tables, mark_copies(policy));
}

}  // namespace shoal::session
