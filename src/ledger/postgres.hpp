// A thin hold on libpq: a connection to the server that the usual PG variables name, statements
// with parameters, and the server's codes as our errors. It never connects again: who lost the
// connection lost what was held through it.
#pragma once

#include <shoal/ledger/ledger.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

struct pg_conn;
struct pg_result;

namespace shoal::ledger {

// Another transaction was in between: this one is to be tried again from its start.
class Contention : public std::exception {
 public:
  const char* what() const noexcept override { return "another transaction was in between"; }
};

// A parameter, in the server's notation; none is NULL.
using ServerValue = std::optional<std::string>;

// One row of a result, valid while it is being looked at.
class ServerRow {
 public:
  ServerRow(const pg_result* result, int row) : result_(result), row_(row) {}

  std::string text(int column) const;  // empty if NULL
  std::int64_t integer(int column) const;
  std::optional<std::int64_t> optional_integer(int column) const;

 private:
  const pg_result* result_;
  int row_;
};

class ServerConnection {
 public:
  // `name` is what messages call the ledger. Throws unavailable.
  ServerConnection(std::string name, const Options& options);
  ServerConnection(const ServerConnection&) = delete;
  ServerConnection& operator=(const ServerConnection&) = delete;
  ~ServerConnection();

  // One statement, or several without parameters. Throws Contention, or what its code means.
  void run(const std::string& sql, const std::vector<ServerValue>& parameters = {},
           const std::function<void(const ServerRow&)>& action = {});
  // The first field of the first row; empty if there is none.
  std::string value(const std::string& sql, const std::vector<ServerValue>& parameters = {});

  // BEGIN, COMMIT and ROLLBACK. A commit that was not confirmed throws unavailable: it may hold.
  void begin();
  void commit();
  void roll_back() noexcept;

  const std::string& name() const { return name_; }

 private:
  [[noreturn]] void fail(const pg_result* result) const;
  void step() const;
  // Sends and waits for the last result, however long it is if something comes. Throws unavailable
  // if the server is silent for too long; nothing is asked of it again then, since nobody knows
  // what it will do with the question.
  pg_result* exchange(const std::string& sql, const std::vector<const char*>& values);
  void wait_for_input();

  std::string name_;
  std::function<void()> step_;
  std::chrono::milliseconds patience_;
  bool silent_ = false;
  pg_conn* connection_ = nullptr;
};

}  // namespace shoal::ledger
