// Session::train: what the paid flow does for a model.
#include "session/answer_clock.hpp"
#include "session/paid_flow.hpp"
#include "session/request_identity.hpp"
#include "session/settled_data.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/owner_log.hpp>
#include <shoal/base/text.hpp>
#include <shoal/engine/engine.hpp>
#include <shoal/random/secure_source.hpp>
#include <shoal/session/session.hpp>
#include <shoal/session/training.hpp>

#include <fmt/format.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <utility>

namespace shoal::session {
namespace {

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
  return train_at(clock, explain_training(options), std::move(key), fit_options, bits);
}

learn::Model Session::train(const TrainingPlan& plan, std::string key,
                            const learn::FitOptions& fit_options) {
  const AnswerClock clock(policy_.query.time_steps);
  random::SecureSource bits;
  return train_at(clock, plan, std::move(key), fit_options, bits);
}

learn::Model Session::train_at(const AnswerClock& clock, const TrainingPlan& plan, std::string key,
                               const learn::FitOptions& fit_options, random::BitSource& bits) {
  ledger::Request request = request_of(
      identity_of(plan, policy_), std::move(key),
      fmt::format("train {} to predict {}", plan.model, printable(plan.target.column, 200)),
      plan.event);
  if (const auto known = repeated(clock, request)) return stored_model(*known);
  const std::array tables = {policy_.find_table(plan.table, true)};
  const std::unique_ptr<engine::Engine> engine = open_engine(policy_, tables);
  const engine::RowRequest rows{
      learn::column_requests(plan.pipeline, plan.target),
      policy_.unit == catalog::PrivacyUnit::person ? tables[0]->person_column : "",
      {bits.next_u64(), bits.next_u64()}};
  AccountLedger account = open_ledger(tables);
  request.budget = account.budget();
  const OwnerLog log(policy_.owner_log());
  std::vector<ledger::Reserved> reserved;
  reserved.push_back(account.ledger().reserve(request));
  PaidFlow flow(account, log, clock, "a training failed", std::move(reserved));
  const ledger::StoredAnswer stored = flow.run(0, [&](privacy::Reservation&& reservation) {
    // The other half is the engine's while it reads.
    learn::TrainingRows training = learn::training_rows(
        engine->table_rows(rows, log), plan.pipeline, plan.target, engine->memory() / 2);
    Trained trained =
        fit_plan(plan, std::move(training), std::move(reservation), bits, fit_options);
    learn::Fitted& fitted = trained.fitted;
    if (fitted.weights.empty()) throw std::runtime_error(fitted.failure);
    learn::Model model = model_of(plan, *trained.method, policy_, std::move(fitted.weights));
    model.held_out = trained.held_out;
    return PaidWork{std::move(fitted.spent), learn::to_json(model)};
  });
  flow.finish();
  return stored_model(stored.answer);
}

}  // namespace shoal::session
