#include "session/account_ledger.hpp"
#include "session/answer_clock.hpp"
#include "session/kept_engines.hpp"
#include "session/paid_flow.hpp"
#include "session/question.hpp"
#include "session/request_identity.hpp"
#include "session/search.hpp"
#include "session/settled_data.hpp"

#include <shoal/base/digest.hpp>
#include <shoal/base/error.hpp>
#include <shoal/base/owner_log.hpp>
#include <shoal/base/text.hpp>
#include <shoal/catalog/budget_marker.hpp>
#include <shoal/engine/engine.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/plan/consistency.hpp>
#include <shoal/privacy/conversion.hpp>
#include <shoal/privacy/odometer.hpp>
#include <shoal/random/secure_source.hpp>
#include <shoal/release/release_groups.hpp>
#include <shoal/session/session.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace shoal::session {
namespace {

// Somebody who asks what another is asking waits for the answer for so long.
constexpr std::chrono::seconds kPatience(60);

// How far joins with public tables multiply rows is a public fact. Refused, it costs nothing.
void check_fan_outs(const plan::Plan& plan, engine::Engine& engine) {
  std::map<std::string, long long> known;
  for (const plan::FanOut& fan_out : plan.fan_outs) {
    std::vector<long long> counts;
    for (const plan::PublicCount& count : fan_out.counts) {
      const auto [found, is_new] =
          known.try_emplace(sql::print(count.query, sql::Dialect::shoal), 0);
      if (is_new) {
        const std::vector<catalog::Key> row = engine.public_keys(count.query);
        if (!row.empty()) found->second = std::stoll(row.front().front().value());
      }
      counts.push_back(found->second);
    }
    plan::require_fan_out(fan_out, counts);
  }
}

// What a plan wants to know of public tables, before anything is spent.
std::vector<std::vector<catalog::Key>> look_up_public(const plan::Plan& plan,
                                                      engine::Engine& engine) {
  for (const plan::UniqueCheck& check : plan.unique) {
    if (engine.is_unique(check.table, check.column)) continue;
    throw Error(ErrorCode::conflict,
                fmt::format("the policy calls {}.{} unique, but two rows share a value; the owner "
                            "must correct one of them",
                            check.table, check.column));
  }
  check_fan_outs(plan, engine);
  std::vector<std::vector<catalog::Key>> keys;
  for (const plan::PlannedGrouping& grouping : plan.groupings) {
    keys.push_back(grouping.key_query ? engine.public_keys(*grouping.key_query)
                                      : grouping.public_keys);
    if (keys.back().size() <= plan::kMaxPublicGroups) continue;
    throw Error(ErrorCode::unsupported,
                fmt::format("the public table that is kept whole has more than {} keys, each of "
                            "which would be a row of the answer; group by a coarser one",
                            plan::kMaxPublicGroups));
  }
  return keys;
}

// Whether the engine's SQL can say it is known without data, so it is known before it is paid.
void check_sayable(const plan::Plan& plan, const catalog::Table& first) {
  const sql::Dialect dialect = first.format == catalog::SourceFormat::postgresql
                                   ? sql::Dialect::postgresql
                                   : sql::Dialect::duckdb;
  sql::print(plan.rows, dialect);
  for (const plan::Automatic& one : plan.automatic) sql::print(one.search.rows, dialect);
}

// A mistake of the planner shows when the engine is told what to do, and costs nothing then.
void check_bound(const plan::Plan& plan, Neighbors neighbors,
                 const std::array<std::uint64_t, 2>& hash_key, engine::Engine& engine,
                 const OwnerLog& log) {
  engine.check_groups(engine_request(plan, hash_key), log);
  for (const plan::Automatic& one : plan.automatic) {
    if (one.found) continue;
    engine.check_groups(engine_request(plan::search_plan(one.search, neighbors), hash_key), log);
  }
}

// The plan with what was found, within what was reserved. Where that cannot be, nothing of the
// answer was read, and why it cannot be is public: its part is given back.
plan::Plan plan_found(const plan::Plan& asked, const catalog::Policy& policy,
                      const plan::Findings& findings, PaidFlow& flow) {
  const bool pure = privacy::price(flow.event(0), policy.neighbors).epsilon_units.has_value();
  try {
    return plan::make_plan(
        asked.sql, policy, asked.options,
        {findings, true, pure ? plan::NoiseChoice::laplace : plan::NoiseChoice::gaussian});
  } catch (const Error&) {
    flow.give_back(0);
    flow.finish();
    throw;
  }
}

// Fixed with the account, before its first question: tuned to the whole of its budget. None if
// there is no delta to state it at.
std::optional<privacy::Odometer> odometer_of(const privacy::Budget& budget) {
  const double rest = numeric::subtract_down(budget.delta.value(), budget.failures.value());
  if (!(rest > 0)) return std::nullopt;
  return privacy::odometer_for(privacy::rho_within(budget.epsilon, Delta(rest)), Delta(rest),
                               budget.failures);
}

// A plain sum holds whenever one stops. A number that was converted holds at a moment fixed in
// advance; at a moment chosen by the answers the odometer's, larger one does.
void state_guarantee(BudgetReport& report, const std::optional<privacy::Odometer>& odometer) {
  const bool pure = report.spent.epsilon_units && report.spent.delta_units == 0 &&
                    numeric::decimal_from_units(*report.spent.epsilon_units,
                                                privacy::kEpsilonDecimals) <= report.epsilon_spent;
  report.epsilon_at_any_time = report.epsilon_spent;
  const auto claim = [&](double epsilon) {
    return privacy_statement(epsilon, pure ? 0 : report.total.delta.value(), report.unit,
                             report.neighbors);
  };
  report.statement = "all answers so far, together, are " + claim(report.epsilon_spent);
  if (pure) return;
  report.epsilon_at_any_time = odometer ? privacy::epsilon_at(*odometer, report.spent)
                                        : std::numeric_limits<double>::infinity();
  if (!std::isfinite(report.epsilon_at_any_time)) {
    report.statement += ", if the moment at which you read this was fixed in advance";
    return;
  }
  report.statement = fmt::format(
      "all answers so far, together, are {}, whenever you stop to read this; ({}, {}) if the "
      "moment was fixed in advance",
      claim(report.epsilon_at_any_time), format_number(report.epsilon_spent),
      format_number(report.total.delta.value()));
}

Answer new_answer(const PaidFlow& flow, const std::string& stored) {
  flow.finish();
  return answer_from_json(stored);
}

// One that left before, or leaves now: the flow waited.
Answer known_answer(const std::string& stored) {
  Answer answer = answer_from_json(stored);
  answer.repeated = true;
  return answer;
}

void list_spends(BudgetReport& report, ledger::Ledger& ledger, const BudgetDetail& detail) {
  if (detail.verify) ledger.verify();
  report.spent = ledger.total(report.lineage);
  if (detail.reprice) report.repriced = ledger.repriced_total(report.lineage);
  report.spend_count = ledger.spend_count(report.lineage);
  report.spends = ledger.last_spends(report.lineage, detail.last_spends);
}

}  // namespace

