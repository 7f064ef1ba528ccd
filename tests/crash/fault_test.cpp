// The disk refuses: full, failing or read-only at every operation of a call. Each time the call
// throws io, nothing is spent, and the next call works; or the operation did not matter and the
// call succeeds.
#include "support/crash_vfs.hpp"
#include "support/ledger_requests.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace shoal::ledger {
namespace {

using namespace shoal::test;

Options through_shim() {
  Options options;
  options.vfs = crash_vfs();
  options.checkpoint_every = 2;
  return options;
}

std::int64_t total_on_disk(const std::filesystem::path& path) {
  Ledger ledger(path);
  EXPECT_EQ(ledger.verify(), ledger.head());
  EXPECT_EQ(ledger.repriced_total(kLineage), ledger.total(kLineage));
  return total_units(ledger);
}

class FaultTest : public ::testing::TestWithParam<Fault> {
 protected:
  struct Outcome {
    std::optional<ErrorCode> code;
    bool reached = false;  // false: it had fewer operations than that
  };

  // Runs the action with a fault at its operation number `at`.
  template <typename Action>
  Outcome run_with_fault(int at, Action&& action) {
    plan_crash({GetParam(), at});
    Outcome outcome;
    outcome.code = code_of(action);
    outcome.reached = counted_operations() >= at;
    plan_crash({});
    if (outcome.code) {
      EXPECT_EQ(*outcome.code, ErrorCode::io) << "at operation " << at;
      ++failed_;
    }
    EXPECT_TRUE(outcome.reached || !outcome.code);
    return outcome;
  }

  int failed() const { return failed_; }

 private:
  int failed_ = 0;
};

TEST_P(FaultTest, AFailedReserveSpendsNothing) {
  const TemporaryFolder folder(Place::memory);
  Ledger ledger(folder / "ledger", through_shim());
  ledger.open_account(account_of(1));
  std::int64_t spent = 0;
  for (int at = 1;; ++at) {
    const Request request = request_of("key " + std::to_string(at), 0.001);
    const Outcome outcome = run_with_fault(at, [&] { reserve(ledger, request); });
    if (!outcome.code) spent += units(0.001);
    EXPECT_EQ(total_units(ledger), spent);
    EXPECT_EQ(total_on_disk(folder / "ledger"), spent);
    if (!outcome.reached) break;
    if (!outcome.code) continue;
    EXPECT_EQ(code_of([&] { reserve(ledger, request); }), std::nullopt);
    spent += units(0.001);
    EXPECT_EQ(total_on_disk(folder / "ledger"), spent);
  }
  EXPECT_GE(failed(), 2);  // the write and the sync of the log at least
}

// The first spend after opening: it also makes the log and maps the shared memory, and closing
// folds the log into the file.
TEST_P(FaultTest, AFailedFirstReserveSpendsNothing) {
  const TemporaryFolder folder(Place::memory);
  Ledger(folder / "ledger").open_account(account_of(1));
  std::int64_t spent = 0;
  for (int at = 1;; ++at) {
    const Request request = request_of("key " + std::to_string(at), 0.001);
    bool reserved = false;
    const Outcome outcome = run_with_fault(at, [&] {
      Ledger ledger(folder / "ledger", through_shim());
      reserve(ledger, request);
      reserved = true;
    });
    const std::int64_t on_disk = total_on_disk(folder / "ledger");
    // What a failed call had handed to the disk may count after all: the safe side. What
    // succeeded must.
    const std::int64_t more = on_disk - spent;
    EXPECT_TRUE(more == units(0.001) || (more == 0 && !reserved)) << "at operation " << at;
    spent = on_disk;
    if (!outcome.reached) break;
  }
  EXPECT_GE(failed(), 4);
}

TEST_P(FaultTest, AFailedSettleLeavesTheSpendAndNoAnswer) {
  const TemporaryFolder folder(Place::memory);
  Ledger ledger(folder / "ledger", through_shim());
  ledger.open_account(account_of(1));
  for (int at = 1;; ++at) {
    const Request request = request_of("key " + std::to_string(at), 0.001);
    auto reservation = reserve(ledger, request);
    const Outcome outcome =
        run_with_fault(at, [&] { settle(ledger, std::move(reservation), "answer"); });
    EXPECT_EQ(total_on_disk(folder / "ledger"), at * units(0.001));
    if (outcome.code) {
      // This process still holds the key.
      EXPECT_EQ(code_of([&] { ledger.reserve(request); }), ErrorCode::unavailable);
    } else {
      EXPECT_EQ(std::get<StoredAnswer>(ledger.reserve(request)).answer, "answer");
    }
    if (!outcome.reached) break;
  }
  EXPECT_GE(failed(), 2);
}

TEST_P(FaultTest, AFailedCancelGivesNothingBack) {
  const TemporaryFolder folder(Place::memory);
  Ledger ledger(folder / "ledger", through_shim());
  ledger.open_account(account_of(1));
  std::int64_t spent = 0;
  for (int at = 1;; ++at) {
    auto reservation = reserve(ledger, request_of("key " + std::to_string(at), 0.001));
    const Outcome outcome = run_with_fault(at, [&] { ledger.cancel(std::move(reservation)); });
    if (outcome.code) spent += units(0.001);
    EXPECT_EQ(total_units(ledger), spent);
    EXPECT_EQ(total_on_disk(folder / "ledger"), spent);
    if (!outcome.reached) break;
  }
  EXPECT_GE(failed(), 2);
}

TEST_P(FaultTest, AFailedMakingCanBeTriedAgain) {
  for (int at = 1;; ++at) {
    const TemporaryFolder folder(Place::memory);
    const Outcome outcome = run_with_fault(
        at, [&] { Ledger(folder / "ledger", through_shim()).open_account(account_of(1)); });
    Ledger ledger(folder / "ledger", through_shim());
    ledger.open_account(account_of(1));
    ask(ledger, request_of("key", 0.5), "answer");
    EXPECT_EQ(total_on_disk(folder / "ledger"), units(0.5));
    if (!outcome.reached) break;
  }
  EXPECT_GE(failed(), 8);
}

INSTANTIATE_TEST_SUITE_P(Faults, FaultTest,
                         ::testing::Values(Fault::disk_full, Fault::io_error, Fault::read_only),
                         [](const auto& instance) {
                           return instance.param == Fault::disk_full  ? "Full"
                                  : instance.param == Fault::io_error ? "IoError"
                                                                      : "ReadOnly";
                         });

}  // namespace
}  // namespace shoal::ledger
