// An engine over files as they are now: their rows are settled first, by the owner's command.
#pragma once

#include <shoal/engine/duckdb_engine.hpp>
#include <shoal/engine/settle.hpp>

#include <array>
#include <functional>
#include <span>

namespace shoal::test {

// Copies that belong to no budget.
inline void no_budget(const catalog::Table&, const std::filesystem::path&,
                      const std::function<void()>& give_name) {
  give_name();
}

inline void settle(const catalog::Policy& policy, const catalog::Table& table) {
  engine::settle_rows(policy, table, no_budget);
}

inline engine::DuckdbEngine settled_engine(const catalog::Policy& policy,
                                           std::span<const catalog::Table* const> tables) {
  for (const catalog::Table* table : tables) settle(policy, *table);
  return {policy, tables};
}

inline engine::DuckdbEngine settled_engine(const catalog::Policy& policy,
                                           const catalog::Table& table) {
  return settled_engine(policy, std::array{&table});
}

}  // namespace shoal::test
