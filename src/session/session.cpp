#include <shoal/base/digest.hpp>
#include <shoal/base/error.hpp>
#include <shoal/base/owner_log.hpp>
#include <shoal/base/text.hpp>
#include <shoal/catalog/budget_marker.hpp>
#include <shoal/engine/duckdb_engine.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/plan/estimate.hpp>
#include <shoal/random/secure_source.hpp>
#include <shoal/release/release.hpp>
#include <shoal/session/session.hpp>

#include <fmt/format.h>

#include <array>
#include <utility>

namespace shoal::session {
namespace {

std::string random_key(random::BitSource& bits) {
  return fmt::format("{:016x}{:016x}", bits.next_u64(), bits.next_u64());
}

void check_key(const std::string& key) {
  if (key.size() <= 200 && is_utf8(key, false) && printable(key, 200) == key) return;
  throw Error(ErrorCode::invalid_argument, "a key is a plain text of at most 200 characters");
}

// Everything that makes two requests the same question.
std::string request_digest(std::string_view sql, const plan::QueryOptions& options,
                           const catalog::Policy& policy) {
  FieldBytes fields;
  fields.add(sql).add(format_number(options.epsilon));
  fields.add(options.delta ? format_number(*options.delta) : "none");
  fields.add(format_number(options.confidence))
      .add(static_cast<long long>(options.noise))
      .add(policy.digest);
  return to_hex(sha256(fields.bytes()));
}

std::string statistic_in_words(const catalog::Statistic& statistic) {
  switch (statistic.kind) {
    case catalog::StatisticKind::units:
      return "units";
    case catalog::StatisticKind::rows:
      return "rows";
    case catalog::StatisticKind::values:
      return "values of " + statistic.column;
    case catalog::StatisticKind::plain_sum:
      return "sum of " + statistic.column;
    case catalog::StatisticKind::centred_sum:
      return "centred sum of " + statistic.column;
    case catalog::StatisticKind::centred_squares:
      return "centred squares of " + statistic.column;
    case catalog::StatisticKind::distinct:
      return "different values of " + statistic.column;
    case catalog::StatisticKind::leaves:
      break;
  }
  return "histogram of " + statistic.column;
}

AnswerNoise describe_noise(const plan::Plan& plan, std::size_t index) {
  const mechanism::StatisticNoise& noise = plan.noises[index];
  return {statistic_in_words(plan.statistics[index]), std::string(mechanism::name(noise.mechanism)),
          mechanism::noise_scale(noise.mechanism), static_cast<double>(noise.sensitivity.steps()),
          plan.statistics[index].range.grid.step()};
}

AnswerColumn make_column(const plan::Plan& plan, const plan::PlannedOutput& output,
                         const catalog::Table& table, std::span<const Int128> released) {
  static constexpr std::array kAggregates = {"count", "sum", "average"};
  const plan::Estimate estimate = plan::estimate(plan, output, released);
  AnswerColumn column;
  column.name = output.name;
  column.aggregate = kAggregates.at(static_cast<std::size_t>(output.kind));
  column.value = estimate.value;
  column.lower = estimate.lower;
  column.upper = estimate.upper;
  if (output.kind != plan::OutputKind::count)
    column.bounds = table.find_column(output.column, true)->bounds;
  column.noise.push_back(describe_noise(plan, output.statistic));
  if (output.denominator) column.noise.push_back(describe_noise(plan, *output.denominator));
  return column;
}

Answer make_answer(const plan::Plan& plan, const catalog::Policy& policy,
                   std::span<const Int128> released) {
  Answer answer;
  const catalog::Table& table = *policy.find_table(plan.table, true);
  for (const plan::PlannedOutput& output : plan.outputs) {
    answer.columns.push_back(make_column(plan, output, table, released));
  }
  answer.confidence = plan.confidence.value();
  answer.epsilon =
      plan.charge.epsilon_units
          ? numeric::decimal_from_units(*plan.charge.epsilon_units, privacy::kEpsilonDecimals)
          : plan.epsilon.value();
  answer.delta = plan.delta.value();
  answer.rho = numeric::from_units_up(plan.charge.rho_units, privacy::kRhoDecimals);
  answer.unit = policy.unit_in_words();
  answer.neighbors = to_string(policy.neighbors);
  answer.statement = privacy_statement(answer.epsilon, answer.delta, answer.unit, policy.neighbors);
  return answer;
}

[[noreturn]] void lost_ledger(const std::filesystem::path& path, const std::string& lineage) {
  throw Error(ErrorCode::corrupt, fmt::format("the ledger {} does not know the budget {}, although "
                                              "it was used; restore the ledger from a "
                                              "backup",
                                              path.string(), lineage));
}

engine::AggregateRequest engine_request(const plan::Plan& plan) {
  return {plan.filter, plan.statistics, plan.person_column, plan.rows_per_unit};
}

}  // namespace

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
    : policy_(catalog::load_policy(policy_path)), ledger_options_(std::move(ledger_options)) {}

plan::Plan Session::explain(std::string_view sql, const plan::QueryOptions& options) const {
  return plan::make_plan(sql, policy_, options);
}

ledger::Ledger Session::open_ledger(const catalog::Table& table) const {
  const std::filesystem::path data = policy_.resolve(table.source);
  const std::filesystem::path path = policy_.resolve(policy_.ledger);
  catalog::claim_budget(data, {policy_.lineage, path, false});
  std::error_code ignored;
  const bool used = catalog::was_opened(data, policy_.lineage);
  if (used && !std::filesystem::exists(path, ignored)) lost_ledger(path, policy_.lineage);
  ledger::Ledger ledger(path, ledger_options_);
  if (used && !ledger.account(policy_.lineage)) lost_ledger(path, policy_.lineage);
  ledger.open_account({policy_.lineage,
                       {policy_.epsilon, policy_.delta},
                       policy_.neighbors,
                       policy_.unit_in_words()});
  catalog::mark_opened(data, policy_.lineage);
  return ledger;
}

Answer Session::query(std::string_view sql, const plan::QueryOptions& options, std::string key) {
  random::SecureSource bits;
  return query(sql, options, std::move(key), bits);
}

Answer Session::query(std::string_view sql, const plan::QueryOptions& options, std::string key,
                      random::BitSource& bits) {
  const plan::Plan plan = explain(sql, options);
  if (key.empty()) key = random_key(bits);
  check_key(key);
  const catalog::Table& table = *policy_.find_table(plan.table, true);
  engine::DuckdbEngine engine(policy_, table);
  ledger::Ledger ledger = open_ledger(table);

  auto reserved = ledger.reserve({policy_.lineage,
                                  key,
                                  request_digest(sql, options, policy_),
                                  printable(sql, 2000),
                                  policy_.digest,
                                  {policy_.epsilon, policy_.delta},
                                  plan.event});
  if (const auto* stored = std::get_if<ledger::StoredAnswer>(&reserved))
    return answer_from_json(stored->answer);
  privacy::Reservation reservation = std::get<privacy::Reservation>(std::move(reserved));

  reservation.touch();
  const OwnerLog log(policy_.resolve(policy_.ledger).string() + ".log");
  std::optional<data::ExactAggregate> exact;
  try {
    exact.emplace(engine.aggregate(engine_request(plan), log));
  } catch (const Error& failure) {
    ledger.settle(std::move(reservation).spend(), failure_json(failure.what()));
    throw;
  }
  const std::int64_t entry = reservation.entry();
  release::Released released =
      release::release(std::move(reservation), std::move(*exact), plan.noises, bits);
  Answer answer = make_answer(plan, policy_, released.values);
  answer.entry = entry;
  answer.key = key;
  const ledger::StoredAnswer stored = ledger.settle(std::move(released.spent), to_json(answer));
  return answer_from_json(stored.answer);
}

BudgetReport Session::budget() const {
  BudgetReport report;
  report.name = policy_.name;
  report.lineage = policy_.lineage;
  report.ledger = policy_.resolve(policy_.ledger);
  report.unit = policy_.unit_in_words();
  report.neighbors = policy_.neighbors;
  report.total = {policy_.epsilon, policy_.delta};
  std::error_code ignored;
  if (std::filesystem::exists(report.ledger, ignored)) {
    ledger::Options options = ledger_options_;
    options.create = false;
    ledger::Ledger ledger(report.ledger, options);
    if (const auto account = ledger.account(policy_.lineage)) {
      report.opened = true;
      report.total = privacy::smaller(account->budget, {policy_.epsilon, policy_.delta});
      report.spent = ledger.total(policy_.lineage);
      report.repriced = ledger.repriced_total(policy_.lineage);
      report.spends = ledger.spends(policy_.lineage);
    }
  }
  if (!report.opened) {
    for (const catalog::Table& table : policy_.tables) {
      if (catalog::was_opened(policy_.resolve(table.source), policy_.lineage)) {
        lost_ledger(report.ledger, policy_.lineage);
      }
    }
  }
  report.epsilon_spent = privacy::epsilon_spent_up(report.total, report.spent);
  report.epsilon_left = privacy::epsilon_left_down(report.total, report.spent);
  const bool pure = report.spent.epsilon_units && report.spent.delta_units == 0 &&
                    numeric::decimal_from_units(*report.spent.epsilon_units,
                                                privacy::kEpsilonDecimals) <= report.epsilon_spent;
  report.statement = "all answers so far, together, are " +
                     privacy_statement(report.epsilon_spent, pure ? 0 : report.total.delta.value(),
                                       report.unit, report.neighbors);
  return report;
}

privacy::Certified certified_total(const BudgetReport& report) {
  privacy::event::Compose plan;
  for (const ledger::Spend& spend : report.spends) {
    if (spend.state == "cancelled") continue;
    // The first accountant's events state each sensitivity for the account's own relation.
    plan.events.push_back(spend.accountant == 1 ? privacy::stated_for(spend.event, report.neighbors)
                                                : spend.event);
  }
  return privacy::Profile(plan, report.neighbors).epsilon(report.total.delta);
}

void Session::accept_policy_budget() {
  if (!budget().opened) {
    throw Error(
        ErrorCode::not_found,
        "nothing was asked yet, so the policy's total holds as it is: there is nothing to accept");
  }
  ledger::Options options = ledger_options_;
  options.create = false;
  ledger::Ledger ledger(policy_.resolve(policy_.ledger), options);
  ledger.change_budget(policy_.lineage, {policy_.epsilon, policy_.delta});
}

}  // namespace shoal::session
