// Holdouts, leaderboards and watched streams in files: each a guarded state (guarded_state.hpp),
// paid for in a ledger when it is made, asked in turns.
//
// Holdouts and leaderboards are about a table of a policy, whose engine reads the rows: the policy
// protects rows under replace_one, so their number is public. What is wrong with a question is
// refused before its turn, by public facts alone; a turn that fails after that is a failure like
// any other (src/session/paid_flow.hpp). Nothing is returned before the turn is durable.
#pragma once

#include <shoal/adaptive/holdout.hpp>
#include <shoal/adaptive/ladder.hpp>
#include <shoal/mechanism/sparse_calibration.hpp>
#include <shoal/mechanism/threshold_watch.hpp>
#include <shoal/privacy/filter.hpp>
#include <shoal/random/secure_source.hpp>
#include <shoal/session/row_question.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace shoal::session {

// Where a state is paid, and of which total.
struct StatePayment {
  std::filesystem::path ledger;
  std::string lineage;
  privacy::Budget budget;
  // The file that is asked about; empty if there is none, as for a stream. Its marker ties it to
  // the budget: data that belong to another are refused.
  std::filesystem::path data = {};
  std::string unit = "one row";
};

// Of a file that no policy names: the lineage and ledger that are given; failing that those that
// the file's marker ties it to; failing that a new lineage in `new_ledger`.
StatePayment file_payment(const std::filesystem::path& data, const std::filesystem::path& ledger,
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

// A watched stream. Answers leave one by one, so for as long as it is open the file says that
// nothing is left; close() writes what is. A crash between loses what was left, and nothing else.
class WatchFile {
 public:
  // `spec` is one that meets the goal; its charge is charged_event's.
  static void create(const std::filesystem::path& file, const mechanism::SparseVector& spec,
                     const mechanism::SparseGoal& goal, const std::string& notes,
                     const StatePayment& payment);

  explicit WatchFile(const std::filesystem::path& file);
  mechanism::ThresholdWatch& watch() { return *watch_; }
  const std::string& notes() const { return notes_; }
  void close();

 private:
  std::filesystem::path file_;
  std::string notes_;
  random::SecureSource bits_;
  std::unique_ptr<mechanism::ThresholdWatch> watch_;
};

}  // namespace shoal::session
