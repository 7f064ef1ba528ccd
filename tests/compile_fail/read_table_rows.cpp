// The cells of rows for learning cannot be read.
#include <shoal/data/table_rows.hpp>

auto peek(const shoal::data::TableRows& rows) {
#ifdef ALLOWED
  return rows.columns();
#else
  return rows.read_;
#endif
}
