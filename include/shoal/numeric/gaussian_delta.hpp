// The delta of Gaussian noise at a given epsilon, exactly (Balle and Wang 2018): certified bounds
// on both sides, without the loss of digits that the difference of two tails suffers when it is
// taken in doubles.
//
// With m = sensitivity / sigma, u = epsilon / m - m / 2 and v = epsilon / m + m / 2,
//   delta = Phi(-u) - e^epsilon Phi(-v) = phi(u) (M(u) - M(v)),
// where M(x) = Phi(-x) / phi(x) is Mills' ratio: e^epsilon phi(v) = phi(u). It falls in sigma.
//
// Invariants: no floating point takes part between the exact values of the arguments and the last
// rounding. The bounds are neighbouring doubles, or nearly so, unless sensitivity / sigma is below
// 2^-150 or delta subnormal; they are bounds always.
#pragma once

namespace shoal::numeric {

// Noise N(0, sigma^2), independent in each coordinate of a statistic that moves by at most
// `sensitivity` in L2 norm. Requires sigma > 0, sensitivity >= 0, epsilon >= 0, all finite; throws
// invalid_argument otherwise.
double gaussian_delta_up(double sigma, double sensitivity, double epsilon);
double gaussian_delta_down(double sigma, double sensitivity, double epsilon);

// The same for noise P(x) proportional to exp(-x^2 / (2 sigma^2)) on the integers and a shift of
// `steps`. Up to kMaxSummedSigma the pmf is summed; beyond, the continuous value is corrected by at
// most the largest summand (one part in some hundreds of it at delta 1e-6, and less as sigma
// grows). Requires sigma from 2^-10 to 2^50 and steps >= 1 besides.
double discrete_gaussian_delta_up(double sigma, long long steps, double epsilon);
double discrete_gaussian_delta_down(double sigma, long long steps, double epsilon);

inline constexpr double kMaxSummedSigma = 1024;

}  // namespace shoal::numeric
