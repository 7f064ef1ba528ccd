#include "engine/postgres_types.hpp"

#include "engine/group_keys.hpp"
#include "engine/value_reader.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace shoal::engine {
namespace {

// Object identifiers of the built-in types; they never change.
enum ServerType : unsigned {
  kBoolean = 16,
  kName = 19,
  kBigint = 20,
  kSmallint = 21,
  kInteger = 23,
  kText = 25,
  kReal = 700,
  kDouble = 701,
  kBlankPadded = 1042,
  kVarchar = 1043,
  kDate = 1082,
  kTimestamp = 1114,
  kTimestampWithZone = 1184,
  kNumeric = 1700,
  kUuid = 2950,
};

bool is_whole(unsigned type) { return type == kSmallint || type == kInteger || type == kBigint; }

std::optional<std::string> to_whole(const std::string& value, unsigned type) {
  if (is_whole(type)) return fmt::format("CAST({} AS BIGINT)", value);
  // NaN is larger than every number.
  if (type == kNumeric) {
    return fmt::format(
        "CASE WHEN {0} >= -9223372036854775808 AND {0} <= 9223372036854775807 THEN "
        "CAST(ROUND({0}) AS BIGINT) END",
        value);
  }
  return std::nullopt;
}

// NaN is NULL; -0.0 is 0.0, so that equal numbers have one name.
std::optional<std::string> to_real(const std::string& value, unsigned type) {
  if (is_whole(type)) return fmt::format("CAST({} AS DOUBLE PRECISION)", value);
  if (type == kReal || type == kDouble) {
    return fmt::format(
        "CASE WHEN {0} <> CAST('NaN' AS DOUBLE PRECISION) THEN {0} + CAST(0 AS DOUBLE PRECISION) "
        "END",
        value);
  }
  // Too small a number would be an error as well, so it is rounded to 0 first.
  if (type == kNumeric) {
    return fmt::format(
        "CASE WHEN ABS({0}) <= 1.7976931348623157e308 THEN CAST(ROUND({0}, 300) AS DOUBLE "
        "PRECISION) WHEN {0} IN (CAST('Infinity' AS NUMERIC), CAST('-Infinity' AS NUMERIC)) THEN "
        "CAST({0} AS DOUBLE PRECISION) END",
        value);
  }
  return std::nullopt;
}

// Compared byte by byte, whatever the column's collation, which may call different texts equal.
std::string to_text(const std::string& value, std::size_t most) {
  const std::string text = fmt::format("CAST({} AS TEXT)", value);
  return fmt::format("(CASE WHEN OCTET_LENGTH({0}) <= {1} THEN {0} END) COLLATE \"C\"", text, most);
}

std::optional<std::string> to_date(const std::string& value, unsigned type) {
  if (type != kDate && type != kTimestamp) return std::nullopt;
  return fmt::format("CASE WHEN isfinite({0}) THEN CAST({0} AS DATE) END", value);
}

// PostgreSQL counts from the year 2000, so its last 30 years do not fit where the count is from
// 1970.
std::optional<std::string> to_timestamp(const std::string& value, unsigned type) {
  if (type != kTimestamp && type != kTimestampWithZone) return std::nullopt;
  const std::string moment =
      type == kTimestamp ? value : fmt::format("({} AT TIME ZONE 'UTC')", value);
  return fmt::format(
      "CASE WHEN {0} > TIMESTAMP '-infinity' AND {0} <= TIMESTAMP '294247-01-10 04:00:54.775806' "
      "THEN {0} END",
      moment);
}

std::string number(double value) {
  return fmt::format("CAST('{}' AS DOUBLE PRECISION)", format_number(value));
}

template <typename Number>
Number parsed(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  SHOAL_CHECK(error == std::errc() && end == text.data() + text.size());
  return value;
}

}  // namespace

