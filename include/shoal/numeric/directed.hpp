// Arithmetic with a direction: each function returns a double on the named side of the exact
// result, so a bound made of them is a bound. "up" is towards +infinity, "down" towards -infinity,
// never "away from zero".
//
// The four operations and the square root are the tightest double on their side, found from the
// exact rounding error of the ordinary operation (error-free transformations); only where that
// error underflows are they one step wider. The functions of libm are the libm result widened by
// kLibmSteps doubles.
//
// Preconditions: round to nearest (the default mode) and neither fast-math nor contraction. A NaN
// goes through; an infinite operand gives what IEEE 754 gives. A finite operation that overflows
// gives infinity on the far side and the largest double on the near one.
#pragma once

#if defined(__FAST_MATH__)
#error "directed rounding is wrong under -ffast-math: the error terms are optimised away"
#endif

namespace shoal::numeric {

// How many doubles a libm result is moved. glibc states errors of at most 2 units in the last place
// for these functions (exp, log, expm1, log1p: 1; tanh: 2); 8 steps are at least 4 such units, even
// where the spacing halves below a power of two.
inline constexpr int kLibmSteps = 8;

// The same for erfc, which glibc states at 5 units.
inline constexpr int kErfcSteps = 24;

// The double `steps` places above or below; stops at infinity.
double step_up(double x, int steps = 1);
double step_down(double x, int steps = 1);

double add_up(double a, double b);
double add_down(double a, double b);
double subtract_up(double a, double b);
double subtract_down(double a, double b);
double multiply_up(double a, double b);
double multiply_down(double a, double b);

// Division by zero gives what IEEE 754 gives: infinity or NaN.
double divide_up(double a, double b);
double divide_down(double a, double b);

// NaN for negative operands.
double sqrt_up(double x);
double sqrt_down(double x);

// Values stay in the function's range: exp >= 0, expm1 >= -1, |tanh| <= 1, erfc in [0, 2].
double exp_up(double x);
double exp_down(double x);
double expm1_up(double x);
double expm1_down(double x);
double log_up(double x);
double log_down(double x);
double log1p_up(double x);
double log1p_down(double x);
double tanh_up(double x);
double tanh_down(double x);
double erfc_up(double x);
double erfc_down(double x);

}  // namespace shoal::numeric
