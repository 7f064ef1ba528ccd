// The discrete Fourier transform of real sequences, with a bound of its rounding error. The
// transform itself is Eigen's (kissfft).
#pragma once

#include <complex>
#include <memory>
#include <vector>

namespace shoal::numeric {

// For a transform of length 2^m: the rounding error, as a Euclidean norm, is at most m times this
// times the norm of the exact result. (Each of the m levels of butterflies multiplies by a twiddle
// factor of relative error below 4 u, u = 2^-53, and adds: Higham, Accuracy and Stability, theorem
// 24.2, gives 4 u + 4 (sqrt 2 + 1) u a level; the rest is margin for radix 4, the split of a real
// transform and the scaling of the inverse.)
inline constexpr double kFftErrorPerLevel = 24 * 0x1p-53;

class RealFft {
 public:
  // size is a power of two, at least 4; throws invalid_argument otherwise.
  explicit RealFft(std::size_t size);
  ~RealFft();
  RealFft(const RealFft&) = delete;
  RealFft& operator=(const RealFft&) = delete;

  std::size_t size() const { return size_; }
  int levels() const { return levels_; }

  // size / 2 + 1 coefficients; the others are their conjugates.
  std::vector<std::complex<double>> forward(const std::vector<double>& values);
  std::vector<double> inverse(const std::vector<std::complex<double>>& coefficients);

 private:
  struct Plan;
  std::size_t size_;
  int levels_;
  std::unique_ptr<Plan> plan_;
};

}  // namespace shoal::numeric
