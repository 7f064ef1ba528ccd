// Training rows give their public bounds, and neither rows nor their number.
#include <shoal/learn/rows.hpp>

auto peek(const shoal::learn::TrainingRows& rows) {
#ifdef ALLOWED
  return rows.dimension();
#else
  return rows.rows_->row_count();
#endif
}
