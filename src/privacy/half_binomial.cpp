#include "privacy/half_binomial.hpp"

#include <algorithm>

namespace shoal::privacy {
namespace {

constexpr long double kNegligible = 0x1p-80L;

// Outwards by this much covers all roundings of one line below, six at most. Nothing comes near
// underflow: chances stay above 2^-8000.
constexpr long double kDown = 1 - 4 * range_detail::Limits::epsilon();
constexpr long double kUp = 1 + 4 * range_detail::Limits::epsilon();

// The weights at place + 1, place + 2, .. relative to the one at `place`, summed; or, by the mirror
// x -> trials - x, those below.
PositiveRange sum_beyond(std::int64_t trials, std::int64_t place) {
  PositiveRange weight = exactly(1);
  PositiveRange sum;
  for (std::int64_t x = place; x < trials; ++x) {
    const long double forward =
        static_cast<long double>(trials - x) / static_cast<long double>(x + 1);
    // Past the mode the ratios fall, so the rest is at most a geometric series.
    if (weight.high <= kNegligible * sum.low && forward < 0.9999999L) {
      const long double rest = weight.high * (forward / (1 - forward)) * 1.000001L;
      if (rest <= kNegligible * sum.low) {
        sum.high = (sum.high + rest) * kUp;
        break;
      }
    }
    weight = {weight.low * forward * kDown, weight.high * forward * kUp};
    sum = {(sum.low + weight.low) * kDown, (sum.high + weight.high) * kUp};
  }
  return sum;
}

}  // namespace

HalfBinomialTail::HalfBinomialTail(std::int64_t trials, std::int64_t from)
    : trials_(trials), from_(from) {
  const PositiveRange above = exactly(1) + sum_beyond(trials, from);
  const PositiveRange total = above + sum_beyond(trials, trials - from);
  chance_ = exactly(1) / total;
  tail_ = above / total;
}

// With b' = P(X' = from - 1) for one trial less, b' = b 2 from / trials, and
// P(X >= from) = P(X' >= from - 1) - b' / 2 = P(X' >= from) + b' / 2.
void HalfBinomialTail::drop_trial_and_place() {
  const long double factor =
      2 * static_cast<long double>(from_) / static_cast<long double>(trials_);
  chance_ = {chance_.low * factor * kDown, chance_.high * factor * kUp};
  tail_ = {(tail_.low + 0.5L * chance_.low) * kDown, (tail_.high + 0.5L * chance_.high) * kUp};
  --trials_;
  --from_;
}

void HalfBinomialTail::drop_trial() {
  const long double inverse = 1 / static_cast<long double>(trials_);
  const long double place = static_cast<long double>(from_) * inverse;
  const long double other = 2 * static_cast<long double>(trials_ - from_) * inverse;
  const PositiveRange half{chance_.low * place * kDown, chance_.high * place * kUp};
  chance_ = {chance_.low * other * kDown, chance_.high * other * kUp};
  // Whatever the difference loses: the tail holds its first term.
  tail_ = {std::max((tail_.low - half.high) * kDown, chance_.low),
           std::max((tail_.high - half.low) * kUp, chance_.high)};
  --trials_;
}

}  // namespace shoal::privacy
