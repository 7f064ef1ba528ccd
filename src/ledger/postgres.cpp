#include "ledger/postgres.hpp"

#include <shoal/base/error.hpp>

#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace shoal::ledger {
namespace {

struct FreeResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, FreeResult>;

// A server that answers at all says something in this time after it gave a lock up.
constexpr std::chrono::milliseconds kSilence(1000);

void ignore_notice(void*, const PGresult*) {}

[[noreturn]] void no_answer(const std::string& name) {
  throw Error(ErrorCode::unavailable,
              fmt::format("the server of the ledger {} does not answer; check PGHOST, PGPORT, "
                          "PGDATABASE and PGUSER with psql, and try again",
                          name));
}

std::string_view field(const PGresult* result, int code) {
  const char* text = PQresultErrorField(result, code);
  return text ? text : "";
}

// Somebody else appended first, or the server could not put two transactions in an order.
bool is_contention(std::string_view state, std::string_view constraint) {
  return state == "40001" || state == "40P01" || (state == "23505" && constraint == "entry_pkey");
}

}  // namespace

std::string ServerRow::text(int column) const {
  return {PQgetvalue(result_, row_, column),
          static_cast<std::size_t>(PQgetlength(result_, row_, column))};
}

std::int64_t ServerRow::integer(int column) const {
  const std::string digits = text(column);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  SHOAL_CHECK(error == std::errc() && end == digits.data() + digits.size());
  return number;
}

std::optional<std::int64_t> ServerRow::optional_integer(int column) const {
  if (PQgetisnull(result_, row_, column)) return std::nullopt;
  return integer(column);
}

ServerConnection::ServerConnection(std::string name, const Options& options)
    : name_(std::move(name)),
      step_(options.step),
      // The server itself gives up a lock after busy_milliseconds, and says so.
      patience_(2 * std::chrono::milliseconds(options.busy_milliseconds) + kSilence) {
  // A server that is not there is not waited for without end, unless the owner says so.
  const bool limited = std::getenv("PGCONNECT_TIMEOUT") != nullptr;
  const std::array<const char*, 4> names{"client_encoding", "fallback_application_name",
                                         limited ? nullptr : "connect_timeout", nullptr};
  const std::array<const char*, 4> values{"UTF8", "shoal ledger", limited ? nullptr : "10",
                                          nullptr};
  step();
  connection_ = PQconnectdbParams(names.data(), values.data(), 0);
  step();
  if (PQstatus(connection_) == CONNECTION_OK) {
    PQsetNoticeReceiver(connection_, ignore_notice, nullptr);
    return;
  }
  PQfinish(connection_);
  no_answer(name_);
}

ServerConnection::~ServerConnection() { PQfinish(connection_); }

void ServerConnection::step() const {
  if (step_) step_();
}

void ServerConnection::fail(const PGresult* result) const {
  const std::string state(field(result, PG_DIAG_SQLSTATE));
  // An error without a code is libpq's own: the server did not get to say anything.
  if (state.empty() || PQstatus(connection_) != CONNECTION_OK) no_answer(name_);
  if (is_contention(state, field(result, PG_DIAG_CONSTRAINT_NAME))) throw Contention();
  const std::string_view group = std::string_view(state).substr(0, 2);
  if (state == "55P03" || group == "57") {
    throw Error(ErrorCode::unavailable,
                fmt::format("the ledger {} is in use by others; try again", name_));
  }
  if (state == "25006") {
    throw Error(ErrorCode::io,
                fmt::format("the server of the ledger {} is read-only; a spend must be written "
                            "before data is read, so name the primary in PGHOST",
                            name_));
  }
  if (state == "42501") {
    throw Error(ErrorCode::io, fmt::format("the server's user may not use the ledger {}; grant it "
                                           "USAGE on the schema, SELECT and INSERT on its tables",
                                           name_));
  }
  if (group == "23") {
    throw Error(ErrorCode::conflict, fmt::format("the ledger {} refused an entry ({})", name_,
                                                 field(result, PG_DIAG_CONSTRAINT_NAME)));
  }
  if (group == "42" || group == "XX" || group == "3F") {
    throw Error(ErrorCode::corrupt,
                fmt::format("{} is damaged or no ledger (SQLSTATE {}); restore it from a backup "
                            "that is newer than the last answer",
                            name_, state));
  }
  throw Error(ErrorCode::io, fmt::format("the server of the ledger {} failed (SQLSTATE {}); its "
                                         "log says why",
                                         name_, state));
}

void ServerConnection::wait_for_input() {
  pollfd socket{PQsocket(connection_), POLLIN, 0};
  const auto deadline = std::chrono::steady_clock::now() + patience_;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    const int ready = ::poll(&socket, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready > 0) return;
    if (ready < 0 && errno == EINTR) continue;
    silent_ = true;
    no_answer(name_);
  }
}

pg_result* ServerConnection::exchange(const std::string& sql,
                                      const std::vector<const char*>& values) {
  if (silent_) no_answer(name_);
  const int sent =
      values.empty() ? PQsendQuery(connection_, sql.c_str())
                     : PQsendQueryParams(connection_, sql.c_str(), static_cast<int>(values.size()),
                                         nullptr, values.data(), nullptr, nullptr, 0);
  if (sent != 1) no_answer(name_);
  Result last;
  while (true) {
    while (PQisBusy(connection_) != 0) {
      wait_for_input();
      if (PQconsumeInput(connection_) != 1) no_answer(name_);
    }
    Result next(PQgetResult(connection_));
    if (!next) return last.release();
    // Of several statements the one that failed counts, as PQexec() has it.
    if (!last || PQresultStatus(last.get()) != PGRES_FATAL_ERROR) last = std::move(next);
  }
}

void ServerConnection::run(const std::string& sql, const std::vector<ServerValue>& parameters,
                           const std::function<void(const ServerRow&)>& action) {
  std::vector<const char*> values;
  for (const ServerValue& parameter : parameters) {
    // The server would take the text up to there alone.
    if (parameter && parameter->find('\0') != std::string::npos) {
      throw Error(ErrorCode::invalid_argument,
                  "a text for the ledger has a zero byte in it; leave it out");
    }
    values.push_back(parameter ? parameter->c_str() : nullptr);
  }
  step();
  const Result result(exchange(sql, values));
  step();
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail(result.get());
  if (!action) return;
  for (int row = 0; row < PQntuples(result.get()); ++row) action(ServerRow(result.get(), row));
}

std::string ServerConnection::value(const std::string& sql,
                                    const std::vector<ServerValue>& parameters) {
  std::optional<std::string> first;
  run(sql, parameters, [&](const ServerRow& row) {
    if (!first) first = row.text(0);
  });
  return first.value_or("");
}

void ServerConnection::begin() {
  run("BEGIN TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ WRITE");
}

void ServerConnection::commit() {
  step();
  const Result result(exchange("COMMIT", {}));
  step();
  if (PQresultStatus(result.get()) != PGRES_COMMAND_OK) fail(result.get());
  // The server answers ROLLBACK, and no error, if it had given the transaction up before.
  SHOAL_CHECK(std::strcmp(PQcmdStatus(result.get()), "COMMIT") == 0);
}

void ServerConnection::roll_back() noexcept {
  if (silent_ || PQtransactionStatus(connection_) == PQTRANS_IDLE) return;
  try {
    const Result ignored(exchange("ROLLBACK", {}));
  } catch (...) {
    // The server rolls back when the connection ends.
  }
}

}  // namespace shoal::ledger
