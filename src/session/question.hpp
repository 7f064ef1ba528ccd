// One question on its way through the flow: from a plan to the engine's request, and from released
// groups to the answer.
#pragma once

#include <shoal/catalog/policy.hpp>
#include <shoal/catalog/released_group.hpp>
#include <shoal/engine/grouped_request.hpp>
#include <shoal/plan/plan.hpp>
#include <shoal/session/answer.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace shoal::session {

// `hash_key` decides which groups of a unit count where it is in too many; it is secret.
engine::GroupedRequest engine_request(const plan::Plan& plan,
                                      const std::array<std::uint64_t, 2>& hash_key);

// `asked` is the plan whose cost was reserved, before what it left open was found; otherwise the
// same.
Answer make_answer(const plan::Plan& plan, const plan::Plan& asked, const catalog::Policy& policy,
                   std::span<const std::vector<catalog::ReleasedGroup>> released);

}  // namespace shoal::session
