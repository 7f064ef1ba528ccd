// The files of a ledger: who may read them, whether they still are the files at their paths, who
// keeps others out, and what works on a full disk or without the right to write.
#include "support/child_process.hpp"
#include "support/ledger_requests.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/text.hpp>

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>

namespace shoal::ledger {
namespace {

using namespace shoal::test;
namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

class LedgerFiles : public ::testing::Test {
 protected:
  fs::path path() const { return folder_ / "ledger"; }
  fs::path side(const char* suffix) const { return path().string() + suffix; }

  Ledger open_with(double epsilon, int busy_milliseconds = 200) const {
    Options options;
    options.busy_milliseconds = busy_milliseconds;
    Ledger ledger(path(), options);
    ledger.open_account(account_of(epsilon));
    return ledger;
  }

  static Options reading() {
    Options options;
    options.read_only = true;
    options.busy_milliseconds = 200;
    return options;
  }

  std::int64_t read_total() const {
    Ledger ledger(path(), reading());
    return total_units(ledger);
  }

  // A child that holds the lock for writing and stands still; its death ends it.
  pid_t start_holder() const {
    int told[2];
    if (::pipe(told) != 0) throw std::runtime_error("no pipe");
    const pid_t child = start_child([&] {
      sqlite3* handle = nullptr;
      sqlite3_open(path().c_str(), &handle);
      sqlite3_exec(handle, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
      if (::write(told[1], "x", 1) != 1) return 1;
      ::raise(SIGSTOP);
      return 0;
    });
    char byte = 0;
    EXPECT_EQ(::read(told[0], &byte, 1), 1);
    ::close(told[0]);
    ::close(told[1]);
    return child;
  }

  static void end(pid_t child) {
    ::kill(child, SIGKILL);
    wait_for_child(child);
  }

  const TemporaryFolder folder_{Place::memory};
};

std::string message_of(auto&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// ---- who may read them ----

TEST_F(LedgerFiles, AreMadeForTheirOwnerAlone) {
  const mode_t before = ::umask(0);
  Ledger ledger = open_with(1);
  ask(ledger, request_of("a", 0.1), "{}");
  ::umask(before);
  for (const char* suffix : {"", "-wal", "-shm"}) {
    struct stat info {};
    ASSERT_EQ(::stat(side(suffix).c_str(), &info), 0) << suffix;
    EXPECT_EQ(info.st_mode & 0777, 0600u) << suffix;
  }
}

TEST_F(LedgerFiles, KeepTheModeThatTheOwnerGaveThem) {
  { Ledger ledger = open_with(1); }
  fs::permissions(path(), fs::perms(0640));
  Ledger ledger = open_with(1);
  EXPECT_EQ(fs::status(path()).permissions(), fs::perms(0640));
}

// ---- whether they are the files at their paths ----

TEST_F(LedgerFiles, AnAnswerDoesNotLeaveWhenTheLedgerWasMovedAwayAndItsCopyPutBack) {
  Ledger ledger = open_with(1);
  auto held = reserve(ledger, request_of("a", 0.1));
  const fs::path copy = folder_ / "copy";
  fs::copy_file(path(), copy);
  fs::rename(path(), folder_ / "away");
  fs::rename(copy, path());
  EXPECT_FALSE(ledger.is_in_place());
  EXPECT_EQ(code_of([&] { settle(ledger, std::move(held), "{}"); }), ErrorCode::corrupt);
}

TEST_F(LedgerFiles, AnAnswerDoesNotLeaveWhenTheLogOrTheSharedMemoryWasRemoved) {
  for (const char* suffix : {"-wal", "-shm"}) {
    Ledger ledger = open_with(1);
    EXPECT_TRUE(ledger.is_in_place());
    auto held = reserve(ledger, request_of(std::string("a") + suffix, 0.1));
    fs::rename(side(suffix), side("-kept"));
    EXPECT_EQ(code_of([&] { settle(ledger, std::move(held), "{}"); }), ErrorCode::corrupt);
    EXPECT_EQ(code_of([&] { reserve(ledger, request_of("b", 0.1)); }), ErrorCode::corrupt);
    // Put back, it goes on.
    fs::rename(side("-kept"), side(suffix));
    EXPECT_TRUE(ledger.is_in_place());
    EXPECT_EQ(code_of([&] { reserve(ledger, request_of(std::string("c") + suffix, 0.1)); }),
              std::nullopt);
  }
}

TEST_F(LedgerFiles, AFileThatIsMovedDuringTheCommitIsNoticedAfterIt) {
  Ledger ledger = open_with(1);
  auto held = reserve(ledger, request_of("a", 0.1));
  // SQLite calls back after the commit, before the ledger looks again.
  static fs::path moved;
  moved = side("-wal");
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(+[](sqlite3* handle, char**, const void*) {
    sqlite3_commit_hook(
        handle,
        [](void*) {
          fs::rename(moved, moved.string() + "-kept");
          return 0;
        },
        nullptr);
    return SQLITE_OK;
  }));
  Options options;
  options.busy_milliseconds = 200;
  Ledger hooked(path(), options);
  sqlite3_reset_auto_extension();
  EXPECT_EQ(code_of([&] { reserve(hooked, request_of("b", 0.1)); }), ErrorCode::corrupt);
}

// ---- who keeps others out ----

TEST_F(LedgerFiles, AProcessThatStandsStillInATransactionIsNamed) {
  Ledger ledger = open_with(1);
  ask(ledger, request_of("a", 0.25), "stored");
  const pid_t holder = start_holder();
  EXPECT_EQ(code_of([&] { reserve(ledger, request_of("b", 0.1)); }), ErrorCode::unavailable);
  const std::string told = message_of([&] { reserve(ledger, request_of("b", 0.1)); });
  EXPECT_NE(told.find("process " + std::to_string(holder) + ","), std::string::npos) << told;
  EXPECT_NE(told.find("nothing was spent"), std::string::npos) << told;
  // Reading goes on, here and in a new process.
  EXPECT_EQ(ledger.answered(request_of("a", 0.25))->answer, "stored");
  EXPECT_EQ(read_total(), units(0.25));
  end(holder);
  EXPECT_EQ(code_of([&] { reserve(ledger, request_of("b", 0.1)); }), std::nullopt);
}

// Stopped while it made the shared memory, a process keeps even readers out: SQLite waits for ten
// seconds and speaks of the locking protocol.
TEST_F(LedgerFiles, AProcessThatStandsStillWhileItMakesTheSharedMemoryStopsNoReader) {
  {
    Ledger ledger = open_with(1);
    ask(ledger, request_of("a", 0.25), "stored");
  }
  int told[2];
  ASSERT_EQ(::pipe(told), 0);
  const pid_t holder = start_child([&] {
    const int shm = ::open(side("-shm").c_str(), O_RDWR | O_CREAT, 0600);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = 128;  // as the first user of it
    lock.l_len = 1;
    if (::fcntl(shm, F_SETLK, &lock) != 0 || ::write(told[1], "x", 1) != 1) return 1;
    ::pause();
    return 0;
  });
  char byte = 0;
  ASSERT_EQ(::read(told[0], &byte, 1), 1);
  EXPECT_EQ(read_total(), units(0.25));
  EXPECT_EQ(Ledger(path(), reading()).answered(request_of("a", 0.25))->answer, "stored");
  const std::string said = message_of([&] { open_with(1); });
  EXPECT_NE(said.find("process " + std::to_string(holder) + ","), std::string::npos) << said;
  end(holder);
  ::close(told[0]);
  ::close(told[1]);
}

// ---- a full disk ----

// A small disk of its own; needs the right to mount.
class FullDisk : public LedgerFiles {
 protected:
  void SetUp() override {
    fs::create_directory(disk());
    if (::mount("none", disk().c_str(), "tmpfs", 0, "size=1m") != 0)
      GTEST_SKIP() << "may not mount";
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) ::umount2(disk().c_str(), MNT_DETACH);
  }
  fs::path disk() const { return folder_ / "disk"; }
  void fill() const {
    std::ofstream filler(disk() / "filler", std::ios::binary);
    while (filler << std::string(4096, 'x') << std::flush) {
    }
  }

