// The DuckDB engine: exact, bounded integer sums from CSV and Parquet files. It knows no noise.
//
// It reads the settled rows of a file (settle.hpp), which no value in a row can make fail. The
// database is opened with external access limited to those and its configuration locked once the
// data is attached.
#pragma once

#include <shoal/base/owner_log.hpp>
#include <shoal/catalog/key.hpp>
#include <shoal/catalog/policy.hpp>
#include <shoal/data/coded_table.hpp>
#include <shoal/data/grouped_aggregate.hpp>
#include <shoal/data/table_rows.hpp>
#include <shoal/engine/code_request.hpp>
#include <shoal/engine/engine.hpp>
#include <shoal/engine/grouped_request.hpp>
#include <shoal/engine/row_request.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace shoal::engine {

class DuckdbEngine final : public Engine {
 public:
  // Attaches the settled rows of one table and reads none. Throws not_found, conflict (the file
  // changed since) or unavailable (it was never settled).
  DuckdbEngine(const catalog::Policy& policy, const catalog::Table& table);
  // Attaches several, each under its policy name, and nothing else.
  DuckdbEngine(const catalog::Policy& policy, std::span<const catalog::Table* const> tables);
  DuckdbEngine(DuckdbEngine&&) noexcept;
  DuckdbEngine& operator=(DuckdbEngine&&) noexcept;
  ~DuckdbEngine() override;

  std::vector<data::GroupedAggregate> aggregate_groups(const GroupedRequest& request,
                                                       const OwnerLog& log) override;
  void check_groups(const GroupedRequest& request, const OwnerLog& log) override;
  std::vector<catalog::Key> public_keys(const sql::Query& query) override;
  bool is_unique(const std::string& table, const std::string& column) override;

  data::TableRows table_rows(const RowRequest& request, const OwnerLog& log) override;
  data::CodedTable coded_rows(const CodeRequest& request, const OwnerLog& log) override;
  std::int64_t row_count(const OwnerLog& log) override;
  const std::vector<std::string>& column_order() const override;
  std::uint64_t memory() const override;

  // The same groups from rows given as SQL text in place of request.rows.
  std::vector<data::GroupedAggregate> aggregate_rows(const std::string& rows,
                                                     const GroupedRequest& request,
                                                     const OwnerLog& log);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shoal::engine
