// shoal_number(x): the double x, or NULL for NaN. The same as a CASE, which DuckDB evaluates by
// copying every value twice.
#pragma once

#include "engine/duckdb_connection.hpp"

namespace shoal::engine {

// Makes it known to the connection.
void register_number_function(DuckdbConnection& connection);

}  // namespace shoal::engine