 private:
  bool mounted_ = false;
};

TEST_F(FullDisk, IsCalledFullAndStillGivesWhatIsStored) {
  const fs::path path = disk() / "ledger";
  {
    Ledger ledger(path);
    ledger.open_account(account_of(1));
    ask(ledger, request_of("a", 0.25), "stored");
    fill();
    // In an open session.
    const std::string told = message_of([&] {
      for (int i = 0; i < 50; ++i)
        ask(ledger, request_of("b" + std::to_string(i), 0.001), std::string(9000, 'x'));
    });
    EXPECT_NE(told.find("is full; nothing was spent"), std::string::npos) << told;
    EXPECT_EQ(ledger.answered(request_of("a", 0.25))->answer, "stored");
  }
  // In a new process, which cannot even make the shared memory.
  fill();
  const std::string told = message_of([&] {
    Ledger ledger(path);
    for (int i = 0; i < 50; ++i)
      ask(ledger, request_of("c" + std::to_string(i), 0.001), std::string(9000, 'x'));
  });
  EXPECT_NE(told.find("is full; nothing was spent"), std::string::npos) << told;
  Ledger ledger(path, reading());
  EXPECT_EQ(ledger.answered(request_of("a", 0.25))->answer, "stored");
  EXPECT_GE(total_units(ledger), units(0.25));
}

// ---- without the right to write ----

class WithoutWriteAccess : public LedgerFiles {
 protected:
  void SetUp() override {
    if (::getuid() != 0) GTEST_SKIP() << "must be root to become another";
    fs::permissions(folder_.path(), fs::perms(0755));
  }

