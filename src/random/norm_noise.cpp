#include <shoal/base/error.hpp>
#include <shoal/random/lazy_exponential.hpp>
#include <shoal/random/lazy_normal.hpp>
#include <shoal/random/norm_noise.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <optional>

namespace shoal::random {
namespace {

using numeric::BigInt;
using numeric::Enclosure;

// The variables of one ideal draw, each known to some digits. All normals have the same number of
// digits, and so have all exponentials.
class IdealDraw {
 public:
  IdealDraw(double scale, std::int64_t dimension, BitSource& bits, FirstDigits digits)
      : scale_(exact_scale(scale, "scale")) {
    const bool few = digits == FirstDigits::few;
    static const ExponentialSampler with_many;
    static const ExponentialSampler with_few(1);
    const ExponentialSampler& exponential = few ? with_few : with_many;
    for (std::int64_t i = 0; i < dimension; ++i) {
      exponentials_.push_back(exponential.sample(bits));
      normals_.emplace_back(bits, few ? 1 : 64);
    }
    level(bits);
    if (few) return;
    // A coordinate is about scale sqrt(dimension); 40 digits more leave it open once in 2^40 or so.
    const int wanted = std::max(std::ilogb(scale), 0) + 40 +
                       static_cast<int>(std::bit_width(static_cast<std::uint64_t>(dimension)));
    while (exponentials_.front().bits() < wanted) extend_exponentials(bits);
    while (normals_.front().bits() < wanted) extend_normals(bits);
  }

  void extend(BitSource& bits) {
    extend_exponentials(bits);
    extend_normals(bits);
  }

  // The nearest integers, if the digits known settle all of them.
  std::optional<std::vector<Int128>> rounded() const {
    std::vector<BigInt> magnitudes;
    magnitudes.reserve(normals_.size());
    for (const LazyNormal& normal : normals_) magnitudes.push_back(normal.digits());
    const std::optional<Enclosure> factor = radius_over_norm(magnitudes);
    if (!factor) return std::nullopt;
    std::vector<Int128> nearest;
    nearest.reserve(normals_.size());
    const int places = factor->precision + normals_.front().bits();
    const BigInt half = BigInt(1) << (places - 1);
    for (std::size_t i = 0; i < normals_.size(); ++i) {
      const BigInt low = (factor->low * magnitudes[i] + half) >> places;
      const BigInt high = (factor->high * (magnitudes[i] + 1) + half) >> places;
      if (low != high) return std::nullopt;
      SHOAL_CHECK(low < (BigInt(1) << 126));  // beyond: probability below e^(-2^50)
      const auto magnitude = low.convert_to<Int128>();
      nearest.push_back(normals_[i].negative() ? -magnitude : magnitude);
    }
    return nearest;
  }

 private:
  // A normal whose own coin needed more digits has them already. Digits come by 64, so the others
  // can catch up.
  void level(BitSource& bits) {
    int most = 0;
    for (const LazyNormal& normal : normals_) most = std::max(most, normal.bits());
    for (LazyNormal& normal : normals_) {
      while (normal.bits() < most) normal.extend(bits);
    }
  }

  void extend_exponentials(BitSource& bits) {
    for (LazyExponential& exponential : exponentials_) exponential.extend(bits);
  }

  void extend_normals(BitSource& bits) {
    for (LazyNormal& normal : normals_) normal.extend(bits);
  }

  // Nothing if the norm may still be zero.
  std::optional<Enclosure> radius_over_norm(const std::vector<BigInt>& magnitudes) const {
    const int normal_bits = normals_.front().bits();
    const int scale_bits = std::countr_zero(scale_.denominator);
    const int radius_bits = exponentials_.front().bits() + scale_bits;
    const int precision = std::max(2 * normal_bits, radius_bits);
    BigInt square_low = 0;
    BigInt square_high = 0;
    for (const BigInt& magnitude : magnitudes) {
      const BigInt square = magnitude * magnitude;
      square_low += square;
      square_high += square + 2 * magnitude + 1;
    }
    if (square_low == 0) return std::nullopt;
    const int spare = precision - 2 * normal_bits;
    const Enclosure norm =
        numeric::square_root({square_low << spare, square_high << spare, precision});
    BigInt sum = 0;
    for (const LazyExponential& exponential : exponentials_) sum += exponential.digits();
    const BigInt unit = BigInt(scale_.numerator) << (precision - radius_bits);
    const Enclosure radius{sum * unit, (sum + exponentials_.size()) * unit, precision};
    return divide(radius, norm);
  }

  DyadicScale scale_;
  std::vector<LazyExponential> exponentials_;
  std::vector<LazyNormal> normals_;
};

}  // namespace

void check_norm_noise(double scale, std::int64_t dimension) {
  check_scale(scale, "scale");
  if (dimension >= 1 && dimension <= kMaxNormDimension) return;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("the dimension is {}; it must be from 1 to {}", dimension, kMaxNormDimension));
}

std::vector<Int128> sample_norm_noise(double scale, std::int64_t dimension, BitSource& bits,
                                      FirstDigits digits) {
  check_norm_noise(scale, dimension);
  IdealDraw draw(scale, dimension, bits, digits);
  while (true) {
    if (std::optional<std::vector<Int128>> nearest = draw.rounded()) return *std::move(nearest);
    draw.extend(bits);
  }
}

}  // namespace shoal::random