void Session::check_key(const std::string& key) {
  if (ledger::is_reserved_key(key)) {
    throw Error(ErrorCode::invalid_argument,
                "keys that begin with same-, automatic- or state/ are Shoal's own; choose another");
  }
  if (key.size() <= 200 && is_utf8(key, false) && printable(key, 200) == key) return;
  throw Error(ErrorCode::invalid_argument, "a key is a plain text of at most 200 characters");
}

std::string privacy_statement(double epsilon, double delta, const std::string& unit,
                              Neighbors neighbors) {
  const std::string amount =
      delta > 0 ? fmt::format("({}, {})", format_number(epsilon), format_number(delta))
                : fmt::format("{}", format_number(epsilon));
  return fmt::format("{}-differentially private for {}, {}", amount, unit,
                     neighbors == Neighbors::add_remove ? "present or absent (add_remove)"
                                                        : "exchanged for another (replace_one)");
}

Session::Session(const std::filesystem::path& policy_path, ledger::Options ledger_options)
    : policy_(catalog::load_policy(policy_path)),
      ledger_options_(std::move(ledger_options)),
      engines_(std::make_shared<KeptEngines>()) {
  if (!ledger_options_.keep) ledger_options_.keep = ledger::keep_open();
  if (ledger_options_.key_patience.count() == 0) ledger_options_.key_patience = kPatience;
}

