// Rows of one table for learning: the columns of a request as numbers and places in public lists,
// one row a unit.
//
// Invariant: which row of a person counts is a function of that person's rows as a set, of the
// request and of its key, so adding or removing a person adds or removes one row. Rows come in the
// order of the file or, where persons have been reduced to a row each, of a hash of the person.
#pragma once

#include "engine/duckdb_connection.hpp"

#include <shoal/catalog/policy.hpp>
#include <shoal/data/table_rows.hpp>
#include <shoal/engine/row_request.hpp>

#include <string>

namespace shoal::engine {

// by_unit: persons by a hash; rows that are units by themselves come as the engine reads them.
// by_hash: those too by a hash of their values, so that where a row comes is its own affair.
// any: for counts.
enum class RowOrder { by_unit, by_hash, any };
std::string table_rows_sql(const catalog::Table& table, const RowRequest& request,
                           RowOrder order = RowOrder::by_unit);

// Throws DuckdbFailure.
void read_table_rows(DuckdbConnection& connection, const catalog::Table& table,
                     const RowRequest& request, const data::TableRows::Take& take);

}  // namespace shoal::engine
