// Answers a grouped request over the rows of a query: the exact, bounded sums of every group.
#pragma once

#include "engine/chunk_feed.hpp"
#include "engine/duckdb_connection.hpp"
#include "engine/row_query.hpp"

#include <shoal/base/owner_log.hpp>
#include <shoal/catalog/policy.hpp>
#include <shoal/data/grouped_aggregate.hpp>
#include <shoal/engine/grouped_request.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace shoal::engine {

// How much of the machine a request may use.
struct Resources {
  unsigned threads = 1;
  std::uint64_t memory = 0;  // of rows that wait for the rest of their unit, in bytes
};

// What the owner set, or else one thread a core and half of the machine's memory.
Resources resources_of(const catalog::EngineSettings& settings);

// `rows`: SQL that gives [u,] k0, k1, ..., v0, v1, ... One result a grouping set, its groups in the
// order of their keys. Throws DuckdbFailure and Error.
std::vector<data::GroupedAggregate> aggregate_grouped_rows(DuckdbConnection& connection,
                                                           ChunkFeed& feed, const std::string& rows,
                                                           const GroupedRequest& request,
                                                           const Resources& resources,
                                                           const OwnerLog& log);

// The same where each row is a unit of its own: DuckDB adds up.
std::vector<std::vector<data::ExactGroup>> group_single_rows(DuckdbConnection& connection,
                                                             const RowQuery& rows,
                                                             const GroupedRequest& request);

}  // namespace shoal::engine
