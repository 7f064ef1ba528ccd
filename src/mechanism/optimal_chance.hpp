// The chance pi(n) with which optimal key selection shows a group, as a real number that can be
// enclosed with any precision. Closed form: pi takes the first branch of its recursion n1 times and
// the second from then on,
//   A(n)  = delta (e^(n epsilon) - 1) / (e^epsilon - 1)                            for n <= n1,
//   pi(n) = 1 - max(0, e^(-i epsilon) (1 - A(n1)) - delta (e^-epsilon + ... + e^(-i epsilon)))
// for n = n1 + i. Both branches are increasing, so taking the second from any other j on gives at
// least pi(n): pi is the smallest over a range of j that holds n1, and no decision about n1 is
// made.
#pragma once

#include <shoal/numeric/enclosure.hpp>
#include <shoal/random/lazy_uniform.hpp>

#include <cstdint>

namespace shoal::mechanism {

class OptimalChance {
 public:
  // Doubles stand for their exact values: epsilon in [2^-31, 1000], delta in [2^-301, 1).
  OptimalChance(double epsilon, double delta);

  // pi(n), n >= 0, with at least that many binary digits after the first that matters.
  numeric::Enclosure at(std::int64_t n, int precision) const;

  // An n from which on pi is 1.
  std::int64_t certain_from() const { return certain_from_; }

 private:
  numeric::Enclosure rising(std::int64_t n, int bits) const;
  numeric::Enclosure settling(std::int64_t start, std::int64_t steps, int bits) const;
  numeric::Enclosure decay(std::int64_t n, int bits) const;

  random::RealAtPrecision epsilon_;
  random::RealAtPrecision delta_;
  int extra_bits_;
  std::int64_t switch_down_;
  std::int64_t switch_up_;
  std::int64_t certain_from_;
};

// The ends of an enclosure as doubles, rounded outwards.
double low_down(const numeric::Enclosure& enclosure);
double high_up(const numeric::Enclosure& enclosure);

}  // namespace shoal::mechanism
