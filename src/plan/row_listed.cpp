// Literals compared with a value of which the policy lists all there are. One that is not listed is
// refused: the answer would be noise around nobody, for the full price.
#include "plan/presentation.hpp"
#include "plan/row_checker.hpp"
#include "plan/row_describe.hpp"

#include <shoal/plan/listed.hpp>
#include <shoal/sql/printer.hpp>

namespace shoal::plan {
void RowChecker::require_listed(const RowNode& tested, const RowNode& literal,
                                const sql::Expression& written) const {
  if (tested.constant || !tested.values || tested.values->empty()) return;
  if (!literal.constant || is_null(*literal.constant)) return;
  const std::string text = constant_text(literal);
  const catalog::ColumnType type = column_type({.kind = literal.kind});
  if (is_listed(text, type, *tested.values)) return;
  const auto* reference = written.get_if<sql::ColumnReference>();
  refuse(literal.position, ErrorCode::invalid_argument,
         why_not_listed(text, type, *tested.values,
                        reference != nullptr ? reference->column.name
                                             : sql::print(written, sql::Dialect::shoal)));
}

}  // namespace shoal::plan
