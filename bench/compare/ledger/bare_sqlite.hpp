// What bare SQLite takes for what one question leaves behind: two rows of the same size in the
// ledger's own table, each in a commit that is on disk before it goes on.
#pragma once

#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace shoal::bench {

// As large as a small answer of `shoal query` is.
inline constexpr std::size_t kAnswerBytes = 800;
inline constexpr std::size_t kEventBytes = 300;

inline constexpr const char* kInsert =
    "INSERT INTO entry VALUES (?1, '2026-01-01T00:00:00Z', 'bench', ?2, ?3, ?4, ?5, ?6, ?7, 1, 1, "
    "1, 1, 1, ?5, 1, 1, 1, 1, 1)";

class BareSqlite {
 public:
  // A file that has the ledger's table.
  explicit BareSqlite(const std::filesystem::path& file) {
    check(sqlite3_open(file.c_str(), &database_));
    run("PRAGMA journal_mode = WAL");
    run("PRAGMA synchronous = FULL");
    check(sqlite3_prepare_v2(database_, kInsert, -1, &insert_, nullptr));
  }
  BareSqlite(const BareSqlite&) = delete;
  BareSqlite& operator=(const BareSqlite&) = delete;
  ~BareSqlite() {
    sqlite3_finalize(insert_);
    sqlite3_close(database_);
  }

  void ask(const std::string& key) {
    write(key, "reserve", std::string(kEventBytes, 'e'), next_);
    write(key, "settle", std::string(kAnswerBytes, 'a'), next_ - 1);
  }

 private:
  void check(int code) const {
    if (code != SQLITE_OK && code != SQLITE_DONE)
      throw std::runtime_error(sqlite3_errmsg(database_));
  }
  void run(const char* sql) const {
    check(sqlite3_exec(database_, sql, nullptr, nullptr, nullptr));
  }
  void bind(int index, const std::string& text) const {
    check(sqlite3_bind_text(insert_, index, text.c_str(), -1, SQLITE_TRANSIENT));
  }
  void write(const std::string& key, const char* kind, const std::string& body,
             std::int64_t reservation) {
    run("BEGIN IMMEDIATE");
    check(sqlite3_bind_int64(insert_, 1, next_++));
    bind(2, kind);
    check(sqlite3_bind_int64(insert_, 3, reservation));
    bind(4, key);
    bind(5, std::string(64, 'd'));
    bind(6, std::string(60, 'h'));
    bind(7, body);
    check(sqlite3_step(insert_));
    check(sqlite3_reset(insert_));
    run("COMMIT");
  }

  sqlite3* database_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
  std::int64_t next_ = 2;  // after the account's
};

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace shoal::bench
