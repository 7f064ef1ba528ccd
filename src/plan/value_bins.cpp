#include "plan/value_bins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace shoal::plan {
namespace {

using sql::BinaryOperator;
using sql::Expression;

// Magnitudes from 2^-30 to 2^63, of whole numbers from 1. What is nearer to 0, or further from it,
// counts as the nearest of them.
constexpr int kLeastExponent = -30;
constexpr int kMostExponent = 63;
constexpr std::int64_t kBinOfOne = 1000;

int least_exponent(bool whole) { return whole ? 0 : kLeastExponent; }

Expression signed_literal(sql::LiteralKind kind, bool negative, std::string digits) {
  const Expression positive(sql::Literal{kind, std::move(digits)});
  return negative ? Expression(sql::Unary{sql::UnaryOperator::minus, positive}) : positive;
}

Expression integer(std::int64_t value) {
  return signed_literal(sql::LiteralKind::integer, value < 0,
                        fmt::format("{}", value < 0 ? -value : value));
}

Expression decimal(double value) {
  return signed_literal(sql::LiteralKind::decimal, value < 0,
                        fmt::format("{:.17e}", std::fabs(value)));
}

Expression call(std::string name, std::vector<Expression> arguments) {
  return Expression(sql::Call{std::move(name), std::move(arguments)});
}

Expression binary(BinaryOperator operation, const Expression& left, const Expression& right) {
  return Expression(sql::Binary{operation, left, right});
}

Expression clamped(const Expression& value, double lower, double upper) {
  return call("LEAST", {call("GREATEST", {value, decimal(lower)}), decimal(upper)});
}

// The exponent of the bin that a declared bound of this magnitude falls into.
int exponent_of(double magnitude, bool whole) {
  return std::clamp(static_cast<int>(std::ceil(std::log2(magnitude))), least_exponent(whole),
                    kMostExponent);
}

}  // namespace

std::vector<std::int64_t> value_bins(bool whole, const std::optional<catalog::Bounds>& within) {
  std::vector<std::int64_t> bins;
  if (!within || within->lower < 0) {
    const int most = within ? exponent_of(-within->lower, whole) : kMostExponent;
    for (int e = most; e >= least_exponent(whole); --e) bins.push_back(-kBinOfOne - e);
  }
  bins.push_back(0);
  if (!within || within->upper > 0) {
    const int most = within ? exponent_of(within->upper, whole) : kMostExponent;
    for (int e = least_exponent(whole); e <= most; ++e) bins.push_back(kBinOfOne + e);
  }
  return bins;
}

Expression binned_value(const Expression& written, const std::optional<catalog::Bounds>& within) {
  if (!within) return written;
  sql::Case cases;
  // Whatever GREATEST makes of a NULL.
  cases.branches.push_back({Expression(sql::IsNull{written}), Expression(sql::Literal{})});
  cases.otherwise = clamped(written, within->lower, within->upper);
  return Expression(std::move(cases));
}

Expression binned_exponent(const Expression& value) {
  return call("CEIL", {call("LOG2", {call("ABS", {value})})});
}

Expression bin_of(const Expression& value, const Expression& exponent, bool whole) {
  const Expression kept = clamped(exponent, least_exponent(whole), kMostExponent);
  const Expression zero = integer(0);
  sql::Case cases;
  cases.branches.push_back({Expression(sql::IsNull{value}), Expression(sql::Literal{})});
  cases.branches.push_back({binary(BinaryOperator::greater, value, zero),
                            binary(BinaryOperator::add, integer(kBinOfOne), kept)});
  cases.branches.push_back({binary(BinaryOperator::less, value, zero),
                            binary(BinaryOperator::subtract, integer(-kBinOfOne), kept)});
  cases.otherwise = zero;
  return Expression(sql::Cast{Expression(std::move(cases)), {sql::ScalarType::bigint}, true});
}

catalog::Bounds values_of_bin(std::int64_t bin, bool whole) {
  if (bin == 0) return {0, 0};
  const std::int64_t exponent = (bin > 0 ? bin : -bin) - kBinOfOne;
  const double far = std::ldexp(1.0, static_cast<int>(exponent));
  const double near = exponent == least_exponent(whole) ? 0 : far / 2;
  return bin > 0 ? catalog::Bounds{near, far} : catalog::Bounds{-far, -near};
}

}  // namespace shoal::plan
