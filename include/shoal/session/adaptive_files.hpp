// Holdouts, leaderboards and watched streams in files: each a guarded state
// (src/session/guarded_state.hpp), paid for in a ledger when it is made, asked in turns.
//
// Holdouts and leaderboards are about a table of a policy, whose engine reads the rows: the policy
// protects rows under replace_one, so their number is public. What is wrong with a question is
// refused before its turn, by public facts alone; a turn that fails after that is a failure like
// any other (src/session/paid_flow.hpp). Nothing is returned before the turn is durable.
#pragma once

#include <shoal/adaptive/holdout.hpp>
#include <shoal/adaptive/ladder.hpp>
#include <shoal/ledger/ledger.hpp>
#include <shoal/mechanism/sparse_calibration.hpp>
#include <shoal/mechanism/threshold_watch.hpp>
#include <shoal/privacy/filter.hpp>
#include <shoal/random/bit_source.hpp>
#include <shoal/session/row_question.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace shoal::session {

// Where a stream is paid, and of which total.
struct StreamPayment {
  std::filesystem::path ledger;
  std::string lineage;
  privacy::Budget budget;
  // The file that the stream is; empty if there is none. Its marker ties it to the budget: data
  // that belong to another are refused.
  std::filesystem::path data = {};
  // Whether the file had a budget before. Its total holds, which may be larger, and its part for
  // failures.
  bool shared = false;
};

// Of a file that no policy names: the lineage and ledger that are given; failing that those that
// the file's marker ties it to; failing that a new lineage in `new_ledger`.
StreamPayment file_payment(const std::filesystem::path& data, const std::filesystem::path& ledger,
                           const std::string& lineage, const privacy::Budget& budget,
                           const std::filesystem::path& new_ledger);

// What a state is about: a table of a policy.
struct StateData {
  std::filesystem::path policy;
  std::string table = {};  // empty: the policy's only private one
};

struct HoldoutStatus {
  adaptive::HoldoutPlan plan;
  StateData data;
  std::int64_t asked = 0;
  std::int64_t questions_left = 0;
  std::int64_t disagreements_left = 0;
  double agreeing_width = 0;  // half the interval of the next answer, if it agrees ...
  double own_width = 0;       // ... or does not
  double epsilon = 0;         // of all answers together
};

// Paid from the policy's total. The goal's rows are those of the table. Throws not_found, and
// unsupported unless the policy protects rows under replace_one and the table is a file.
HoldoutStatus create_holdout(const std::filesystem::path& file, adaptive::HoldoutGoal goal,
                             const StateData& data);
HoldoutStatus holdout_status(const std::filesystem::path& file);

struct HoldoutReply {
  adaptive::HoldoutAnswer answer;
  HoldoutStatus status;
};
// Free: the state was paid for. Throws invalid_argument, not_found and budget_exceeded (exhausted),
// which take no turn.
HoldoutReply ask_holdout(const std::filesystem::path& file, double training_value,
                         const RowQuestion& question);
// The same with the bits given: for tests.
HoldoutReply ask_holdout(const std::filesystem::path& file, double training_value,
                         const RowQuestion& question, random::BitSource& bits);

struct LeaderboardEntry {
  std::string name;
  bool improved = false;
  double best = 1;  // of the leaderboard, after it
};

struct Leaderboard {
  adaptive::LadderPlan plan;
  StateData data;
  adaptive::LadderStanding standing;
  std::vector<LeaderboardEntry> entries;
  std::int64_t submissions_left = 0;
};

// As create_holdout().
Leaderboard create_leaderboard(const std::filesystem::path& file, adaptive::LadderGoal goal,
                               const StateData& data);
Leaderboard read_leaderboard(const std::filesystem::path& file);
// As ask_holdout(); what is asked is scored by how wrong it is.
Leaderboard submit(const std::filesystem::path& file, const std::string& name,
                   const RowQuestion& question);
Leaderboard submit(const std::filesystem::path& file, const std::string& name,
                   const RowQuestion& question, random::BitSource& bits);

// A watched stream. Answers leave one by one, so from the first of them on the file says that
// nothing is left, and in the end what is. A crash between loses what was left, and nothing else.
class WatchFile {
 public:
  // `spec` is one that meets the goal; its charge is charged_event's.
  static void create(const std::filesystem::path& file, const mechanism::SparseVector& spec,
                     const mechanism::SparseGoal& goal, const std::string& notes,
                     const StreamPayment& payment);

  // Throws as StateTurn does.
  explicit WatchFile(std::filesystem::path file);
  const std::string& notes() const { return notes_; }

  // Runs `watching` in the paid flow, once: it reads the stream, asks, and lets answers leave. What
  // it throws is a failure like any other (src/session/paid_flow.hpp): nothing is left then, and
  // the budget closes. What has nothing to do with the stream, such as an output that nobody reads,
  // it must keep to itself.
  void run(const std::function<void(mechanism::ThresholdWatch&)>& watching);

 private:
  std::filesystem::path file_;
  std::string notes_;
};

// For the owner: the failures that closed the budget of a state, of whatever kind, and opening it
// again, as Session::failures() and Session::reopen(). The log has the reasons.
struct ClosedState {
  std::vector<ledger::Failure> failures;
  std::filesystem::path log;
};
ClosedState state_failures(const std::filesystem::path& file);
void reopen_state(const std::filesystem::path& file, const std::string& note);

}  // namespace shoal::session
