// The SQL of exact bounded aggregates. Every integer it sums is bounded per unit as its last step;
// each person's bounding depends on that person's rows alone. Proof: bounding.proof.md.
#pragma once

#include <shoal/catalog/policy.hpp>
#include <shoal/engine/duckdb_engine.hpp>

#include <string>

namespace shoal::engine {

// One row of HUGEINT columns, one a statistic, over the view `table`.
std::string write_aggregate_sql(const catalog::Table& table, const AggregateRequest& request);

}  // namespace shoal::engine
