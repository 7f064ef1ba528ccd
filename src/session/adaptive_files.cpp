#include "session/answer_clock.hpp"
#include "session/file_request.hpp"
#include "session/guarded_state.hpp"
#include "session/settled_data.hpp"

#include <shoal/adaptive/row_values.hpp>
#include <shoal/base/error.hpp>
#include <shoal/base/ledger_place.hpp>
#include <shoal/base/owner_log.hpp>
#include <shoal/base/text.hpp>
#include <shoal/catalog/budget_marker.hpp>
#include <shoal/catalog/policy.hpp>
#include <shoal/engine/engine.hpp>
#include <shoal/random/secure_source.hpp>
#include <shoal/session/adaptive_files.hpp>
#include <shoal/session/session.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace shoal::session {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kHoldout = "holdout";
constexpr const char* kLeaderboard = "leaderboard";
constexpr const char* kWatch = "watch";
constexpr const char* kStream = "one row";  // what a stream's budget protects

// The owner's log of a budget that no policy names, or of one on a server: beside the state then.
OwnerLog log_beside(const std::filesystem::path& ledger, const std::filesystem::path& state) {
  return OwnerLog((server_schema(ledger) ? state : ledger).string() + ".log");
}

StateData data_of(const StateInfo& info) {
  const Json notes = Json::parse(info.notes);
  if (!notes.contains("policy")) {
    throw Error(ErrorCode::unsupported,
                "this state is about a file without a policy, which Shoal does not read any more: "
                "write a policy for the file with init, and create a new state");
  }
  return {notes.at("policy").get<std::string>(), notes.at("table").get<std::string>()};
}

// The policy and the table that a state is about, with its rows at hand.
struct OpenData {
  std::filesystem::path policy_path;
  Session session;
  const catalog::Table& table;
  OwnerLog log;
  std::unique_ptr<engine::Engine> engine;

  explicit OpenData(const StateData& data)
      : policy_path(data.policy),
        session(data.policy),
        table(file_table(session.policy(), data.table, "a state")),
        log(session.policy().owner_log()) {
    const catalog::Policy& policy = session.policy();
    if (policy.unit != catalog::PrivacyUnit::row || policy.neighbors != Neighbors::replace_one) {
      throw Error(ErrorCode::unsupported,
                  "a holdout or a leaderboard is about rows whose number is public: the policy "
                  "must protect rows under replace_one");
    }
    const std::array tables = {&table};
    engine = open_engine(policy, tables);
  }

  AccountPlace place() const { return place_of(session.policy(), std::array{&table}); }

  // Pays for a state from the policy's total.
  void create(const std::filesystem::path& file, const char* kind, const privacy::Event& event,
              const std::string& description, const std::function<std::string()>& make) const {
    const catalog::Policy& policy = session.policy();
    const Json notes = {{"policy", std::filesystem::absolute(policy_path).string()},
                        {"table", table.name}};
    create_state({file, place(), terms_of(policy), kind, notes.dump(), description, event,
                  policy.max_failures},
                 log, AnswerClock(policy.query.time_steps), make);
  }

  // Their number is public; a table that was filled anew may have another.
  void require_rows(std::int64_t rows) const {
    const std::int64_t there = engine->row_count(log);
    if (there == rows) return;
    throw Error(ErrorCode::conflict,
                fmt::format("the state was made for {} rows and table {} has {}; create a new "
                            "state for the new rows",
                            rows, table.name, there));
  }

  // The question's number on every row, in their order. Touches the data.
  std::vector<double> numbers(const PlannedRowQuestion& planned, std::int64_t rows) {
    if (!planned.rows.columns.empty())
      return adaptive::values_of_rows(engine->table_rows(planned.rows, log), planned.number);
    std::vector<double> numbers;
    for (std::int64_t row = 0; row < rows; ++row)
      numbers.push_back(planned.number(static_cast<std::size_t>(row), {}));
    return numbers;
  }
};

