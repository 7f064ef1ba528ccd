// From a value as the database gives it to what is added up: whole grid steps, clamped, or a word
// that stands for it. What a value becomes depends on that value alone; none can fail.
#pragma once

#include <shoal/engine/grouped_request.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace shoal::engine {

// -0.0 as 0.0; the bits of any other number.
inline std::uint64_t real_word(double value) {
  return value == 0 ? 0 : std::bit_cast<std::uint64_t>(value);
}

// A number in steps: clamped to lower and upper, then rounded, halves away from zero. NaN is for
// the caller to keep out. Scaling by a power of two is exact, or ends up at 0 or an infinity, which
// clamp as they should.
inline std::int64_t to_steps(double value, double steps_per_one, double lower, double upper) {
  const double scaled = std::clamp(value * steps_per_one, lower, upper);
  // At most 2^51 in size: the whole part fits, and the difference is exact.
  const auto whole = static_cast<std::int64_t>(scaled);
  const double rest = scaled - static_cast<double>(whole);
  return whole + static_cast<std::int64_t>(rest >= 0.5) - static_cast<std::int64_t>(rest <= -0.5);
}

// What the words of a column are: as the database has them, or steps that were read already.
enum class ValueWords { stored, steps };

class ValueReader {
 public:
  explicit ValueReader(const ValueColumn& column, ValueWords words = ValueWords::stored)
      : form_(words == ValueWords::steps ? Form::word : form_of(column)),
        // Declared free of NULLs: the middle stands in for one.
        stands_in_(column.use == ValueUse::steps && !column.nulls),
        middle_(column.range.middle()),
        none_(stands_in_ ? middle_ : 0),
        range_(column.range),
        scale_(std::ldexp(1.0, -column.range.grid.exponent)),
        lower_(static_cast<double>(column.range.lower)),
        upper_(static_cast<double>(column.range.upper)) {}

  std::int64_t middle() const { return middle_; }

  // Words that are the values.
  bool is_word() const { return form_ == Form::word; }
  // Reals that become to_steps(value, scale, lower, upper).
  bool is_real() const { return form_ == Form::real_steps; }
  double scale() const { return scale_; }
  double lower() const { return lower_; }
  double upper() const { return upper_; }

  // Whether there is a value, and which; 0 where there is none. `valid`: the word is not NULL's.
  bool read(std::uint64_t word, bool valid, std::int64_t& value) const {
    const double real = std::bit_cast<double>(word);
    const auto whole = static_cast<std::int64_t>(word);
    switch (form_) {
      case Form::real_steps:
        valid = valid && !std::isnan(real);
        value = valid ? to_steps(real, scale_, lower_, upper_) : 0;
        break;
      case Form::scaled_steps:
        value = to_steps(static_cast<double>(whole), scale_, lower_, upper_);
        break;
      case Form::steps:
        value = std::clamp(whole, range_.lower, range_.upper);
        break;
      case Form::real_word:
        valid = valid && !std::isnan(real);
        value = static_cast<std::int64_t>(engine::real_word(real));
        break;
      case Form::word:
        value = whole;
        break;
    }
    if (!valid) value = none_;
    return valid || stands_in_;
  }

 private:
  enum class Form { real_steps, scaled_steps, steps, real_word, word };

  static Form form_of(const ValueColumn& column) {
    if (column.use == ValueUse::identity)
      return column.type == KeyType::real ? Form::real_word : Form::word;
    if (!column.whole) return Form::real_steps;
    return column.range.grid.exponent != 0 ? Form::scaled_steps : Form::steps;
  }

  Form form_;
  bool stands_in_;
  std::int64_t middle_;
  std::int64_t none_;
  catalog::GridRange range_;
  double scale_;
  double lower_;
  double upper_;
};

}  // namespace shoal::engine