std::optional<KeyType> natural_type(unsigned type, bool is_enum) {
  if (is_enum) return KeyType::text;
  switch (type) {
    case kSmallint:
    case kInteger:
    case kBigint:
      return KeyType::integer;
    case kReal:
    case kDouble:
    case kNumeric:
      return KeyType::real;
    case kText:
    case kVarchar:
    case kBlankPadded:
    case kName:
    case kUuid:
      return KeyType::text;
    case kBoolean:
      return KeyType::boolean;
    case kDate:
      return KeyType::date;
    case kTimestamp:
    case kTimestampWithZone:
      return KeyType::timestamp;
    default:
      return std::nullopt;
  }
}

std::optional<KeyType> key_type(catalog::ColumnType type) {
  switch (type) {
    case catalog::ColumnType::integer:
      return KeyType::integer;
    case catalog::ColumnType::real:
      return KeyType::real;
    case catalog::ColumnType::text:
      return KeyType::text;
    case catalog::ColumnType::boolean:
      return KeyType::boolean;
    case catalog::ColumnType::date:
      return KeyType::date;
    case catalog::ColumnType::timestamp:
      return KeyType::timestamp;
    case catalog::ColumnType::other:
      break;
  }
  return std::nullopt;
}

std::optional<std::string> converted(const std::string& value, unsigned type, KeyType wanted,
                                     std::size_t max_text) {
  switch (wanted) {
    case KeyType::integer:
      return to_whole(value, type);
    case KeyType::real:
      return to_real(value, type);
    case KeyType::text:
      return to_text(value, max_text);
    case KeyType::boolean:
      if (type == kBoolean) return value;
      break;
    case KeyType::date:
      return to_date(value, type);
    case KeyType::timestamp:
      return to_timestamp(value, type);
  }
  return std::nullopt;
}

// Clamped before it is scaled, since PostgreSQL raises errors for overflow; what is far below a
// step is 0 before it is scaled, since it raises errors for underflow, too. In between, scaling by
// a power of two is exact, and so is what the whole part leaves.
std::string postgres_steps(const std::string& value, bool whole, const catalog::GridRange& range,
                           bool nulls) {
  std::string steps;
  if (whole && range.grid.exponent == 0) {
    steps = fmt::format("CASE WHEN {0} < ({1}) THEN ({1}) WHEN {0} > ({2}) THEN ({2}) ELSE {0} END",
                        value, range.lower, range.upper);
    steps = fmt::format("CAST({} AS BIGINT)", steps);
  } else {
    const double step = range.grid.step();
    const std::string real = whole ? fmt::format("CAST({} AS DOUBLE PRECISION)", value) : value;
    const std::string scaled = fmt::format(
        "CASE WHEN {0} <= {1} THEN {2} WHEN {0} >= {3} THEN {4} WHEN {0} > -{5} AND {0} < {5} THEN "
        "{6} ELSE {0} * {7} END",
        real, number(static_cast<double>(range.lower) * step),
        number(static_cast<double>(range.lower)), number(static_cast<double>(range.upper) * step),
        number(static_cast<double>(range.upper)), number(step / 4), number(0), number(1 / step));
    steps = fmt::format(
        "CAST(TRUNC({0}) AS BIGINT) + CASE WHEN ({0}) - TRUNC({0}) >= 0.5 THEN 1 WHEN ({0}) - "
        "TRUNC({0}) <= -0.5 THEN -1 ELSE 0 END",
        scaled);
  }
  return nulls ? steps : fmt::format("COALESCE({}, {})", steps, range.middle());
}

std::string key_output(const std::string& column, KeyType type) {
  switch (type) {
    case KeyType::boolean:
      return fmt::format("CAST({} AS INTEGER)", column);
    case KeyType::date:
      return fmt::format("{} - DATE '1970-01-01'", column);
    case KeyType::timestamp:
      return fmt::format("CAST(EXTRACT(EPOCH FROM {}) * 1000000 AS BIGINT)", column);
    case KeyType::integer:
    case KeyType::real:
    case KeyType::text:
      break;
  }
  return column;
}

void append_key_part(std::string& bytes, std::string_view text, KeyType type) {
  if (type == KeyType::text) {
    append_text(bytes, text);
  } else if (type == KeyType::real) {
    append_word(bytes, real_word(parsed<double>(text)));
  } else {
    append_word(bytes, static_cast<std::uint64_t>(parsed<std::int64_t>(text)));
  }
}

}  // namespace shoal::engine
