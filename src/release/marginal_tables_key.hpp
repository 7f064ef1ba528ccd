// The one reader of exact marginals, for the curators of this layer.
#pragma once

#include <shoal/data/marginal_tables.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shoal::release {

class MarginalTablesKey {
 public:
  static const std::vector<std::int64_t>& counts(const data::MarginalTables& tables,
                                                 std::size_t which) {
    return tables.counts_[which];
  }
};

}  // namespace shoal::release
