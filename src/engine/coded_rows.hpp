// Rows of one table as codes, one row a unit, for counting. Proof note: coded_rows.proof.md.
#pragma once

#include "engine/duckdb_connection.hpp"

#include <shoal/catalog/policy.hpp>
#include <shoal/data/coded_table.hpp>
#include <shoal/engine/code_request.hpp>

namespace shoal::engine {

// Throws DuckdbFailure.
data::CodedTable read_coded_rows(DuckdbConnection& connection, const catalog::Table& table,
                                 const CodeRequest& request);

}  // namespace shoal::engine