plan::Plan Session::explain(std::string_view sql, const plan::QueryOptions& options) const {
  // A session may outlive the making of a marker.
  catalog::check_public_sources(policy_);
  plan::Plan plan = plan::make_plan(sql, policy_, options);
  check_sayable(plan, *policy_.find_table(plan.tables.front(), true));
  if (!plan::must_search(plan)) return plan;
  const auto account = existing_account(place_of(policy_), reading_options());
  if (!account) return plan;
  const plan::Findings findings = stored_findings(plan, policy_.lineage, account->ledger());
  return findings.empty() ? plan : plan::make_plan(sql, policy_, options, {findings, false, {}});
}

AccountLedger Session::open_ledger(std::span<const catalog::Table* const> tables) const {
  return open_account(place_of(policy_, tables), terms_of(policy_), ledger_options_);
}

Answer Session::query(std::string_view sql, const plan::QueryOptions& options, std::string key) {
  random::SecureSource bits;
  return query(sql, options, std::move(key), bits);
}

Answer Session::query(std::string_view sql, const plan::QueryOptions& options, std::string key,
                      random::BitSource& bits) {
  const AnswerClock clock(policy_.query.time_steps);
  return query_at(clock, explain(sql, options), std::move(key), bits);
}

Answer Session::query(plan::Plan plan, std::string key) {
  const AnswerClock clock(policy_.query.time_steps);
  random::SecureSource bits;
  return query_at(clock, std::move(plan), std::move(key), bits);
}

ledger::Request Session::request_of(const std::string& identity, std::string key,
                                    std::string description, const privacy::Event& event) const {
  const std::string digest = to_hex(sha256(identity));
  // The same request again is the same answer again, and costs nothing.
  if (key.empty()) {
    key = "same-" + digest;
  } else {
    check_key(key);
  }
  return {policy_.lineage, std::move(key),
          digest,          std::move(description),
          policy_.digest,  {policy_.epsilon, policy_.delta},
          event,           policy_.max_failures};
}

