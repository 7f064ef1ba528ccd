// Trees made from trees: the same expression with some of its parts exchanged.
#pragma once

#include <shoal/sql/syntax.hpp>

#include <functional>
#include <optional>

namespace shoal::sql {

// A part's replacement, or nothing to look inside it.
using Exchange = std::function<std::optional<Expression>(const Expression&)>;

// Looks at the whole first, then at its parts, never inside a replacement. Positions stay.
// Throws unsupported beyond kMaxTreeDepth.
Expression rewrite(const Expression& expression, const Exchange& exchange);

}  // namespace shoal::sql
