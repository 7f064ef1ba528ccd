// The rows of a grouped request as DuckDB gives them: each column in the type that the request
// says, NULL where it does not convert, rows without a unit left out.
#pragma once

#include "engine/chunk.hpp"
#include "engine/duckdb_connection.hpp"

#include <shoal/engine/grouped_request.hpp>

#include <string>
#include <vector>

namespace shoal::engine {

struct RowQuery {
  // `sql` gives the columns [u,] k0, k1, ..., v0, v1, ... Looks at its types, at no row. Throws
  // DuckdbFailure.
  RowQuery(DuckdbConnection& connection, const std::string& sql, const GroupedRequest& request);

  std::string from;               // what to select the columns from, by their names
  std::vector<Storage> storages;  // one a column
  std::string fed;                // the columns as ChunkFeed takes them
  std::vector<Storage> fed_storages;
};

// The type in which a key, or a value of which only equality matters, comes out of DuckDB.
std::string engine_type(KeyType type);
Storage storage_of(KeyType type);

}  // namespace shoal::engine
