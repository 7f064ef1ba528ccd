// Session::train: reserve -> read -> fit -> settle.
#include "session/answer_clock.hpp"
#include "session/gradient_plan.hpp"

#include <shoal/base/digest.hpp>
#include <shoal/base/error.hpp>
#include <shoal/base/owner_log.hpp>
#include <shoal/base/text.hpp>
#include <shoal/engine/engine.hpp>
#include <shoal/random/secure_source.hpp>
#include <shoal/session/session.hpp>
#include <shoal/session/training.hpp>

#include <fmt/format.h>

#include <array>
#include <utility>

namespace shoal::session {
namespace {

constexpr const char* kFailed =
    "the model could not be trained; what it cost is spent, and the reason is in the data owner's "
    "log";

std::string training_digest(const TrainingPlan& plan, const catalog::Policy& policy) {
  FieldBytes fields;
  fields.add("train").add(plan.table).add(plan.model);
  fields.add(learn::to_json(plan.pipeline)).add(learn::to_json(plan.target));
  fields.add(describe(plan, policy)).add(privacy::to_json(plan.event)).add(policy.digest);
  fields.add(exact_parameters(plan.problem, plan.method));
  return to_hex(sha256(fields.bytes()));
}

double l2_of(const learn::Method& method) {
  return std::visit(
      [](const auto& one) {
        if constexpr (requires { one.path; }) {
          return one.path.l2;
        } else {
          return one.l2;
        }
      },
      method);
}

learn::Model model_of(const TrainingPlan& plan, const learn::Method& method,
                      const catalog::Policy& policy, std::vector<double> weights) {
  learn::Model model;
  model.shoal_version = SHOAL_VERSION;
  model.method = learn::name(method);
  model.loss = plan.problem.loss;
  model.pipeline = plan.pipeline;
  model.target = plan.target;
  model.weights = std::move(weights);
  model.l2 = l2_of(method);
  model.privacy = {plan.epsilon,
                   plan.delta,
                   policy.neighbors,
                   policy.unit_in_words(),
                   "this model is " + privacy_statement(plan.epsilon, plan.delta,
                                                        policy.unit_in_words(), policy.neighbors),
                   privacy::to_json(plan.event)};
  return model;
}

learn::Model stored_model(const std::string& text) {
  if (text.starts_with("{\"failure\"")) answer_from_json(text);
  return learn::model_from_json(text);
}

// What each kind of plan gives.
struct Trained {
  learn::Fitted fitted;
  const learn::Method* method;  // of the plan
  std::optional<learn::HeldOutEstimate> held_out = {};
};

Trained fit_plan(const TrainingPlan& plan, learn::TrainingRows&& rows,
                 privacy::Reservation&& reservation, random::BitSource& bits,
                 const learn::FitOptions& options) {
  if (plan.selection) {
    learn::FittedBest best = learn::fit_best(plan.problem, *plan.selection, std::move(rows),
                                             std::move(reservation), bits, options);
    return {std::move(best.fitted), &plan.selection->candidates[best.chosen]};
  }
  if (plan.counts) {
    learn::FittedAndCounted both =
        learn::fit_and_count(plan.problem, plan.method, *plan.counts, std::move(rows),
                             std::move(reservation), bits, options);
    return {std::move(both.fitted), &plan.method, both.estimate};
  }
  return {
      learn::fit(plan.problem, plan.method, std::move(rows), std::move(reservation), bits, options),
      &plan.method};
}

}  // namespace

TrainingPlan Session::explain_training(const TrainOptions& options) const {
  return plan_training(policy_, options);
}

learn::Model Session::train(const TrainOptions& options, std::string key,
                            const learn::FitOptions& fit_options) {
  random::SecureSource bits;
  return train(options, std::move(key), fit_options, bits);
}

learn::Model Session::train(const TrainOptions& options, std::string key,
                            const learn::FitOptions& fit_options, random::BitSource& bits) {
  const AnswerClock clock(policy_.query.time_steps);
  const TrainingPlan plan = explain_training(options);
  const std::string digest = training_digest(plan, policy_);
  check_key(key);
  if (key.empty()) key = "same-" + digest;
  const std::array tables = {policy_.find_table(plan.table, true)};
  if (tables[0]->format == catalog::SourceFormat::postgresql) {
    throw Error(ErrorCode::unsupported,
                fmt::format("table {} is on a PostgreSQL server, and models are trained on files; "
                            "export it and run shoal import",
                            plan.table));
  }
  const std::unique_ptr<engine::Engine> engine = engine::open_engine(policy_, tables);
  const engine::RowRequest request{
      learn::column_requests(plan.pipeline, plan.target),
      policy_.unit == catalog::PrivacyUnit::person ? tables[0]->person_column : "",
      {bits.next_u64(), bits.next_u64()}};
  ledger::Ledger ledger = open_ledger(tables);
  auto reserved = ledger.reserve(
      {policy_.lineage, key, digest,
       fmt::format("train {} to predict {}", plan.model, printable(plan.target.column, 200)),
       policy_.digest, policy_budget(ledger.account(policy_.lineage)), plan.event});
  if (const auto* stored = std::get_if<ledger::StoredAnswer>(&reserved))
    return stored_model(stored->answer);
  privacy::Reservation reservation = std::get<privacy::Reservation>(std::move(reserved));

  reservation.touch();
  const OwnerLog log(policy_.owner_log());
  std::optional<learn::TrainingRows> rows;
  const auto failed = [&](privacy::SpentReservation&& spent, const std::string& why) {
    log.write("training failed", why);
    ledger.settle(std::move(spent), failure_json(kFailed));
    clock.wait();
    throw Error(ErrorCode::internal, kFailed);
  };
  try {
    // The other half is the engine's while it reads.
    rows.emplace(learn::training_rows(engine->table_rows(request, log), plan.pipeline, plan.target,
                                      engine->memory() / 2));
  } catch (const std::exception& failure) {
    failed(std::move(reservation).spend(), failure.what());
  }
  Trained trained = fit_plan(plan, *std::move(rows), std::move(reservation), bits, fit_options);
  learn::Fitted& fitted = trained.fitted;
  if (fitted.weights.empty()) failed(std::move(fitted.spent), fitted.failure);
  learn::Model model = model_of(plan, *trained.method, policy_, std::move(fitted.weights));
  model.held_out = trained.held_out;
  const ledger::StoredAnswer stored = ledger.settle(std::move(fitted.spent), learn::to_json(model));
  clock.wait();
  return stored_model(stored.answer);
}

}  // namespace shoal::session
