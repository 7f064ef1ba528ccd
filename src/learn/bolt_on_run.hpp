// The descent of bolt-on training, without its noise: secret weights.
#pragma once

#include <shoal/learn/fit.hpp>
#include <shoal/learn/rows.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace shoal::learn {

struct BoltOnRun {
  std::vector<long double> weights;
  double error = 0;  // a bound on their distance from the same run without rounding
};

// A bound of what rounding does to the weights in arithmetic of that unit roundoff, for any rows,
// given their number. Proof: bolt_on.proof.md, 4.
double bolt_on_error_up(const BoltOnDescent& method, const Problem& problem, double rows,
                        double unit);

// `order` has every number below slot_count() once; those beyond the rows add nothing. The
// arithmetic is the coarsest whose error stays within the method's: the number of rows decides, and
// neighbours have the same.
BoltOnRun run_bolt_on(const BoltOnDescent& method, const Problem& problem, const RowSource& rows,
                      std::span<const std::uint64_t> order, const FitOptions& options = {});

}  // namespace shoal::learn
