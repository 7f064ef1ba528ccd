#include "session/search.hpp"

#include "session/question.hpp"

#include <shoal/base/digest.hpp>
#include <shoal/base/error.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/release/release_groups.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <utility>

namespace shoal::session {
namespace {

using Json = nlohmann::json;

std::string description(const plan::Search& search) {
  return search.kind == plan::SearchKind::bounds
             ? fmt::format("automatic bounds of {}", search.of)
             : fmt::format("automatic number of groups of a person by {}", search.of);
}

// A search that a process left behind when it died may have been paid with another amount.
plan::Search as_paid(plan::Search search, const privacy::Event& event) {
  const privacy::Charge charge = privacy::price(event, Neighbors::add_remove);
  SHOAL_CHECK(charge.epsilon_units.has_value());
  search.epsilon_units = *charge.epsilon_units;
  SHOAL_CHECK(plan::search_event(search) == event);
  return search;
}

}  // namespace

std::string search_key(const std::string& rule) { return "automatic-" + to_hex(sha256(rule)); }

plan::Findings stored_findings(const plan::Plan& plan, const std::string& lineage,
                               const ledger::Ledger& ledger) {
  plan::Findings findings;
  for (const plan::Automatic& one : plan.automatic) {
    // A search is asked for with its key as its digest: with_searches().
    const std::string key = search_key(one.search.rule);
    const auto stored = ledger.stored(lineage, key, key);
    // What its first asker does not have yet is not found yet.
    if (stored && stored->hidden_for.count() == 0)
      findings[one.search.rule] = found_from_json(stored->answer);
  }
  return findings;
}

std::vector<ledger::Request> with_searches(const ledger::Request& question,
                                           const plan::Plan& plan) {
  std::vector<ledger::Request> requests = {question};
  for (const plan::Automatic& one : plan.automatic) {
    if (one.found) continue;
    ledger::Request request = question;
    request.key = search_key(one.search.rule);
    request.digest = request.key;
    request.description = description(one.search);
    request.event = plan::search_event(one.search);
    requests.push_back(std::move(request));
  }
  return requests;
}

namespace {

plan::Found run_search(const plan::Search& search, std::size_t part, const catalog::Policy& policy,
                       const Aggregation& aggregate, random::BitSource& bits, PaidFlow& flow) {
  const ledger::StoredAnswer stored = flow.run(part, [&](privacy::Reservation&& reservation) {
    const plan::Search paid = as_paid(search, reservation.event());
    const plan::Plan plan = plan::search_plan(paid, policy.neighbors);
    const std::array<std::uint64_t, 2> hash_key = {bits.next_u64(), bits.next_u64()};
    std::vector<data::GroupedAggregate> exact = aggregate(engine_request(plan, hash_key));
    const std::vector<std::vector<catalog::Key>> keys = {plan.groupings.front().public_keys};
    release::ReleasedGroups released = release::release_groups(
        std::move(reservation), std::move(exact), plan.noises, keys, policy.neighbors, bits);
    const plan::Found found = plan::read_search(paid, plan, released.sets.front());
    return PaidWork{std::move(released.spent), found_json(found)};
  });
  return found_from_json(stored.answer);
}

}  // namespace

plan::Findings run_searches(const plan::Plan& plan, const catalog::Policy& policy,
                            const Aggregation& aggregate, random::BitSource& bits, PaidFlow& flow) {
  plan::Findings findings;
  std::size_t part = 0;
  for (const plan::Automatic& one : plan.automatic) {
    findings[one.search.rule] =
        one.found ? *one.found : run_search(one.search, ++part, policy, aggregate, bits, flow);
  }
  return findings;
}

std::vector<AnswerFound> found_in(const plan::Plan& asked, const plan::Findings& findings) {
  std::vector<AnswerFound> all;
  for (const plan::Automatic& one : asked.automatic) {
    const plan::Found& found = findings.at(one.search.rule);
    all.push_back({one.search.of, found.bounds, found.max_groups,
                   one.found ? 0
                             : numeric::decimal_from_units(one.search.epsilon_units,
                                                           privacy::kEpsilonDecimals)});
  }
  return all;
}

std::string found_json(const plan::Found& found) {
  Json json = {{"found", Json::object()}};
  if (found.bounds) json["found"]["bounds"] = {found.bounds->lower, found.bounds->upper};
  if (found.max_groups) json["found"]["max_groups"] = *found.max_groups;
  return json.dump();
}

plan::Found found_from_json(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  try {
    if (json.is_object() && json.contains("failure")) return {};
    const Json& stored = json.at("found");
    plan::Found found;
    if (stored.contains("bounds")) {
      found.bounds = catalog::Bounds{stored["bounds"].at(0), stored["bounds"].at(1)};
    }
    if (stored.contains("max_groups")) found.max_groups = stored["max_groups"].get<std::int64_t>();
    return found;
  } catch (const Json::exception&) {
    throw Error(ErrorCode::corrupt,
                "what an automatic search found cannot be read; restore the ledger from a backup");
  }
}

}  // namespace shoal::session