HoldoutStatus status_of(const adaptive::Holdout& holdout, const StateData& data) {
  const adaptive::HoldoutPlan& plan = holdout.plan();
  const std::int64_t told = plan.noise.hits - holdout.disagreements_left();
  const mechanism::ScoreSensitivity sensitivity{Sensitivity(adaptive::kGridSteps),
                                                mechanism::ScoreChange::two_sided};
  return {plan,
          data,
          holdout.asked(),
          holdout.questions_left(),
          holdout.disagreements_left(),
          adaptive::agreeing_width(plan, holdout.asked() + 1, told),
          adaptive::own_width(plan, holdout.asked() + 1, told),
          mechanism::sparse_epsilon(plan.noise, sensitivity)};
}

struct Board {
  adaptive::Ladder ladder;
  Json entries;
};

Board board_of(const std::string& state, random::BitSource& bits) {
  const Json json = Json::parse(state);
  return {adaptive::Ladder(json.at("ladder").dump(), bits), json.at("entries")};
}

std::string board_state(const adaptive::Ladder& ladder, const Json& entries) {
  return fmt::format("{{\"ladder\": {}, \"entries\": {}}}", ladder.save(), entries.dump());
}

Leaderboard shown(const Board& board, const StateData& data) {
  Leaderboard leaderboard{
      board.ladder.plan(), data, board.ladder.standing(), {}, board.ladder.submissions_left()};
  for (const Json& entry : board.entries) {
    leaderboard.entries.push_back({entry.at("name").get<std::string>(),
                                   entry.at("improved").get<bool>(),
                                   entry.at("best").get<double>()});
  }
  return leaderboard;
}

// What may be known without a turn.
HoldoutStatus holdout_of(const StateInfo& info) {
  random::SecureSource bits;
  return status_of(adaptive::Holdout(info.state, bits), data_of(info));
}

Leaderboard leaderboard_of(const StateInfo& info) {
  random::SecureSource bits;
  return shown(board_of(info.state, bits), data_of(info));
}

}  // namespace

StreamPayment file_payment(const std::filesystem::path& data, const std::filesystem::path& ledger,
                           const std::string& lineage, const privacy::Budget& budget,
                           const std::filesystem::path& new_ledger) {
  const std::vector<catalog::BudgetMark> marks = catalog::read_marks(data);
  StreamPayment payment{ledger, lineage, budget, data, !marks.empty()};
  if (payment.lineage.empty()) {
    random::SecureSource bits;
    payment.lineage =
        marks.empty() ? fmt::format("file-{:016x}", bits.next_u64()) : marks.front().lineage;
  }
  if (payment.ledger.empty()) {
    payment.ledger = marks.empty() ? new_ledger : marks.front().ledger;
  }
  return payment;
}

HoldoutStatus create_holdout(const std::filesystem::path& file, adaptive::HoldoutGoal goal,
                             const StateData& data) {
  OpenData open(data);
  goal.rows = open.engine->row_count(open.log);
  const adaptive::HoldoutPlan plan = adaptive::plan_holdout(goal);
  const std::string what =
      fmt::format("holdout: {} questions, {} disagreements", goal.questions, goal.disagreements);
  random::SecureSource bits;
  open.create(file, kHoldout, adaptive::privacy_event(plan), what,
              [&] { return adaptive::Holdout(plan, bits).save(); });
  return holdout_status(file);
}

HoldoutStatus holdout_status(const std::filesystem::path& file) {
  return holdout_of(read_paid_state(file, kHoldout));
}

HoldoutReply ask_holdout(const std::filesystem::path& file, double training_value,
                         const RowQuestion& question) {
  random::SecureSource bits;
  return ask_holdout(file, training_value, question, bits);
}

HoldoutReply ask_holdout(const std::filesystem::path& file, double training_value,
                         const RowQuestion& question, random::BitSource& bits) {
  const HoldoutStatus before = holdout_of(read_state(file, kHoldout));
  OpenData open(before.data);
  open.require_rows(before.plan.rows);
  const AnswerClock clock(open.session.policy().query.time_steps);
  const PlannedRowQuestion planned =
      plan_rows(open.table, question, RowScore::right, before.plan.rows);
  const AccountPlace place = open.place();
  StateTurn turn(file, kHoldout, open.session.policy().max_failures, &place);
  adaptive::Holdout holdout(turn.info().state, bits);
  holdout.require_open(training_value);
  HoldoutReply reply;
  turn.run(open.log, clock, [&] {
    const std::vector<double> numbers = open.numbers(planned, before.plan.rows);
    reply.answer = holdout.ask(training_value, numbers);
    reply.status = status_of(holdout, before.data);
    return holdout.save();
  });
  return reply;
}

