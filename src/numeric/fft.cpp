#include <shoal/base/error.hpp>
#include <shoal/numeric/fft.hpp>

#include <fmt/format.h>
#include <unsupported/Eigen/FFT>

#include <bit>

namespace shoal::numeric {

struct RealFft::Plan {
  Eigen::FFT<double> transform;
};

RealFft::RealFft(std::size_t size) : size_(size), levels_(std::countr_zero(size)) {
  if (size < 4 || !std::has_single_bit(size)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the length of the transform is {}; it must be a power of two, at "
                            "least 4",
                            size));
  }
  plan_ = std::make_unique<Plan>();
  plan_->transform.SetFlag(Eigen::FFT<double>::HalfSpectrum);
}

RealFft::~RealFft() = default;

std::vector<std::complex<double>> RealFft::forward(const std::vector<double>& values) {
  std::vector<std::complex<double>> result(size_ / 2 + 1);
  plan_->transform.fwd(result.data(), values.data(), static_cast<Eigen::Index>(size_));
  return result;
}

std::vector<double> RealFft::inverse(const std::vector<std::complex<double>>& coefficients) {
  std::vector<double> result(size_);
  plan_->transform.inv(result.data(), coefficients.data(), static_cast<Eigen::Index>(size_));
  return result;
}

}  // namespace shoal::numeric
