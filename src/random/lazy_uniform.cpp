#include <shoal/random/lazy_uniform.hpp>

namespace shoal::random {

void LazyUniform::extend(BitSource& bits) {
  constexpr int kMore = 64;
  digits_ = (digits_ << kMore) | bits.next_bits(kMore);
  bits_ += kMore;
}

bool is_below(LazyUniform& u, const RealAtPrecision& p, BitSource& bits) {
  // More digits than U has, so that an enclosure of usual width leaves open only what U leaves
  // open.
  constexpr int kGuard = 64;
  while (true) {
    const numeric::Enclosure enclosure = p(u.bits() + kGuard);
    const int shift = enclosure.precision - u.bits();
    if (enclosure.high <= u.digits() << shift) return false;
    if (enclosure.low >= (u.digits() + 1) << shift) return true;
    u.extend(bits);
  }
}

}  // namespace shoal::random
