#include "plan/key_names.hpp"

#include "plan/row_expression.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace shoal::plan {

bool names_column(const sql::ColumnReference& reference, const Scope& rows) {
  return std::any_of(rows.columns.begin(), rows.columns.end(), [&](const ScopeColumn& one) {
    return equals_ignoring_case(reference.column.name, one.name);
  });
}

sql::Expression meant_name(const sql::Expression& written, const sql::Query& query,
                           const Scope& rows, std::string_view text) {
  const auto* reference = written.get_if<sql::ColumnReference>();
  if (!reference || reference->table || names_column(*reference, rows)) return written;
  const sql::Expression* meant = nullptr;
  for (const sql::QueryItem& item : query.items) {
    if (!item.expression || !item.alias) continue;
    if (!equals_ignoring_case(reference->column.name, item.alias->name)) continue;
    if (meant && !(*meant == *item.expression)) {
      throw sql::error_at(ErrorCode::invalid_argument, text, written.position(),
                          fmt::format("{} names two columns of the answer; give one another name",
                                      printable(reference->column.name, 60)));
    }
    meant = &*item.expression;
  }
  return meant ? *meant : written;
}

sql::Expression meant_key(const sql::Expression& written, const sql::Query& query,
                          const Scope& rows, std::string_view text) {
  const auto* literal = written.get_if<sql::Literal>();
  if (!literal || literal->kind != sql::LiteralKind::integer) {
    return meant_name(written, query, rows, text);
  }
  const std::size_t at = std::strtoull(literal->text.c_str(), nullptr, 10);
  if (at >= 1 && at <= query.items.size() && query.items[at - 1].expression) {
    return *query.items[at - 1].expression;
  }
  throw sql::error_at(ErrorCode::invalid_argument, text, written.position(),
                      fmt::format("GROUP BY {}: the list has {} columns",
                                  printable(literal->text, 20), query.items.size()));
}

}  // namespace shoal::plan
