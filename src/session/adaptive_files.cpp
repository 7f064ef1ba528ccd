#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/catalog/budget_marker.hpp>
#include <shoal/catalog/policy.hpp>
#include <shoal/session/adaptive_files.hpp>
#include <shoal/session/guarded_state.hpp>
#include <shoal/session/session.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <functional>

namespace shoal::session {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kHoldout = "holdout";
constexpr const char* kLeaderboard = "leaderboard";
constexpr const char* kWatch = "watch";

// Creates the state, and ties the data to the budget that it is paid from.
void pay_and_create(const std::filesystem::path& file, const char* kind, const std::string& notes,
                    const StatePayment& payment, const privacy::Event& event,
                    const std::string& description, const std::function<std::string()>& make) {
  const bool marked = !payment.data.empty();
  if (marked) {
    catalog::claim_budget(payment.data,
                          {payment.lineage, std::filesystem::absolute(payment.ledger), false});
    if (catalog::was_opened(payment.data, payment.lineage) &&
        !std::filesystem::exists(payment.ledger)) {
      throw Error(ErrorCode::not_found,
                  fmt::format("the budget of {} was opened and its ledger {} is not there; name "
                              "the right --ledger, or restore it",
                              printable(payment.data.string(), 200),
                              printable(payment.ledger.string(), 200)));
    }
  }
  create_state({file, payment.ledger, payment.lineage, payment.budget, payment.unit, kind, notes,
                description, event},
               make);
  if (marked) catalog::mark_opened(payment.data, payment.lineage);
}

std::string data_notes(const std::filesystem::path& data) {
  return Json{{"data", std::filesystem::absolute(data).string()}}.dump();
}

std::filesystem::path data_of(const StateInfo& info) {
  return Json::parse(info.notes).value("data", std::string());
}

HoldoutStatus status_of(const adaptive::Holdout& holdout, const std::filesystem::path& data) {
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

Leaderboard shown(const Board& board, const std::filesystem::path& data) {
  Leaderboard leaderboard{
      board.ladder.plan(), data, board.ladder.standing(), {}, board.ladder.submissions_left()};
  for (const Json& entry : board.entries) {
    leaderboard.entries.push_back({entry.at("name").get<std::string>(),
                                   entry.at("improved").get<bool>(),
                                   entry.at("best").get<double>()});
  }
  return leaderboard;
}

}  // namespace

StatePayment file_payment(const std::filesystem::path& data, const std::filesystem::path& ledger,
                          const std::string& lineage, const privacy::Budget& budget,
                          const std::filesystem::path& new_ledger) {
  StatePayment payment{ledger, lineage, budget, data};
  const std::vector<catalog::BudgetMark> marks = catalog::read_marks(data);
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

StatePayment policy_payment(const std::filesystem::path& policy_path, const std::string& table) {
  const Session session(policy_path);
  const catalog::Policy& policy = session.policy();
  const catalog::Table* found = policy.find_table(table, false);
  if (found == nullptr) {
    throw Error(ErrorCode::not_found,
                fmt::format("the policy has no table {}; correct --table", printable(table, 80)));
  }
  if (policy.unit != catalog::PrivacyUnit::row || policy.neighbors != Neighbors::replace_one ||
      found->is_public || found->format != catalog::SourceFormat::csv) {
    throw Error(ErrorCode::unsupported,
                "a state is about rows of a private CSV whose number is public: the policy must "
                "protect rows under replace_one; name the file with --data and a budget of its own "
                "instead");
  }
  const BudgetReport report = session.budget();
  return {report.ledger, report.lineage, report.total, policy.resolve(found->source), report.unit};
}

HoldoutStatus create_holdout(const std::filesystem::path& file, const adaptive::HoldoutGoal& goal,
                             const StatePayment& payment) {
  const adaptive::HoldoutPlan plan = adaptive::plan_holdout(goal);
  const std::string what =
      fmt::format("holdout: {} questions, {} disagreements", goal.questions, goal.disagreements);
  random::SecureSource bits;
  pay_and_create(file, kHoldout, data_notes(payment.data), payment, adaptive::privacy_event(plan),
                 what, [&] { return adaptive::Holdout(plan, bits).save(); });
  return holdout_status(file);
}

HoldoutStatus holdout_status(const std::filesystem::path& file) {
  const StateInfo info = read_state(file, kHoldout);
  random::SecureSource bits;
  return status_of(adaptive::Holdout(info.state, bits), data_of(info));
}

HoldoutReply ask_holdout(const std::filesystem::path& file, double training_value,
                         std::span<const double> values) {
  StateTurn turn(file, kHoldout);
  random::SecureSource bits;
  adaptive::Holdout holdout(turn.info().state, bits);
  const adaptive::HoldoutAnswer answer = holdout.ask(training_value, values);
  turn.finish(holdout.save());
  return {answer, status_of(holdout, data_of(turn.info()))};
}

Leaderboard create_leaderboard(const std::filesystem::path& file, const adaptive::LadderGoal& goal,
                               const StatePayment& payment) {
  const adaptive::LadderPlan plan = adaptive::plan_ladder(goal);
  random::SecureSource bits;
  pay_and_create(file, kLeaderboard, data_notes(payment.data), payment,
                 adaptive::privacy_event(plan),
                 fmt::format("leaderboard: {} submissions", goal.submissions),
                 [&] { return board_state(adaptive::Ladder(plan, bits), Json::array()); });
  return read_leaderboard(file);
}

Leaderboard read_leaderboard(const std::filesystem::path& file) {
  const StateInfo info = read_state(file, kLeaderboard);
  random::SecureSource bits;
  return shown(board_of(info.state, bits), data_of(info));
}

Leaderboard submit(const std::filesystem::path& file, const std::string& name,
                   std::span<const double> losses) {
  StateTurn turn(file, kLeaderboard);
  random::SecureSource bits;
  Board board = board_of(turn.info().state, bits);
  const adaptive::LadderStanding standing = board.ladder.submit(losses);
  board.entries.push_back(
      {{"name", printable(name, 100)}, {"improved", standing.improved}, {"best", standing.best}});
  turn.finish(board_state(board.ladder, board.entries));
  return shown(board, data_of(turn.info()));
}

void WatchFile::create(const std::filesystem::path& file, const mechanism::SparseVector& spec,
                       const mechanism::SparseGoal& goal, const std::string& notes,
                       const StatePayment& payment) {
  random::SecureSource bits;
  pay_and_create(file, kWatch, notes, payment, mechanism::charged_event(spec, goal),
                 fmt::format("watch: {} hits", spec.hits),
                 [&] { return mechanism::ThresholdWatch(spec, bits).save(); });
}

WatchFile::WatchFile(const std::filesystem::path& file) : file_(file) {
  StateTurn turn(file, kWatch);
  watch_ = std::make_unique<mechanism::ThresholdWatch>(turn.info().state, bits_);
  notes_ = turn.info().notes;
  turn.finish(watch_->save_exhausted());
}

void WatchFile::close() { StateTurn(file_, kWatch).finish(watch_->save()); }

}  // namespace shoal::session
