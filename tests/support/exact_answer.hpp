// What an answer would be without noise, so that it can be compared with another engine's: the
// plan's own exact sums, presented as released ones are. Groups without rows are left out.
#pragma once

#include "session/question.hpp"
#include "support/open_grouped_aggregate.hpp"

#include <shoal/base/owner_log.hpp>
#include <shoal/engine/engine.hpp>
#include <shoal/plan/present.hpp>

#include <stdexcept>
#include <utility>
#include <vector>

namespace shoal::test {

inline std::vector<std::vector<plan::Cell>> exact_answer(const plan::Plan& plan,
                                                         engine::Engine& engine,
                                                         const OwnerLog& log) {
  const auto exact = engine.aggregate_groups(session::engine_request(plan, {1, 2}), log);
  std::vector<std::vector<catalog::ReleasedGroup>> sets;
  for (std::size_t set = 0; set < exact.size(); ++set) {
    const mechanism::GroupedNoise& noise = plan.noises.at(set);
    if (!noise.quantiles.empty()) throw std::logic_error("quantiles are chosen, not added up");
    auto& released = sets.emplace_back();
    for (const auto& [key, group] : open(exact[set])) {
      catalog::ReleasedGroup& one = released.emplace_back(catalog::ReleasedGroup{.key = key});
      for (std::size_t i = 0; i < noise.statistics.size(); ++i) {
        // What the choice of groups makes noisy is their size.
        one.values.emplace_back(noise.statistics[i].noise ? group.sums.at(i) : group.units);
      }
    }
  }
  return plan::present(plan, sets);
}

}  // namespace shoal::test
