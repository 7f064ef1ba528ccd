// The ledger on a PostgreSQL server: the same calls give the same as in a file; who is gone is told
// by the server; whoever comes in between is waited out, and not without end.
#include "support/child_process.hpp"
#include "support/ledger_requests.hpp"
#include "support/postgres_server.hpp"
#include "support/temporary_folder.hpp"
#include "support/touch.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>
#include <tuple>
#include <vector>

namespace shoal::ledger {
namespace {

using namespace shoal::test;

class PostgresLedger : public testing::Test {
 protected:
  void SetUp() override { server_.run("DROP SCHEMA IF EXISTS budgets CASCADE"); }

  static Options patient(int milliseconds) {
    Options options;
    options.busy_milliseconds = milliseconds;
    return options;
  }

  // Until the server has noticed that somebody is gone.
  static privacy::Reservation take_over(Ledger& ledger, const Request& request) {
    for (int tries = 0; tries < 500; ++tries) {
      try {
        return reserve(ledger, request);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::unavailable) throw;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    throw std::runtime_error("the holder never went");
  }

  PostgresServer& server_ = PostgresServer::instance();
  const std::string place_ = "postgresql:budgets";
};

using SpendRow = std::tuple<std::int64_t, std::string, std::string, std::string>;

std::vector<SpendRow> rows_of(Ledger& ledger) {
  std::vector<SpendRow> rows;
  for (const Spend& spend : ledger.spends(kLineage))
    rows.emplace_back(spend.entry, spend.state, spend.request_key, privacy::to_json(spend.event));
  return rows;
}

TEST_F(PostgresLedger, GivesWhatAFileGives) {
  const TemporaryFolder folder(Place::memory);
  std::vector<std::vector<SpendRow>> spends;
  std::vector<privacy::Charge> totals;
  for (const std::filesystem::path& place : {folder / "ledger", std::filesystem::path(place_)}) {
    Ledger ledger(place);
    EXPECT_FALSE(ledger.account(kLineage));
    ledger.open_account(account_of(1, 1e-6));
    ledger.open_account(account_of(1, 1e-6));
    EXPECT_EQ(code_of([&] { ledger.open_account(account_of(2, 1e-6)); }), ErrorCode::conflict);
    EXPECT_EQ(ask(ledger, request_of("it's \"a\" \xC3\xA4 \\", 0.25), "{\"x\": 1}").answer,
              "{\"x\": 1}");
    ledger.cancel(reserve(ledger, request_of("given back", 0.5)));
    reserve(ledger, request_of("left", 0.125));
    EXPECT_EQ(code_of([&] { ledger.reserve(request_of("too much", 0.7)); }),
              ErrorCode::budget_exceeded);
    EXPECT_EQ(code_of([&] { ledger.reserve(request_of("given back", 0.5)); }), ErrorCode::conflict);
    ledger.change_budget(kLineage, {Epsilon(2), Delta(1e-6)});
    ask(ledger, request_of("fits now", 0.7), "b");
    Request other = request_of("fits now", 0.7);
    other.digest = "another";
    EXPECT_EQ(code_of([&] { ledger.reserve(other); }), ErrorCode::conflict);
    Ledger again(place);
    const auto stored = again.reserve(request_of("fits now", 0.7));
    EXPECT_EQ(std::get<StoredAnswer>(stored).answer, "b");
    EXPECT_EQ(again.account(kLineage)->budget.epsilon, Epsilon(2));
    EXPECT_EQ(again.repriced_total(kLineage), again.total(kLineage));
    spends.push_back(rows_of(again));
    totals.push_back(again.total(kLineage));
  }
  EXPECT_EQ(spends[0], spends[1]);
  EXPECT_EQ(totals[0], totals[1]);
}

TEST_F(PostgresLedger, AHolderLivesAsLongAsItsConnection) {
  std::optional<Ledger> first(std::in_place, place_);
  first->open_account(account_of(1));
  privacy::Reservation lost = reserve(*first, request_of("key", 0.5));
  Ledger second(place_);
  for (Ledger* ledger : {&second, &*first}) {
    EXPECT_EQ(code_of([&] { ledger->reserve(request_of("key", 0.5)); }), ErrorCode::unavailable);
  }
  first.reset();
  privacy::Reservation taken = take_over(second, request_of("key", 0.5));
  EXPECT_EQ(total_units(second), units(0.5));
  EXPECT_EQ(taken.entry(), lost.entry());
  // Whoever was taken over has lost, even with another connection.
  Ledger third(place_);
  test::touch(lost);
  EXPECT_EQ(code_of([&] { third.settle(std::move(lost).spend(), "late"); }), ErrorCode::conflict);
  EXPECT_EQ(settle(second, std::move(taken), "answer").answer, "answer");
  EXPECT_EQ(std::get<StoredAnswer>(third.reserve(request_of("key", 0.5))).answer, "answer");
  EXPECT_EQ(total_units(third), units(0.5));
}

TEST_F(PostgresLedger, AReservationThatWasTakenOverIsNotGivenBack) {
  std::optional<Ledger> first(std::in_place, place_);
  first->open_account(account_of(1));
  reserve(*first, request_of("key", 0.5));
  first.reset();
  Ledger second(place_);
  EXPECT_EQ(code_of([&] { second.cancel(take_over(second, request_of("key", 0.5))); }),
            ErrorCode::internal);
  EXPECT_EQ(total_units(second), units(0.5));
}

// What else fits is refused, and nothing of it is lost to the crowd: whatever the schedule.
TEST_F(PostgresLedger, ProcessesSpendExactlyTheBudget) {
  Ledger(place_).open_account(account_of(1));
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    children.push_back(start_child([&] {
      Ledger ledger(place_, patient(60'000));
      int refused = 0;
      for (int i = 0; i < 8; ++i) {
        const std::string key = std::to_string(child) + "-" + std::to_string(i);
        const auto code = code_of([&] { ask(ledger, request_of(key, 0.05), key); });
        if (code == ErrorCode::budget_exceeded) {
          ++refused;
        } else if (code) {
          return 90;
        }
      }
      return refused;
    }));
  }
  int refused = 0;
  for (const pid_t child : children) {
    const ChildEnd end = wait_for_child(child);
    EXPECT_LT(end.status, 90);
    refused += end.status;
  }
  EXPECT_EQ(refused, 4 * 8 - 20);
  Ledger ledger(place_);
  EXPECT_EQ(total_units(ledger), units(1));
}

// Many that open a ledger that is not there yet make one.
TEST_F(PostgresLedger, IsMadeOnce) {
  std::vector<pid_t> children;
  for (int child = 0; child < 6; ++child) {
    children.push_back(start_child([&] {
      Ledger(place_).open_account(account_of(1));
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(wait_for_child(child).status, 0);
  EXPECT_TRUE(Ledger(place_).account(kLineage));
}

class Interference : public PostgresLedger {
 protected:
  // Of a ledger in whose reservations the other one spends, so many times: before the ninth step,
  // when everything is read and nothing written. A try ends with the tenth, which fails.
  Options disturbed(Ledger& other, int times, int milliseconds) {
    Options options = patient(milliseconds);
    options.step = [this, &other, times] {
      if (!armed_ || inside_ || ++steps_ % 10 != 9 || disturbances_ >= times) return;
      inside_ = true;
      ask(other, request_of("between " + std::to_string(++disturbances_), 0.001), "x");
      inside_ = false;
    };
    return options;
  }

  bool armed_ = false;
  bool inside_ = false;
  int steps_ = 0;
  int disturbances_ = 0;
};

TEST_F(Interference, IsWaitedOut) {
  Ledger other(place_);
  other.open_account(account_of(100));
  Ledger ledger(place_, disturbed(other, 3, 60'000));
  armed_ = true;
  ask(ledger, request_of("key", 0.5), "answer");
  armed_ = false;
  EXPECT_EQ(disturbances_, 3);
  EXPECT_EQ(total_units(other), units(0.5) + 3 * units(0.001));
  EXPECT_EQ(other.spends(kLineage).size(), 4u);
}

TEST_F(Interference, IsNotWaitedOutWithoutEnd) {
  Ledger other(place_);
  other.open_account(account_of(100));
  Ledger ledger(place_, disturbed(other, 1'000'000, 2'000));
  armed_ = true;
  const auto code = code_of([&] { ledger.reserve(request_of("key", 0.5)); });
  armed_ = false;
  EXPECT_EQ(code, ErrorCode::unavailable);
  EXPECT_GE(disturbances_, 2);
  EXPECT_EQ(total_units(other), disturbances_ * units(0.001));
  ask(ledger, request_of("key", 0.5), "answer");
}

// Stopped between its entry and the commit, it loses both.
TEST_F(PostgresLedger, AStandstillKeepsOthersOutForALimitedTime) {
  Ledger other(place_, patient(30'000));
  other.open_account(account_of(1));
  bool armed = false;
  int steps = 0;
  Options options = patient(200);
  options.step = [&] {
    if (armed && ++steps == 11) ask(other, request_of("other", 0.25), "b");
  };
  Ledger ledger(place_, options);
  armed = true;
  EXPECT_EQ(code_of([&] { ledger.reserve(request_of("key", 0.5)); }), ErrorCode::unavailable);
  EXPECT_GE(steps, 11);
  EXPECT_EQ(total_units(other), units(0.25));
  ask(other, request_of("key", 0.5), "answer");
}

// A role whose silent sessions the server ends: a question may take longer.
TEST_F(PostgresLedger, SilenceIsNotDeath) {
  server_.run("ALTER ROLE postgres SET idle_session_timeout = 100");
  Ledger ledger(place_);
  server_.run("ALTER ROLE postgres RESET idle_session_timeout");
  ledger.open_account(account_of(1));
  privacy::Reservation held = reserve(ledger, request_of("key", 0.5));
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  EXPECT_EQ(settle(ledger, std::move(held), "answer").answer, "answer");
}

// A server that stands still is not waited for without end; what was reserved stays so, and goes on
// once the server does.
TEST_F(PostgresLedger, AFrozenServerIsUnavailableAndLosesNothing) {
  Ledger ledger(place_, patient(200));
  ledger.open_account(account_of(1));
  privacy::Reservation held = reserve(ledger, request_of("key", 0.5));
  const pid_t backend = std::stoi(server_.value(
      "SELECT pid FROM pg_stat_activity WHERE application_name = 'shoal ledger' ORDER BY "
      "backend_start DESC LIMIT 1"));
  ASSERT_EQ(::kill(backend, SIGSTOP), 0);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(code_of([&] { settle(ledger, std::move(held), "never told"); }),
            ErrorCode::unavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_EQ(code_of([&] { ledger.total(kLineage); }), ErrorCode::unavailable);
  ::kill(backend, SIGCONT);
  { const Ledger gone = std::move(ledger); }
  Ledger again(place_);
  EXPECT_EQ(settle(again, take_over(again, request_of("key", 0.5)), "answer").answer, "answer");
  EXPECT_EQ(total_units(again), units(0.5));
}

TEST_F(PostgresLedger, ALockedTableIsUnavailableAndCostsNothing) {
  Ledger ledger(place_, patient(200));
  ledger.open_account(account_of(1));
  server_.run("BEGIN; LOCK TABLE budgets.entry IN ACCESS EXCLUSIVE MODE");
  EXPECT_EQ(code_of([&] { ledger.reserve(request_of("key", 0.5)); }), ErrorCode::unavailable);
  server_.run("ROLLBACK");
  EXPECT_EQ(total_units(ledger), 0);
  ask(ledger, request_of("key", 0.5), "answer");
}

TEST_F(PostgresLedger, IsAppendOnlyAndNoticesChanges) {
  {
    Ledger ledger(place_);
    ledger.open_account(account_of(1));
    ask(ledger, request_of("key", 0.5), "answer");
  }
  for (const char* change : {"UPDATE budgets.entry SET rho_total = 0",
                             "DELETE FROM budgets.entry WHERE seq = 3", "TRUNCATE budgets.entry"})
    EXPECT_THROW(server_.run(change), std::runtime_error) << change;
  for (const char* change : {"SET epsilon_units = 1 WHERE seq = 2", "SET seq = 5 WHERE seq = 3",
                             "SET body = '{}' WHERE seq = 1", "SET holder = 'x' WHERE seq = 2"}) {
    server_.run(
        "CREATE TABLE public.kept AS TABLE budgets.entry; ALTER TABLE budgets.entry DISABLE "
        "TRIGGER "
        "ALL");
    server_.run(std::string("UPDATE budgets.entry ") + change);
    EXPECT_EQ(code_of([&] { Ledger ledger(place_); }), ErrorCode::corrupt) << change;
    server_.run(
        "DELETE FROM budgets.entry; INSERT INTO budgets.entry TABLE public.kept; ALTER TABLE "
        "budgets.entry ENABLE TRIGGER ALL; DROP TABLE public.kept");
    EXPECT_EQ(code_of([&] { Ledger ledger(place_); }), std::nullopt);
  }
}

TEST_F(PostgresLedger, RefusesWhatIsNoLedger) {
  Options existing;
  existing.create = false;
  EXPECT_EQ(code_of([&] { Ledger ledger(place_, existing); }), ErrorCode::not_found);
  for (const char* name : {"", "pg_catalog", "Upper", "a\"b", "1a", "a b", "a.b"})
    EXPECT_EQ(code_of([&] { Ledger ledger(std::string("postgresql:") + name); }),
              ErrorCode::invalid_argument)
        << name;
  server_.run("CREATE SCHEMA budgets; CREATE TABLE budgets.entry (x INTEGER)");
  EXPECT_EQ(code_of([&] { Ledger ledger(place_); }), ErrorCode::corrupt);
  server_.run("SELECT x FROM budgets.entry; DROP SCHEMA budgets CASCADE");
  Ledger{place_};
  server_.run("UPDATE budgets.about SET format = 5");
  EXPECT_EQ(code_of([&] { Ledger ledger(place_); }), ErrorCode::corrupt);
}

// Makes the schema what format 2 had, with the entries that are there.
constexpr const char* kBackToFormat2 =
    "ALTER TABLE budgets.entry DROP CONSTRAINT entry_kind_check; ALTER TABLE budgets.entry ADD "
    "CHECK "
    "(kind IN ('open', 'budget', 'reserve', 'resume', 'settle', 'cancel')); DROP INDEX "
    "budgets.entry_close, budgets.entry_spend, budgets.entry_checkpoint; "
    "CREATE UNIQUE INDEX "
    "entry_close ON budgets.entry(reservation) WHERE kind IN ('settle', 'cancel'); UPDATE "
    "budgets.about SET format = 2";

TEST_F(PostgresLedger, BringsFormat2UpToDate) {
  {
    Ledger ledger(place_);
    ledger.open_account(account_of(1));
    ask(ledger, request_of("old", 0.25), "found");
  }
  server_.run(kBackToFormat2);
  Ledger ledger(place_);
  EXPECT_EQ(ledger.stored(kLineage, "old", "digest")->answer, "found");
  privacy::Reservation bad = reserve(ledger, request_of("bad", 0.25));
  test::touch(bad);
  ledger.settle_failure(std::move(bad).spend(), "it failed");
  Ledger again(place_);
  EXPECT_TRUE(again.is_closed(kLineage, 1));
  EXPECT_EQ(code_of([&] { again.reserve(request_of("old", 0.25)); }), ErrorCode::refused_by_policy);
  EXPECT_EQ(again.failures(kLineage).at(0).request_key, "bad");
  again.reopen(kLineage, "looked");
  EXPECT_FALSE(ledger.is_closed(kLineage, 1));
  ask(ledger, request_of("new", 0.25), "b");
  EXPECT_EQ(total_units(again), units(0.75));
}

TEST_F(PostgresLedger, WantsAServerThatKeepsItsWord) {
  Ledger{place_};
  const std::string port = std::getenv("PGPORT");
  ::setenv("PGPORT", "1", 1);
  EXPECT_EQ(code_of([&] { Ledger ledger(place_); }), ErrorCode::unavailable);
  ::setenv("PGPORT", port.c_str(), 1);
  server_.run("ALTER SYSTEM SET full_page_writes = off");
  server_.run("SELECT pg_reload_conf()");
  std::optional<ErrorCode> code;
  for (int tries = 0; tries < 500 && code != ErrorCode::io; ++tries) {
    code = code_of([&] { Ledger ledger(place_); });
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(code, ErrorCode::io);
  server_.run("ALTER SYSTEM RESET full_page_writes");
  server_.run("SELECT pg_reload_conf()");
  for (int tries = 0; tries < 500 && code; ++tries) {
    code = code_of([&] { Ledger ledger(place_); });
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(code, std::nullopt);
}

// A role for which commits need not be on disk: the ledger's are, all the same.
TEST_F(PostgresLedger, CommitsAreOnDiskWhateverTheRoleSays) {
  Ledger{place_};
  server_.run(
      "ALTER ROLE postgres SET synchronous_commit = off; CREATE TABLE public.seen (setting TEXT); "
      "CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO "
      "public.seen VALUES (current_setting('synchronous_commit') || ' ' || "
      "current_setting('transaction_isolation')); RETURN NULL; END $$; CREATE TRIGGER note AFTER "
      "INSERT ON budgets.entry FOR EACH ROW EXECUTE FUNCTION public.note()");
  {
    Ledger ledger(place_);
    ledger.open_account(account_of(1));
    ask(ledger, request_of("key", 0.5), "answer");
  }
  EXPECT_NO_THROW(
      server_.run("DO $$ BEGIN IF (SELECT COUNT(*) FROM public.seen WHERE setting = 'on "
                  "serializable') <> 3 THEN RAISE EXCEPTION 'not on disk'; END IF; END $$"));
  server_.run(
      "ALTER ROLE postgres RESET synchronous_commit; DROP FUNCTION public.note() CASCADE; DROP "
      "TABLE public.seen");
}

// The rights of the guide are enough, and fewer are not.
TEST_F(PostgresLedger, NeedsFewRights) {
  server_.run(
      "DROP ROLE IF EXISTS keeper; DROP ROLE IF EXISTS asker; CREATE ROLE keeper LOGIN; CREATE "
      "ROLE "
      "asker LOGIN; CREATE SCHEMA budgets AUTHORIZATION keeper");
  ::setenv("PGUSER", "keeper", 1);
  Ledger(place_).open_account(account_of(1));
  ::setenv("PGUSER", "asker", 1);
  EXPECT_EQ(code_of([&] { Ledger ledger(place_); }), ErrorCode::io);
  server_.run(
      "GRANT USAGE ON SCHEMA budgets TO asker; GRANT SELECT ON budgets.entry, budgets.about TO "
      "asker");
  {
    Ledger ledger(place_);
    EXPECT_EQ(code_of([&] { ledger.reserve(request_of("key", 0.5)); }), ErrorCode::io);
    server_.run("GRANT INSERT ON budgets.entry TO asker");
    ask(ledger, request_of("key", 0.5), "answer");
    EXPECT_EQ(total_units(ledger), units(0.5));
  }
  ::setenv("PGUSER", "postgres", 1);
  server_.run("DROP SCHEMA budgets CASCADE; DROP ROLE keeper; DROP ROLE asker");
}

TEST_F(PostgresLedger, TextsAreWholeOrRefused) {
  Ledger ledger(place_);
  ledger.open_account(account_of(1));
  EXPECT_EQ(code_of([&] { ledger.reserve(request_of(std::string("a\0b", 3), 0.5)); }),
            ErrorCode::invalid_argument);
  EXPECT_TRUE(code_of([&] { ledger.reserve(request_of("\xFF", 0.5)); }).has_value());
  EXPECT_EQ(total_units(ledger), 0);
  ask(ledger, request_of("key", 0.5), "answer");
}

}  // namespace
}  // namespace shoal::ledger
