// Searches on their way through the flow: how the ledger knows them, and how one is run.
//
// A search is a spend of its own, reserved in one transaction with the question that needs it, and
// settled before the question reads a row. Its key is its rule, so the ledger gives what it found
// to every later question with that rule.
#pragma once

#include "session/paid_flow.hpp"

#include <shoal/catalog/policy.hpp>
#include <shoal/data/grouped_aggregate.hpp>
#include <shoal/engine/grouped_request.hpp>
#include <shoal/ledger/ledger.hpp>
#include <shoal/plan/automatic.hpp>
#include <shoal/random/bit_source.hpp>
#include <shoal/session/answer.hpp>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::session {

// The key and the digest under which the ledger knows a rule.
std::string search_key(const std::string& rule);

// What the ledger already knows of the rules of a plan.
plan::Findings stored_findings(const plan::Plan& plan, const std::string& lineage,
                               const ledger::Ledger& ledger);

// The question's request, and behind it one for each search that is still to be made, in the order
// of the plan.
std::vector<ledger::Request> with_searches(const ledger::Request& question, const plan::Plan& plan);

// Exact groups, from whatever engine holds the rows.
using Aggregation =
    std::function<std::vector<data::GroupedAggregate>(const engine::GroupedRequest&)>;

// Makes the searches of a plan, which are the parts of the flow behind the first, in the order of
// with_searches(), or reads what another process found.
plan::Findings run_searches(const plan::Plan& plan, const catalog::Policy& policy,
                            const Aggregation& aggregate, random::BitSource& bits, PaidFlow& flow);

// For the answer: what was found, and what finding it cost this question.
std::vector<AnswerFound> found_in(const plan::Plan& asked, const plan::Findings& findings);

// The text that the ledger stores for what was found, and back. A search that failed has found
// nothing. Throws corrupt if it is no such text.
std::string found_json(const plan::Found& found);
plan::Found found_from_json(std::string_view text);

}  // namespace shoal::session
