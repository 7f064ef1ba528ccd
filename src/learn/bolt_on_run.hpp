// The descent of bolt-on training, without its noise: secret weights.
#pragma once

#include <shoal/learn/bolt_on.hpp>
#include <shoal/learn/rows.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace shoal::learn {

struct BoltOnRun {
  std::vector<double> weights;
  double error = 0;  // a bound on their distance from the same run without rounding, for this order
};

// `order` has every number below slot_count() once; those beyond the rows add nothing.
BoltOnRun run_bolt_on(const BoltOnDescent& method, const Problem& problem, const RowSource& rows,
                      std::span<const std::uint64_t> order);

}  // namespace shoal::learn
