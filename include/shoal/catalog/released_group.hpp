// A group as it may be published: its key and the noisy numbers about it.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/catalog/key.hpp>

#include <cstdint>
#include <vector>

namespace shoal::catalog {

// A private quantile in grid steps: with the stated confidence the exact one, of the bounded data,
// lies between lower and upper.
struct ReleasedQuantile {
  std::int64_t value = 0;
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  bool operator==(const ReleasedQuantile&) const = default;
};

struct ReleasedGroup {
  Key key;
  std::vector<Int128> values = {};               // one a statistic that is an integer
  std::vector<ReleasedQuantile> quantiles = {};  // one a quantile, in the order of the plan
  // The values, made to agree with those of other groupings; none: they are as released.
  std::vector<Int128> consistent = {};
  bool operator==(const ReleasedGroup&) const = default;
};

}  // namespace shoal::catalog
