#include "engine/postgres_connection.hpp"

#include <libpq-fe.h>

#include <array>
#include <utility>

namespace shoal::engine {
namespace {

struct FreeResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, FreeResult>;

void ignore_notice(void*, const PGresult*) {}

// pg_temp stands last, or names would be looked up there first. A policy of rows that came after
// the check is an error instead of a filter; how long a statement takes must not end it. The rest
// fixes notations.
constexpr const char* kSettings =
    "SET search_path = pg_catalog, pg_temp; SET default_transaction_read_only = on; "
    "SET standard_conforming_strings = on; SET extra_float_digits = 1; SET TimeZone = 'UTC'; "
    "SET DateStyle = 'ISO, YMD'; SET bytea_output = 'hex'; SET row_security = off; SET "
    "statement_timeout = 0";

std::string reason(const PGresult* result, PGconn* connection) {
  const char* text = result ? PQresultErrorMessage(result) : nullptr;
  return text && *text ? text : PQerrorMessage(connection);
}

bool succeeded(const PGresult* result) {
  switch (PQresultStatus(result)) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
    case PGRES_SINGLE_TUPLE:
      return true;
    default:
      return false;
  }
}

PostgresRow row_of(const PGresult* result, int row) {
  PostgresRow texts;
  for (int column = 0; column < PQnfields(result); ++column) {
    std::optional<std::string_view>& text = texts.emplace_back();
    if (PQgetisnull(result, row, column)) continue;
    text.emplace(PQgetvalue(result, row, column),
                 static_cast<std::size_t>(PQgetlength(result, row, column)));
  }
  return texts;
}

}  // namespace

struct PostgresConnection::State {
  PGconn* connection = nullptr;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { PQfinish(connection); }

  // Whatever is still to come of a statement is thrown away, so that the next one can start.
  void drain() const {
    while (const Result rest{PQgetResult(connection)}) continue;
  }

  void require(const PGresult* result) const {
    if (succeeded(result)) return;
    std::string details = reason(result, connection);
    drain();
    throw PostgresFailure(std::move(details));
  }
};

PostgresConnection::PostgresConnection() : state_(std::make_unique<State>()) {
  const std::array<const char*, 3> names{"client_encoding", "fallback_application_name", nullptr};
  const std::array<const char*, 3> values{"UTF8", "shoal", nullptr};
  state_->connection = PQconnectdbParams(names.data(), values.data(), 0);
  if (PQstatus(state_->connection) != CONNECTION_OK)
    throw PostgresFailure(reason(nullptr, state_->connection));
  PQsetNoticeReceiver(state_->connection, ignore_notice, nullptr);
  run(kSettings);
}

PostgresConnection::PostgresConnection(PostgresConnection&&) noexcept = default;
PostgresConnection& PostgresConnection::operator=(PostgresConnection&&) noexcept = default;
PostgresConnection::~PostgresConnection() = default;

void PostgresConnection::run(const std::string& sql) {
  const Result result(PQexec(state_->connection, sql.c_str()));
  state_->require(result.get());
}

void PostgresConnection::rows(const std::string& sql, std::span<const std::string> parameters,
                              const std::function<void(const PostgresRow&)>& action) {
  std::vector<const char*> values;
  for (const std::string& parameter : parameters) values.push_back(parameter.c_str());
  if (!PQsendQueryParams(state_->connection, sql.c_str(), static_cast<int>(values.size()), nullptr,
                         values.data(), nullptr, nullptr, 0))
    throw PostgresFailure(reason(nullptr, state_->connection));
  PQsetSingleRowMode(state_->connection);
  try {
    while (const Result result{PQgetResult(state_->connection)}) {
      state_->require(result.get());
      for (int row = 0; row < PQntuples(result.get()); ++row) action(row_of(result.get(), row));
    }
  } catch (...) {
    state_->drain();
    throw;
  }
}

std::vector<unsigned> PostgresConnection::column_types(const std::string& sql) {
  const Result prepared(PQprepare(state_->connection, "", sql.c_str(), 0, nullptr));
  state_->require(prepared.get());
  const Result described(PQdescribePrepared(state_->connection, ""));
  state_->require(described.get());
  std::vector<unsigned> types;
  for (int column = 0; column < PQnfields(described.get()); ++column)
    types.push_back(PQftype(described.get(), column));
  return types;
}

PostgresSnapshot::PostgresSnapshot(PostgresConnection& connection) : connection_(connection) {
  connection_.run("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
}

PostgresSnapshot::~PostgresSnapshot() {
  try {
    connection_.run("ROLLBACK");
  } catch (const EngineFailure&) {
    // A lost connection has no transaction either.
    return;
  }
}

}  // namespace shoal::engine
