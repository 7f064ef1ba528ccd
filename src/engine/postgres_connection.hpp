// A thin hold on libpq: a connection, read-only transactions, rows as text.
//
// Invariants: nothing is ever written to the server; names mean what pg_catalog says, whatever the
// server's search path is; numbers, dates and bytes are written in one notation. Server messages go
// to no terminal.
#pragma once

#include "engine/failure.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::engine {

class PostgresFailure : public EngineFailure {
  using EngineFailure::EngineFailure;
};

// One row of a result: the columns as text, none for NULL. Valid while the row is being looked at.
using PostgresRow = std::vector<std::optional<std::string_view>>;

class PostgresConnection {
 public:
  // Where the PG* environment variables point. Throws PostgresFailure.
  PostgresConnection();
  PostgresConnection(PostgresConnection&&) noexcept;
  PostgresConnection& operator=(PostgresConnection&&) noexcept;
  ~PostgresConnection();

  // Each throws PostgresFailure. They run inside of whatever transaction is open.
  void run(const std::string& sql);
  // Each row of a statement, as it arrives. $1, $2, ... stand for the parameters.
  void rows(const std::string& sql, std::span<const std::string> parameters,
            const std::function<void(const PostgresRow&)>& action);
  // The object identifiers of a query's column types. Looks at no row.
  std::vector<unsigned> column_types(const std::string& sql);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One snapshot of the data, in which nothing can be written. It ends with the object; nothing is
// ever there to be kept.
class PostgresSnapshot {
 public:
  explicit PostgresSnapshot(PostgresConnection& connection);
  PostgresSnapshot(const PostgresSnapshot&) = delete;
  PostgresSnapshot& operator=(const PostgresSnapshot&) = delete;
  ~PostgresSnapshot();

 private:
  PostgresConnection& connection_;
};

}  // namespace shoal::engine