Leaderboard create_leaderboard(const std::filesystem::path& file, adaptive::LadderGoal goal,
                               const StateData& data) {
  OpenData open(data);
  goal.rows = open.engine->row_count(open.log);
  const adaptive::LadderPlan plan = adaptive::plan_ladder(goal);
  random::SecureSource bits;
  open.create(file, kLeaderboard, adaptive::privacy_event(plan),
              fmt::format("leaderboard: {} submissions", goal.submissions),
              [&] { return board_state(adaptive::Ladder(plan, bits), Json::array()); });
  return read_leaderboard(file);
}

Leaderboard read_leaderboard(const std::filesystem::path& file) {
  return leaderboard_of(read_paid_state(file, kLeaderboard));
}

Leaderboard submit(const std::filesystem::path& file, const std::string& name,
                   const RowQuestion& question) {
  random::SecureSource bits;
  return submit(file, name, question, bits);
}

Leaderboard submit(const std::filesystem::path& file, const std::string& name,
                   const RowQuestion& question, random::BitSource& bits) {
  const Leaderboard before = leaderboard_of(read_state(file, kLeaderboard));
  OpenData open(before.data);
  open.require_rows(before.plan.rows);
  const AnswerClock clock(open.session.policy().query.time_steps);
  const PlannedRowQuestion planned =
      plan_rows(open.table, question, RowScore::wrong, before.plan.rows);
  const AccountPlace place = open.place();
  StateTurn turn(file, kLeaderboard, open.session.policy().max_failures, &place);
  Board board = board_of(turn.info().state, bits);
  board.ladder.require_open();
  turn.run(open.log, clock, [&] {
    const std::vector<double> losses = open.numbers(planned, before.plan.rows);
    const adaptive::LadderStanding standing = board.ladder.submit(losses);
    board.entries.push_back(
        {{"name", printable(name, 100)}, {"improved", standing.improved}, {"best", standing.best}});
    return board_state(board.ladder, board.entries);
  });
  return shown(board, before.data);
}

void WatchFile::create(const std::filesystem::path& file, const mechanism::SparseVector& spec,
                       const mechanism::SparseGoal& goal, const std::string& notes,
                       const StreamPayment& payment) {
  AccountPlace place{payment.lineage, payment.ledger, {}};
  if (!payment.data.empty()) place.data.push_back(payment.data);
  AccountTerms terms{
      {payment.budget.epsilon, payment.budget.delta, Neighbors::replace_one, kStream},
      payment.budget.failures};
  if (payment.shared) terms.failures.reset();
  random::SecureSource bits;
  create_state({file, place, terms, kWatch, notes, fmt::format("watch: {} hits", spec.hits),
                mechanism::charged_event(spec, goal)},
               log_beside(payment.ledger, file), AnswerClock(0),
               [&] { return mechanism::ThresholdWatch(spec, bits).save(); });
}

WatchFile::WatchFile(std::filesystem::path file)
    : file_(std::move(file)), notes_(read_paid_state(file_, kWatch).notes) {}

void WatchFile::run(const std::function<void(mechanism::ThresholdWatch&)>& watching) {
  random::SecureSource bits;
  std::optional<mechanism::ThresholdWatch> watch;
  {
    StateTurn turn(file_, kWatch);
    watch.emplace(turn.info().state, bits);
    turn.finish(watch->save_exhausted());
  }
  StateTurn turn(file_, kWatch);
  const auto what_is_left = [&] { return watch->save(); };
  turn.run(
      log_beside(turn.info().ledger, file_), AnswerClock(0),
      [&] {
        watching(*watch);
        return what_is_left();
      },
      what_is_left);
}

ClosedState state_failures(const std::filesystem::path& file) {
  const StateInfo info = read_any_state(file);
  const auto account = existing_account(place_of(info));
  return {account ? account->ledger().failures(info.lineage) : std::vector<ledger::Failure>(),
          log_beside(info.ledger, file).path()};
}

void reopen_state(const std::filesystem::path& file, const std::string& note) {
  const StateInfo info = read_any_state(file);
  AccountLedger account = opened_account(place_of(info));
  account.ledger().reopen(info.lineage, note);
}

}  // namespace shoal::session
