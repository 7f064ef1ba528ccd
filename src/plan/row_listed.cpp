// Literals compared with a value of which the policy lists all there are. One that is not listed is
// refused: the answer would be noise around nobody, for the full price.
#include "plan/row_checker.hpp"
#include "plan/row_describe.hpp"

#include <shoal/base/text.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::plan {
namespace {

constexpr std::size_t kShownValues = 3;
constexpr std::size_t kShownCharacters = 60;

bool is_listed(const RowNode& literal, const std::vector<std::string>& listed) {
  const std::string written = constant_text(literal);
  return std::any_of(listed.begin(), listed.end(), [&](const std::string& one) {
    return one == written || value_of_key(one, literal.kind) == *literal.constant;
  });
}

std::string shown(const std::string& value, ValueKind kind) {
  const std::string text = printable(value, kShownCharacters);
  return kind == ValueKind::number || kind == ValueKind::boolean ? text : fmt::format("'{}'", text);
}

std::string_view without_blanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Those near enough to be meant, the nearest first, blanks around and letters in another case being
// as near as can be.
std::vector<std::string> near_texts(std::string_view text, std::vector<std::string> listed) {
  std::vector<std::string> bare;
  for (const std::string& one : listed) bare.emplace_back(without_blanks(one));
  std::vector<std::string> near;
  while (near.size() < kShownValues) {
    const auto meant = nearest_name(without_blanks(text), bare);
    if (!meant) break;
    const auto at = std::find(bare.begin(), bare.end(), *meant) - bare.begin();
    near.push_back(listed[static_cast<std::size_t>(at)]);
    bare.erase(bare.begin() + at);
    listed.erase(listed.begin() + at);
  }
  return near;
}

std::vector<std::string> near_numbers(double number, std::vector<std::string> listed) {
  const auto distance = [&](const std::string& one) {
    const Value value = value_of_key(one, ValueKind::number);
    const double* other = std::get_if<double>(&value);
    return other == nullptr ? HUGE_VAL : std::fabs(*other - number);
  };
  std::stable_sort(listed.begin(), listed.end(),
                   [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  listed.resize(kShownValues);
  return listed;
}

// All listed values, if they are few, or else those that may be meant.
std::string suggestion(const RowNode& literal, std::vector<std::string> listed) {
  std::string_view are = "which are";
  if (listed.size() > kShownValues) {
    const double* number = std::get_if<double>(&*literal.constant);
    std::vector<std::string> near =
        number ? near_numbers(*number, listed) : near_texts(constant_text(literal), listed);
    are = near.empty() ? "such as" : "of which the nearest is";
    if (near.size() > 1) are = "of which the nearest are";
    if (near.empty()) near.assign(listed.begin(), listed.begin() + kShownValues);
    listed = std::move(near);
  }
  for (std::string& one : listed) one = shown(one, literal.kind);
  return fmt::format("{} {}", listed.size() == 1 && are == "which are" ? "which is" : are,
                     join_names(listed));
}

std::string in_words(const sql::Expression& tested) {
  const auto* reference = tested.get_if<sql::ColumnReference>();
  return printable(
      reference != nullptr ? reference->column.name : sql::print(tested, sql::Dialect::shoal),
      kShownCharacters);
}

}  // namespace

void RowChecker::require_listed(const RowNode& tested, const RowNode& literal,
                                const sql::Expression& written) const {
  if (tested.constant || !tested.values || tested.values->empty()) return;
  if (!literal.constant || is_null(*literal.constant) || is_listed(literal, *tested.values)) return;
  refuse(literal.position, ErrorCode::invalid_argument,
         fmt::format("{} is not among the public values of {}, {}; the answer would be noise alone",
                     shown(constant_text(literal), literal.kind), in_words(written),
                     suggestion(literal, *tested.values)));
}

}  // namespace shoal::plan
