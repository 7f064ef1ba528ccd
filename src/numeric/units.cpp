#include <shoal/base/error.hpp>
#include <shoal/numeric/units.hpp>

#include <boost/multiprecision/cpp_int.hpp>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>

namespace shoal::numeric {
namespace {

using Integer = boost::multiprecision::cpp_int;

struct Fraction {
  Integer numerator;
  Integer denominator;  // above 0
};

void require_amount(double value) {
  if (!(value >= 0 && std::isfinite(value))) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{} cannot be charged; an amount must be finite and not negative", value));
  }
}

Integer power_of_ten(int exponent) {
  return boost::multiprecision::pow(Integer(10), static_cast<unsigned>(exponent));
}

// The exact value of a double.
Fraction exact(double value) {
  require_amount(value);
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  Integer numerator = static_cast<std::int64_t>(std::ldexp(mantissa, 53));
  exponent -= 53;
  if (exponent >= 0) return {numerator << exponent, 1};
  return {numerator, Integer(1) << -exponent};
}

// The exact value of the shortest decimal that reads back as the double, such as "1.25e-07".
Fraction decimal(double value) {
  require_amount(value);
  // {} gives the shortest form, with or without an exponent.
  const std::string shortest = fmt::format("{}", value);
  Integer digits = 0;
  int exponent = 0;
  bool behind_point = false;
  std::size_t at = 0;
  for (; at < shortest.size() && shortest[at] != 'e'; ++at) {
    if (shortest[at] == '.') {
      behind_point = true;
      continue;
    }
    digits = digits * 10 + (shortest[at] - '0');
    if (behind_point) --exponent;
  }
  if (at < shortest.size()) exponent += std::stoi(shortest.substr(at + 1));
  if (exponent >= 0) return {digits * power_of_ten(exponent), 1};
  return {digits, power_of_ten(-exponent)};
}

std::int64_t to_units(const Integer& units) {
  if (units > Integer(9'000'000'000'000'000'000)) {
    throw Error(ErrorCode::invalid_argument,
                "the privacy cost is too large to be counted; use more noise (a smaller epsilon)");
  }
  return static_cast<std::int64_t>(units);
}

Integer floor_quotient(const Integer& a, const Integer& b) { return a / b; }
Integer ceil_quotient(const Integer& a, const Integer& b) { return (a + b - 1) / b; }

// The double nearest to units / 10^decimals, moved to the wanted side by exact comparison.
double from_units(std::int64_t units, int decimals, bool up) {
  const Integer scale = power_of_ten(decimals);
  double value = static_cast<double>(units) / static_cast<double>(scale);
  const double infinity = std::numeric_limits<double>::infinity();
  const auto compare = [&](double candidate) {  // sign of candidate - units / 10^decimals
    const Fraction fraction = exact(candidate);
    return Integer(fraction.numerator * scale).compare(Integer(units) * fraction.denominator);
  };
  while (up && compare(value) < 0) value = std::nextafter(value, infinity);
  while (!up && compare(value) > 0) value = std::nextafter(value, 0.0);
  return value;
}

}  // namespace

std::int64_t decimal_units_up(double value, int decimals) {
  const Fraction fraction = decimal(value);
  return to_units(ceil_quotient(fraction.numerator * power_of_ten(decimals), fraction.denominator));
}

std::int64_t decimal_units_down(double value, int decimals) {
  const Fraction fraction = decimal(value);
  return to_units(
      floor_quotient(fraction.numerator * power_of_ten(decimals), fraction.denominator));
}

// The shortest decimal of the next double is more than half a step above this one.
double decimal_at_least(double value) {
  const Fraction binary = exact(value);
  const Fraction shortest = decimal(value);
  const bool below =
      shortest.numerator * binary.denominator < binary.numerator * shortest.denominator;
  return below ? std::nextafter(value, std::numeric_limits<double>::infinity()) : value;
}

std::int64_t ratio_units_up(double numerator, double denominator, int decimals) {
  const Fraction a = exact(numerator);
  const Fraction b = exact(denominator);
  SHOAL_CHECK(b.numerator > 0);
  return to_units(ceil_quotient(a.numerator * b.denominator * power_of_ten(decimals),
                                a.denominator * b.numerator));
}

std::int64_t half_square_ratio_units_up(double numerator, double denominator, int decimals) {
  const Fraction a = exact(numerator);
  const Fraction b = exact(denominator);
  SHOAL_CHECK(b.numerator > 0);
  const Integer top = a.numerator * b.denominator;
  const Integer bottom = a.denominator * b.numerator;
  return to_units(ceil_quotient(top * top * power_of_ten(decimals), 2 * bottom * bottom));
}

double decimal_from_units(std::int64_t units, int decimals) {
  return std::stod(fmt::format("{}e-{}", units, decimals));
}

double from_units_up(std::int64_t units, int decimals) { return from_units(units, decimals, true); }
double from_units_down(std::int64_t units, int decimals) {
  return from_units(units, decimals, false);
}

}  // namespace shoal::numeric
