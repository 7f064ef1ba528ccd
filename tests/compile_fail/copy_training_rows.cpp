// Training rows are used once.
#include <shoal/learn/rows.hpp>

#include <utility>

shoal::learn::TrainingRows twice(shoal::learn::TrainingRows& rows) {
#ifdef ALLOWED
  return std::move(rows);
#else
  return rows;
#endif
}
