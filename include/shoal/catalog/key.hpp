// Keys: what names a group of an answer. A key has one value a grouping column, as text in the
// column's own notation (42, 2024-01-31, true, Texas); none is NULL.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace shoal::catalog {

using KeyValue = std::optional<std::string>;
using Key = std::vector<KeyValue>;

}  // namespace shoal::catalog
