// Values in whole grid steps, as DuckDB's SQL.
#pragma once

#include <shoal/catalog/grid.hpp>

#include <string>

namespace shoal::engine {

// `value` clamped to the range and rounded to a whole step, halves away from zero. `whole`: it is a
// whole number. A NULL stays NULL, or is the middle where there are none to be (`nulls` false).
std::string grid_steps_sql(const std::string& value, bool whole, const catalog::GridRange& range,
                           bool nulls);

}  // namespace shoal::engine
