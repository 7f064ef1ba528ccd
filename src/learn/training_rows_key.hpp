// The one reader of private training rows: for the methods of fit().
#pragma once

#include <shoal/learn/rows.hpp>

namespace shoal::learn {

class TrainingRowsKey {
 public:
  static const RowSource& open(const TrainingRows& rows) { return *rows.rows_; }
};

}  // namespace shoal::learn
