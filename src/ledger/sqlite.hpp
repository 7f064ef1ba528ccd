// A thin hold on SQLite: connections and statements that close themselves, and its codes as our
// errors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace shoal::ledger {

enum class Access {
  create,     // makes the database if it is not there
  write,      // one that is there
  read,       // without writing a byte into it; its log and shared memory must be there
  immutable,  // nobody writes meanwhile; what is in its log is not seen
};

class Connection {
 public:
  // An empty vfs is SQLite's own.
  Connection(const std::filesystem::path& path, Access access, const std::string& vfs,
             int busy_milliseconds);
  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&& other) noexcept;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  void run(const char* sql);
  // Throws what the code of the last call means: budget arithmetic never goes on after a failed
  // step.
  [[noreturn]] void fail(int code) const;

  sqlite3* handle() const { return handle_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  friend class Statement;
  void close();

  std::filesystem::path path_;
  sqlite3* handle_ = nullptr;
  // Statements that are not in use, by their text: preparing one takes longer than running it.
  mutable std::map<std::string, sqlite3_stmt*, std::less<>> idle_;
};

// The connection must stay where it is while the statement lives.
class Statement {
 public:
  // The text must outlive the statement.
  Statement(const Connection& connection, const char* sql);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, std::string_view value);
  Statement& bind(int index, std::optional<std::int64_t> value);  // empty: NULL

  // True if there is a row.
  bool step();

  std::int64_t integer(int column) const;
  std::optional<std::int64_t> optional_integer(int column) const;
  std::string text(int column) const;

 private:
  const Connection& connection_;
  std::string_view sql_;  // as the caller keeps it
  sqlite3_stmt* statement_ = nullptr;
};

// One write transaction (BEGIN IMMEDIATE): it rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(Connection& connection);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();

  // On return everything in it is on disk.
  void commit();

 private:
  Connection& connection_;
  bool open_ = true;
};

}  // namespace shoal::ledger
