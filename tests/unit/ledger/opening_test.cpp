// Opening: what is no ledger, not there or not writable is refused, each with its own code.
#include "support/ledger_requests.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <chrono>
#include <fstream>
#include <iterator>

namespace shoal::ledger {
namespace {

using namespace shoal::test;

std::optional<ErrorCode> opening(const std::filesystem::path& path, const Options& options = {}) {
  return code_of([&] { Ledger(path, options); });
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void run_sql(const std::filesystem::path& path, const char* sql) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(handle, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(handle);
}

TEST(LedgerOpening, MakesTheFileOnlyIfAsked) {
  const TemporaryFolder folder;
  Options options;
  options.create = false;
  EXPECT_EQ(opening(folder / "ledger", options), ErrorCode::not_found);
  EXPECT_FALSE(std::filesystem::exists(folder / "ledger"));
  EXPECT_EQ(opening(folder / "ledger"), std::nullopt);
  EXPECT_EQ(opening(folder / "ledger", options), std::nullopt);
}

TEST(LedgerOpening, NoDatabaseIsCorruptAndStaysAsItIs) {
  const TemporaryFolder folder;
  for (const std::string& text : {std::string("name,age\nann,31\n"), std::string(20000, 'x'),
                                  std::string("SQLite format 3")}) {
    write(folder / "file", text);
    EXPECT_EQ(opening(folder / "file"), ErrorCode::corrupt) << text.substr(0, 20);
    EXPECT_TRUE(read(folder / "file") == text) << text.substr(0, 20);
  }
}

TEST(LedgerOpening, AnotherDatabaseIsCorruptAndStaysAsItIs) {
  const TemporaryFolder folder;
  run_sql(folder / "other", "CREATE TABLE t(x); INSERT INTO t VALUES (1)");
  run_sql(folder / "versioned", "CREATE TABLE t(x); PRAGMA user_version = 1");
  run_sql(folder / "future",
          "CREATE TABLE entry(x); PRAGMA application_id = 1397247809; PRAGMA user_version = 5");
  for (const char* name : {"other", "versioned", "future"}) {
    const std::string before = read(folder / name);
    EXPECT_EQ(opening(folder / name), ErrorCode::corrupt) << name;
    EXPECT_TRUE(read(folder / name) == before) << name;
  }
}

TEST(LedgerOpening, ADamagedFileIsCorrupt) {
  const TemporaryFolder folder;
  {
    Ledger ledger(folder / "ledger");
    ledger.open_account(account_of(1));
    for (int i = 0; i < 20; ++i) ask(ledger, request_of(std::to_string(i), 0.01), "{}");
  }
  const std::string whole = read(folder / "ledger");
  const std::size_t page = 4096;
  ASSERT_GT(whole.size(), 6 * page);
  std::string damaged = whole;
  damaged.replace(page, page, std::string(page, '\x7F'));
  write(folder / "ledger", damaged);
  EXPECT_EQ(opening(folder / "ledger"), ErrorCode::corrupt);
  write(folder / "ledger", whole.substr(0, 3 * page));
  EXPECT_EQ(opening(folder / "ledger"), ErrorCode::corrupt);
  write(folder / "ledger", whole);
  EXPECT_EQ(opening(folder / "ledger"), std::nullopt);
}

TEST(LedgerOpening, AMissingFolderIsIo) {
  const TemporaryFolder folder;
  EXPECT_EQ(opening(folder / "missing" / "ledger"), ErrorCode::io);
  EXPECT_EQ(opening(folder.path()), ErrorCode::io);
}

TEST(LedgerOpening, AReadOnlyFileIsIo) {
  const TemporaryFolder folder;
  Ledger(folder / "ledger").open_account(account_of(1));
  std::filesystem::permissions(folder / "ledger", std::filesystem::perms(0444));
  EXPECT_EQ(opening(folder / "ledger"), ErrorCode::io);
  std::filesystem::permissions(folder / "ledger", std::filesystem::perms(0600));
  EXPECT_EQ(opening(folder / "ledger"), std::nullopt);
}

TEST(LedgerOpening, AnUnknownFileLayerIsRefused) {
  const TemporaryFolder folder;
  Options options;
  options.vfs = "no such layer";
  EXPECT_EQ(opening(folder / "ledger", options), ErrorCode::io);
}

TEST(LedgerOpening, ALedgerHeldByAnotherWriterIsUnavailable) {
  const TemporaryFolder folder;
  Options options;
  options.busy_milliseconds = 1;
  Ledger ledger(folder / "ledger", options);
  ledger.open_account(account_of(1));
  sqlite3* writer = nullptr;
  ASSERT_EQ(sqlite3_open((folder / "ledger").c_str(), &writer), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(writer, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_EQ(code_of([&] { ledger.reserve(request_of("key", 0.1)); }), ErrorCode::unavailable);
  sqlite3_close(writer);
  EXPECT_EQ(code_of([&] { ledger.reserve(request_of("key", 0.1)); }), std::nullopt);
}

// SQLite gives up at once when it cannot turn on the write-ahead log; the ledger waits as it was
// told to.
TEST(LedgerOpening, AFileThatAnotherWritesIsWaitedFor) {
  const TemporaryFolder folder;
  sqlite3* writer = nullptr;
  ASSERT_EQ(sqlite3_open((folder / "ledger").c_str(), &writer), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(writer, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  Options options;
  options.busy_milliseconds = 100;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(opening(folder / "ledger", options), ErrorCode::unavailable);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(100));
  sqlite3_close(writer);
  EXPECT_EQ(opening(folder / "ledger", options), std::nullopt);
}

}  // namespace
}  // namespace shoal::ledger
