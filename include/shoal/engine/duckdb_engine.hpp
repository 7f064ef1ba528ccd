// The DuckDB engine: exact, bounded integer sums from CSV and Parquet files. It knows no noise.
//
// The database is opened with external access limited to the table's own file and its configuration
// locked once the data is attached. No value in a row can make a query fail: fields that do not
// parse, NaN and broken lines follow the public rules of docs/reference/values.md.
#pragma once

#include <shoal/base/owner_log.hpp>
#include <shoal/catalog/policy.hpp>
#include <shoal/catalog/statistic.hpp>
#include <shoal/data/exact_aggregate.hpp>
#include <shoal/sql/syntax.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shoal::engine {

struct AggregateRequest {
  std::optional<sql::Expression> filter =
      std::nullopt;  // checked by the planner: total over every row
  std::vector<catalog::Statistic> statistics = {};
  std::string person_column = {};  // empty: the unit is a row
  std::int64_t rows_per_unit = 1;  // of each person at most so many rows count
};

class DuckdbEngine {
 public:
  // Attaches one table. Compares the file's schema, which is public, with the policy's; reads no
  // row. Throws not_found, conflict (the schema differs) or unavailable.
  DuckdbEngine(const catalog::Policy& policy, const catalog::Table& table);
  DuckdbEngine(DuckdbEngine&&) noexcept;
  DuckdbEngine& operator=(DuckdbEngine&&) noexcept;
  ~DuckdbEngine();

  // The SQL that aggregate() runs.
  std::string aggregate_sql(const AggregateRequest& request) const;

  // Touches the data. If the engine fails, throws internal with a fixed text; the details go to the
  // owner's log.
  data::ExactAggregate aggregate(const AggregateRequest& request, const OwnerLog& log);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shoal::engine
