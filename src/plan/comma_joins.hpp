// FROM a, b WHERE a.p = b.p as FROM a JOIN b ON a.p = b.p, which is the same.
#pragma once

#include <shoal/sql/query.hpp>

namespace shoal::plan {

// Of each cross join in FROM, the parts of WHERE that equate a column of its right side with one of
// its left side, both written with their tables, become its condition.
sql::Query joined_by_where(sql::Query query);

}  // namespace shoal::plan
