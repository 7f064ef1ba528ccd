// A number of MPFR with 2000 bits, as an oracle: it shares no code with Shoal's own arithmetic.
#pragma once

#include <shoal/numeric/enclosure.hpp>

#include <mpfr.h>

namespace shoal::test {

class MpfrReal {
 public:
  MpfrReal() { mpfr_init2(value_, 2000); }
  explicit MpfrReal(double value) : MpfrReal() { mpfr_set_d(value_, value, MPFR_RNDN); }
  MpfrReal(const numeric::BigInt& numerator, const numeric::BigInt& denominator) : MpfrReal() {
    MpfrReal divisor;
    mpfr_set_str(value_, numerator.str().c_str(), 10, MPFR_RNDN);
    mpfr_set_str(divisor.value_, denominator.str().c_str(), 10, MPFR_RNDN);
    mpfr_div(value_, value_, divisor.value_, MPFR_RNDN);
  }
  MpfrReal(const MpfrReal& other) : MpfrReal() { mpfr_set(value_, other.value_, MPFR_RNDN); }
  MpfrReal& operator=(const MpfrReal& other) {
    mpfr_set(value_, other.value_, MPFR_RNDN);
    return *this;
  }
  ~MpfrReal() { mpfr_clear(value_); }

  friend MpfrReal operator+(MpfrReal a, const MpfrReal& b) {
    mpfr_add(a.value_, a.value_, b.value_, MPFR_RNDN);
    return a;
  }
  friend MpfrReal operator-(MpfrReal a, const MpfrReal& b) {
    mpfr_sub(a.value_, a.value_, b.value_, MPFR_RNDN);
    return a;
  }
  friend MpfrReal operator*(MpfrReal a, const MpfrReal& b) {
    mpfr_mul(a.value_, a.value_, b.value_, MPFR_RNDN);
    return a;
  }
  friend MpfrReal operator/(MpfrReal a, const MpfrReal& b) {
    mpfr_div(a.value_, a.value_, b.value_, MPFR_RNDN);
    return a;
  }
  MpfrReal exp_minus() const {
    MpfrReal result(*this);
    mpfr_neg(result.value_, result.value_, MPFR_RNDN);
    mpfr_exp(result.value_, result.value_, MPFR_RNDN);
    return result;
  }
  // The complementary error function.
  MpfrReal erfc() const {
    MpfrReal result(*this);
    mpfr_erfc(result.value_, result.value_, MPFR_RNDN);
    return result;
  }
  MpfrReal square_root() const {
    MpfrReal result(*this);
    mpfr_sqrt(result.value_, result.value_, MPFR_RNDN);
    return result;
  }

  double value() const { return mpfr_get_d(value_, MPFR_RNDN); }

  // floor(value * 2^precision).
  numeric::BigInt units(int precision) const {
    MpfrReal scaled;
    mpfr_mul_2si(scaled.value_, value_, precision, MPFR_RNDD);
    mpfr_floor(scaled.value_, scaled.value_);
    char* text = nullptr;
    mpfr_asprintf(&text, "%.0Rf", scaled.value_);
    numeric::BigInt result(text);
    mpfr_free_str(text);
    return result;
  }

 private:
  mpfr_t value_;
};

}  // namespace shoal::test
