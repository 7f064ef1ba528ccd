// Rows for learning cannot be printed.
#include <shoal/data/table_rows.hpp>

#include <iostream>

void show(const shoal::data::TableRows& rows) {
#ifdef ALLOWED
  std::cout << rows.columns();
#else
  std::cout << rows;
#endif
}