  // What another user reads, who may read the files and no more.
  int read_as_nobody() const {
    for (const char* suffix : {"", "-wal", "-shm"}) {
      std::error_code ignored;
      fs::permissions(side(suffix), fs::perms(0644), ignored);
    }
    const ChildEnd end = run_in_child([&] {
      if (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)
        return 99;
      return static_cast<int>(read_total() / units(0.01));
    });
    return end.status;
  }
};

TEST_F(WithoutWriteAccess, AFoldedLedgerIsRead) {
  {
    Ledger ledger = open_with(1);
    ask(ledger, request_of("a", 0.25), "{}");
  }
  EXPECT_EQ(read_as_nobody(), 25);
  EXPECT_FALSE(fs::exists(side("-wal")));
}

TEST_F(WithoutWriteAccess, ALedgerInUseIsReadWithItsLog) {
  Ledger ledger = open_with(1);
  ask(ledger, request_of("a", 0.25), "{}");
  EXPECT_EQ(read_as_nobody(), 25);
  ask(ledger, request_of("b", 0.25), "{}");
  EXPECT_EQ(read_as_nobody(), 50);
}

// What stands in the log alone must not be missing.
TEST_F(WithoutWriteAccess, TheLogOfAProcessThatWasKilledIsRead) {
  { Ledger ledger = open_with(1); }
  run_in_child([&] {
    Ledger ledger(path());
    ask(ledger, request_of("a", 0.25), "{}");
    ::_exit(0);
    return 0;
  });
  ASSERT_GT(fs::file_size(side("-wal")), 0u);
  EXPECT_EQ(read_as_nobody(), 25);
  fs::remove(side("-shm"));
  EXPECT_EQ(read_as_nobody(), 25);
}

TEST_F(WithoutWriteAccess, AReadOnlyFileIsRead) {
  {
    Ledger ledger = open_with(1);
    ask(ledger, request_of("a", 0.25), "{}");
  }
  fs::permissions(path(), fs::perms(0444));
  EXPECT_EQ(read_total(), units(0.25));
}

TEST_F(WithoutWriteAccess, AMissingLedgerIsNotFound) {
  EXPECT_EQ(code_of([&] { read_total(); }), ErrorCode::not_found);
  EXPECT_FALSE(fs::exists(path()));
}

// ---- what is printed ----

TEST_F(LedgerFiles, ADamagedFileIsNamedWithoutItsBytes) {
  {
    Ledger ledger = open_with(1);
    for (int i = 0; i < 20; ++i) ask(ledger, request_of(std::to_string(i), 0.01), "{}");
  }
  std::ifstream stream(path(), std::ios::binary);
  const std::string whole(std::istreambuf_iterator<char>(stream), {});
  for (std::size_t at = 100; at < 4096; at += 7) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x95);
    std::ofstream(path(), std::ios::binary) << damaged;
    const std::string told = message_of([&] { read_total(); });
    ASSERT_TRUE(is_utf8(told, false)) << at;
    EXPECT_EQ(told.find('\x1B'), std::string::npos) << at;
  }
}

TEST_F(LedgerFiles, ANameThatLooksLikeAnAddressIsAName) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  { Ledger("file:ledger?mode=memory").open_account(account_of(1)); }
  EXPECT_TRUE(fs::exists("file:ledger?mode=memory"));
  fs::current_path(before);
}

}  // namespace
}  // namespace shoal::ledger