Answer Session::query_at(const AnswerClock& clock, plan::Plan plan, std::string key,
                         random::BitSource& bits) {
  if (plan.explain_only) {
    throw Error(ErrorCode::invalid_argument,
                "EXPLAIN PRIVACY is answered without data; ask for the plan");
  }
  ledger::Request request =
      request_of(identity_of(plan, policy_), std::move(key), printable(plan.sql, 2000),
                 plan::must_search(plan) ? privacy::declared(plan.limit) : plan.event);
  if (const auto known = repeated(clock, request)) return known_answer(*known);
  std::vector<const catalog::Table*> tables;
  for (const std::string& name : plan.tables) tables.push_back(policy_.find_table(name, true));
  KeptEngines::Lease engine = engines_->open(policy_, tables);
  const std::vector<std::vector<catalog::Key>> public_keys = look_up_public(plan, *engine);
  // Which groups of a person count where there are too many: independent of the data, and new for
  // each question, so that nobody can aim at it.
  const std::array<std::uint64_t, 2> hash_key = {bits.next_u64(), bits.next_u64()};
  const OwnerLog log(policy_.owner_log());
  if (!engine.is_checked(request.digest)) {
    check_bound(plan, policy_.neighbors, hash_key, *engine, log);
    engine.note_checked(request.digest);
  }
  AccountLedger account = open_ledger(tables);
  request.budget = account.budget();
  const Aggregation aggregate = [&](const engine::GroupedRequest& rows) {
    return engine->aggregate_groups(rows, log);
  };

  PaidFlow flow(account, log, clock, "a question failed",
                account.ledger().reserve_together(with_searches(request, plan)));
  if (flow.known(0)) return known_answer(flow.run(0, {}).answer);
  const plan::Plan asked = plan;
  const plan::Findings findings = run_searches(plan, policy_, aggregate, bits, flow);
  if (!plan.automatic.empty() && !(flow.event(0) == plan.event)) {
    plan = plan_found(asked, policy_, findings, flow);
  }
  const ledger::StoredAnswer stored = flow.run(0, [&](privacy::Reservation&& reservation) {
    std::vector<data::GroupedAggregate> exact = aggregate(engine_request(plan, hash_key));
    const std::int64_t entry = reservation.entry();
    release::ReleasedGroups released =
        release::release_groups(std::move(reservation), std::move(exact), plan.noises, public_keys,
                                policy_.neighbors, bits);
    if (plan.consistent) plan::make_consistent(plan, released.sets);
    Answer answer = make_answer(plan, asked, policy_, released.sets);
    answer.found = found_in(asked, findings);
    answer.entry = entry;
    answer.key = request.key;
    return PaidWork{std::move(released.spent), to_json(answer)};
  });
  engine.keep();
  return new_answer(flow, stored.answer);
}

BudgetReport Session::budget(const BudgetDetail& detail) const {
  BudgetReport report;
  report.name = policy_.name;
  report.lineage = policy_.lineage;
  report.ledger = policy_.ledger_place();
  report.unit = policy_.unit_in_words();
  report.neighbors = policy_.neighbors;
  report.total = {policy_.epsilon, policy_.delta, policy_.failures_share()};
  std::optional<privacy::Odometer> odometer;
  if (auto account = existing_account(place_of(policy_), reading_options())) {
    const privacy::Budget held = account->budget();
    report.opened = true;
    odometer = odometer_of(held);
    report.total = privacy::smaller(held, report.total);
    list_spends(report, account->ledger(), detail);
  }
  report.epsilon_spent = privacy::epsilon_spent_up(report.total, report.spent);
  report.epsilon_left = privacy::epsilon_left_down(report.total, report.spent);
  state_guarantee(report, odometer);
  return report;
}

void Session::backup(const std::filesystem::path& file) const {
  const auto account = existing_account(place_of(policy_), reading_options());
  if (!account) throw Error(ErrorCode::not_found, "nothing was asked yet: there is no ledger");
  account->ledger().backup(file);
}

privacy::Certified certified_total(const BudgetReport& report) {
  SHOAL_CHECK(report.spends.size() == static_cast<std::size_t>(report.spend_count));
  privacy::event::Compose plan;
  for (const ledger::Spend& spend : report.spends) {
    if (spend.state == "cancelled") continue;
    // The first accountant's events state each sensitivity for the account's own relation.
    plan.events.push_back(spend.accountant == 1 ? privacy::stated_for(spend.event, report.neighbors)
                                                : spend.event);
  }
  return privacy::Profile(plan, report.neighbors).epsilon(report.total.delta);
}

std::vector<ledger::Failure> Session::failures() const {
  const auto account = existing_account(place_of(policy_), reading_options());
  if (!account) return {};
  return account->ledger().failures(policy_.lineage);
}

void Session::reopen(const std::string& note) {
  auto account = existing_account(place_of(policy_), ledger_options_);
  if (!account) {
    throw Error(ErrorCode::not_found, "nothing was asked yet, so there is nothing to reopen");
  }
  account->ledger().reopen(policy_.lineage, note);
}

void Session::accept_policy_budget() {
  accept_terms(place_of(policy_), terms_of(policy_), ledger_options_);
}

void Session::renew_witnesses() { session::renew_witnesses(place_of(policy_), ledger_options_); }

}  // namespace shoal::session
