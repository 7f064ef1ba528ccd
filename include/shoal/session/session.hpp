// The session: runs the one flow, request -> plan -> reserve -> exact -> noise -> answer, for every
// door.
#pragma once

#include <shoal/catalog/policy.hpp>
#include <shoal/ledger/ledger.hpp>
#include <shoal/plan/plan.hpp>
#include <shoal/privacy/profile.hpp>
#include <shoal/random/bit_source.hpp>
#include <shoal/session/answer.hpp>
#include <shoal/session/synthesis.hpp>
#include <shoal/session/training.hpp>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::session {

class AccountLedger;
class AnswerClock;
class KeptEngines;

struct BudgetReport {
  std::string name;
  std::string lineage;
  std::filesystem::path ledger;
  std::string unit;
  Neighbors neighbors = Neighbors::add_remove;
  privacy::Budget total{Epsilon(0), Delta(0)};
  bool opened = false;  // false: nothing was ever asked
  privacy::Charge spent;
  double epsilon_spent = 0;  // at the total's delta, rounded up, at a moment fixed in advance
  // The same for somebody who stops at a moment of their own choosing, having seen the answers: the
  // odometer's number. Equal to epsilon_spent where the charges are a plain sum.
  double epsilon_at_any_time = 0;
  double epsilon_left = 0;                  // of one more pure question, rounded down
  std::optional<privacy::Charge> repriced;  // if it was asked for
  std::int64_t spend_count = 0;
  std::vector<ledger::Spend> spends;  // the last of them, oldest first
  std::string statement;              // the guarantee in words
};

// What a report is to look at. Without more than this it takes the same time however much was
// spent.
struct BudgetDetail {
  std::int64_t last_spends = 20;
  bool reprice = false;  // the stored events, by this version's accountant
  bool verify = false;   // the ledger's whole chain, from its first entry on

  static constexpr std::int64_t kAllSpends = std::numeric_limits<std::int64_t>::max();
};

// What the spends of a report amount to if they are taken as one plan, declared in advance: bounds
// of the epsilon at the total's delta, by the certified accountant. Tighter than what the filter
// charged, and not what decides: questions chosen after seeing answers need the filter. The report
// must list all spends. Throws unsupported for events that have no profile under the relation.
privacy::Certified certified_total(const BudgetReport& report);

// It keeps its ledger and its engines open from request to request; both notice when the files are
// others than they were.
class Session {
 public:
  explicit Session(const std::filesystem::path& policy_path, ledger::Options ledger_options = {});

  const catalog::Policy& policy() const { return policy_; }

  // The plan: touches neither data nor budget.
  plan::Plan explain(std::string_view sql, const plan::QueryOptions& options) const;

  // Asks. Without a key the same question gives its stored answer again, unpaid; a key of one's own
  // makes it a new question. Throws before anything is spent for whatever is wrong with the
  // request; after data was touched only internal, with a fixed text. Either way it returns at a
  // time on the policy's grid.
  Answer query(std::string_view sql, const plan::QueryOptions& options, std::string key = "");
  // The same with the bits given: for tests.
  Answer query(std::string_view sql, const plan::QueryOptions& options, std::string key,
               random::BitSource& bits);
  // Asks what explain() planned, without planning it again.
  Answer query(plan::Plan plan, std::string key = "");

  // What a training would do and cost: touches neither data nor budget.
  TrainingPlan explain_training(const TrainOptions& options) const;

  // Trains a model, once for a key, as query() asks.
  learn::Model train(const TrainOptions& options, std::string key = "",
                     const learn::FitOptions& fit_options = {});
  // Trains what explain_training() planned.
  learn::Model train(const TrainingPlan& plan, std::string key = "",
                     const learn::FitOptions& fit_options = {});
  // The same with the bits given: for tests.
  learn::Model train(const TrainOptions& options, std::string key,
                     const learn::FitOptions& fit_options, random::BitSource& bits);

  // What a synthesis would do and cost: touches neither data nor budget.
  SynthesisPlan explain_synthesis(const SynthesisOptions& options) const;

  // Synthesises a table, once for a key, as query() asks. What comes out is a model: the same one
  // again at a retry.
  SyntheticTable synthesize(const SynthesisOptions& options, std::string key = "",
                            const synth::Progress& progress = {});
  // Synthesises what explain_synthesis() planned.
  SyntheticTable synthesize(SynthesisPlan plan, std::string key = "",
                            const synth::Progress& progress = {});
  // The same with the bits given: for tests.
  SyntheticTable synthesize(const SynthesisOptions& options, std::string key,
                            const synth::Progress& progress, random::BitSource& bits);

  BudgetReport budget(const BudgetDetail& detail = {}) const;
  // For the owner: copies the ledger of one moment to a new file (ledger::Ledger::backup). Throws
  // not_found if nothing was asked yet.
  void backup(const std::filesystem::path& file) const;

  // For the owner: the failures since the data set was last reopened, oldest first. So many as the
  // policy's max_failures close it to everybody.
  std::vector<ledger::Failure> failures() const;
  // For the owner, who has looked at them: questions are answered again. The note stays in the
  // ledger. Throws not_found if nothing was asked yet.
  void reopen(const std::string& note);

  // For the owner: makes the policy's total the ledger's; while nothing was asked yet, the policy's
  // total, relation and unit those that the data's markers give it. Throws not_found if there is
  // neither.
  void accept_policy_budget();

  // For the owner, who knows that the ledger is the newest: makes lost and damaged witnesses anew
  // (catalog/witness.hpp). Throws not_found if nothing was asked yet, corrupt if the ledger is
  // behind a witness that can be read.
  void renew_witnesses();

 private:
  static void check_key(const std::string& key);
  // The stored answer of a request, when it may leave; none if it is not stored.
  std::optional<std::string> repeated(const AnswerClock& clock,
                                      const ledger::Request& request) const;
  ledger::Options reading_options() const;
  Answer query_at(const AnswerClock& clock, plan::Plan plan, std::string key,
                  random::BitSource& bits);
  learn::Model train_at(const AnswerClock& clock, const TrainingPlan& plan, std::string key,
                        const learn::FitOptions& fit_options, random::BitSource& bits);
  SyntheticTable synthesize_at(const AnswerClock& clock, SynthesisPlan plan, std::string key,
                               const synth::Progress& progress, random::BitSource& bits);
  // A request that has yet to be told the account's budget. `identity` is what makes it the same as
  // another; without a key that is its key, too.
  ledger::Request request_of(const std::string& identity, std::string key, std::string description,
                             const privacy::Event& event) const;
  // Every private file must belong to this budget before a question about it is paid.
  AccountLedger open_ledger(std::span<const catalog::Table* const> tables) const;

  catalog::Policy policy_;
  ledger::Options ledger_options_;
  std::shared_ptr<KeptEngines> engines_;
};

// The epsilon that a plan is charged, at its delta.
double epsilon_of(const plan::Plan& plan);

// The guarantee of a cost in one sentence.
std::string privacy_statement(double epsilon, double delta, const std::string& unit,
                              Neighbors neighbors);

}  // namespace shoal::session
