// The PostgreSQL engine: exact, bounded integer sums from tables of a server. It knows no noise.
//
// The server does all the work: what leaves it are the bounded sums of each group, never a row. It
// is found, and its user named, by the usual PG* environment variables, so every table of a process
// is on one server. Questions run in read-only transactions over one snapshot. No value in a row
// can make a query fail: what has no counterpart in the policy's type is NULL
// (docs/guide/postgresql.md).
#pragma once

#include <shoal/engine/engine.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace shoal::engine {

class PostgresEngine final : public Engine {
 public:
  // Connects and attaches the tables. Compares their schemas, which are public, with the policy's;
  // reads no row. Throws unavailable (no server, no right to read), not_found, invalid_argument
  // (the source is no schema.table) or conflict (the schema differs).
  PostgresEngine(const catalog::Policy& policy, std::span<const catalog::Table* const> tables);
  PostgresEngine(PostgresEngine&&) noexcept;
  PostgresEngine& operator=(PostgresEngine&&) noexcept;
  ~PostgresEngine() override;

  std::vector<data::GroupedAggregate> aggregate_groups(const GroupedRequest& request,
                                                       const OwnerLog& log) override;
  void check_groups(const GroupedRequest& request, const OwnerLog& log) override;
  std::vector<catalog::Key> public_keys(const sql::Query& query) override;
  bool is_unique(const std::string& table, const std::string& column) override;
  // Rows never leave the server: each throws unsupported.
  data::TableRows table_rows(const RowRequest& request, const OwnerLog& log) override;
  data::CodedTable coded_rows(const CodeRequest& request, const OwnerLog& log) override;
  std::int64_t row_count(const OwnerLog& log) override;
  const std::vector<std::string>& column_order() const override;
  std::uint64_t memory() const override;

  // One result a grouping set, from rows given as SQL text in place of request.rows. Touches the
  // data and fails as aggregate_groups() does.
  std::vector<data::GroupedAggregate> aggregate_rows(const std::string& rows,
                                                     const GroupedRequest& request,
                                                     const OwnerLog& log);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shoal::engine
