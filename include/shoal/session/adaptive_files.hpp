// Holdouts, leaderboards and watched streams in files: each a guarded state (guarded_state.hpp),
// paid for in a ledger when it is made, asked in turns.
//
// The doors read the rows; what comes here are values of a question on each private row, in the
// order of the data. Nothing is returned before the turn is durable. Errors before the turn's end
// cost nothing and do not depend on private values.
#pragma once

#include <shoal/adaptive/holdout.hpp>
#include <shoal/adaptive/ladder.hpp>
#include <shoal/mechanism/sparse_calibration.hpp>
#include <shoal/mechanism/threshold_watch.hpp>
#include <shoal/privacy/filter.hpp>
#include <shoal/random/secure_source.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
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

// Of a table of a policy: its ledger, lineage and total, and the file of its rows. Throws
// not_found, and unsupported unless the policy protects rows under replace_one and the table is a
// CSV.
StatePayment policy_payment(const std::filesystem::path& policy, const std::string& table);

struct HoldoutStatus {
  adaptive::HoldoutPlan plan;
  std::filesystem::path data;
  std::int64_t asked = 0;
  std::int64_t questions_left = 0;
  std::int64_t disagreements_left = 0;
  double agreeing_width = 0;  // half the interval of the next answer, if it agrees ...
  double own_width = 0;       // ... or does not
  double epsilon = 0;         // of all answers together
};

// About the payment's data.
HoldoutStatus create_holdout(const std::filesystem::path& file, const adaptive::HoldoutGoal& goal,
                             const StatePayment& payment);
HoldoutStatus holdout_status(const std::filesystem::path& file);

struct HoldoutReply {
  adaptive::HoldoutAnswer answer;
  HoldoutStatus status;
};
HoldoutReply ask_holdout(const std::filesystem::path& file, double training_value,
                         std::span<const double> values);

struct LeaderboardEntry {
  std::string name;
  bool improved = false;
  double best = 1;  // of the leaderboard, after it
};

struct Leaderboard {
  adaptive::LadderPlan plan;
  std::filesystem::path data;
  adaptive::LadderStanding standing;
  std::vector<LeaderboardEntry> entries;
  std::int64_t submissions_left = 0;
};

Leaderboard create_leaderboard(const std::filesystem::path& file, const adaptive::LadderGoal& goal,
                               const StatePayment& payment);
Leaderboard read_leaderboard(const std::filesystem::path& file);
Leaderboard submit(const std::filesystem::path& file, const std::string& name,
                   std::span<const double> losses);

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
