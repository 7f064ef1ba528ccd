#include "random/kernel.hpp"

#include <shoal/base/error.hpp>

#include <algorithm>
#include <cstring>

namespace shoal::random {

Kernel best_kernel() {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has_avx2 ? Kernel::avx2 : Kernel::scalar;
#else
  return Kernel::scalar;
#endif
}

void wipe(void* memory, std::size_t bytes) { ::explicit_bzero(memory, bytes); }

WordBlock::~WordBlock() { wipe(words_.data(), touched_ * sizeof(std::uint32_t)); }

const std::uint32_t* WordBlock::draw(std::size_t count, BitSource& bits) {
  SHOAL_CHECK(count <= kBlockWords);
  touched_ = std::max(touched_, count);
  bits.fill({reinterpret_cast<unsigned char*>(words_.data()), count * sizeof(std::uint32_t)});
  return words_.data();
}

}  // namespace shoal::random
