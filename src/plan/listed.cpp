#include "plan/row_type.hpp"

#include <shoal/base/text.hpp>
#include <shoal/plan/listed.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace shoal::plan {
namespace {

using catalog::ColumnType;

constexpr std::size_t kShownValues = 3;
constexpr std::size_t kShownCharacters = 60;

ValueKind kind_of(ColumnType type) {
  const auto known = type_of(catalog::Column{.type = type});
  return known ? known->kind : ValueKind::text;
}

std::string shown(std::string_view value, ColumnType type) {
  const std::string text = printable(value, kShownCharacters);
  return catalog::is_numeric(type) || type == ColumnType::boolean ? text
                                                                  : fmt::format("'{}'", text);
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

double number_of(std::string_view text) {
  const Value value = value_of_key(text, ValueKind::number);
  const double* number = std::get_if<double>(&value);
  return number == nullptr ? HUGE_VAL : *number;
}

std::vector<std::string> near_numbers(double number, std::vector<std::string> listed) {
  const auto distance = [&](const std::string& one) { return std::fabs(number_of(one) - number); };
  std::stable_sort(listed.begin(), listed.end(),
                   [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  listed.resize(kShownValues);
  return listed;
}

// All listed values, if they are few, or else those that may be meant.
std::string suggestion(std::string_view literal, ColumnType type, std::vector<std::string> listed) {
  std::string_view are = listed.size() == 1 ? "which is" : "which are";
  if (listed.size() > kShownValues) {
    std::vector<std::string> near = catalog::is_numeric(type)
                                        ? near_numbers(number_of(literal), listed)
                                        : near_texts(literal, listed);
    are = near.empty()       ? "such as"
          : near.size() == 1 ? "of which the nearest is"
                             : "of which the nearest are";
    if (near.empty()) near.assign(listed.begin(), listed.begin() + kShownValues);
    listed = std::move(near);
  }
  for (std::string& one : listed) one = shown(one, type);
  return fmt::format("{} {}", are, join_names(listed));
}

}  // namespace

std::vector<std::string> listed_values(const catalog::Column& column) {
  const auto type = type_of(column);
  return type && type->values ? *type->values : std::vector<std::string>{};
}

bool is_listed(std::string_view literal, ColumnType type, const std::vector<std::string>& listed) {
  const ValueKind kind = kind_of(type);
  const Value value = value_of_key(literal, kind);
  return std::any_of(listed.begin(), listed.end(), [&](const std::string& one) {
    return one == literal || (!is_null(value) && value_of_key(one, kind) == value);
  });
}

std::string why_not_listed(std::string_view literal, ColumnType type,
                           std::vector<std::string> listed, std::string_view compared_with) {
  return fmt::format("{} is not among the public values of {}, {}; the answer would be noise alone",
                     shown(literal, type), printable(compared_with, kShownCharacters),
                     suggestion(literal, type, std::move(listed)));
}

}  // namespace shoal::plan
