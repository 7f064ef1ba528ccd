// Row filters: checked so that no value in any row can make them fail, and rewritten with the
// policy's names and with explicit types, so that the engine converts nothing on its own.
#pragma once

#include <shoal/catalog/policy.hpp>
#include <shoal/sql/syntax.hpp>

#include <string_view>

namespace shoal::plan {

// `text` is the query, for positions in errors. Throws unsupported, not_found, refused_by_policy,
// invalid_argument.
sql::Expression check_filter(const sql::Expression& filter, const catalog::Table& table,
                             std::string_view text);

// The column that a reference means, if a query may use it.
const catalog::Column& resolve_column(const sql::ColumnReference& reference, sql::Position position,
                                      const catalog::Table& table, std::string_view text);

}  // namespace shoal::plan
