// From a checked expression to SQL that no value in any row can make fail: arithmetic and
// mathematics and conversions as guarded calls (SAFE_ADD, SAFE_LN, SAFE_TEXT_TO_DOUBLE), every type
// spelled out. What each call is in a dialect is the printer's.
#pragma once

#include "plan/row_node.hpp"

#include <shoal/sql/syntax.hpp>

#include <vector>

namespace shoal::plan {

// `inputs` are the engine's names of the inputs. Throws unsupported beyond sql::kMaxTreeDepth.
sql::Expression lower(const RowNode& node, const std::vector<sql::Expression>& inputs);

}  // namespace shoal::plan
