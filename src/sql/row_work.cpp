#include "sql/row_work.hpp"

#include <shoal/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::sql {
namespace {

// As the guards of CONCAT and REPLACE have it.
constexpr double kMaxGrowing = 10'000;
// A number or a date as text.
constexpr double kWrittenValue = 30;

double characters(const std::string& text) {
  return static_cast<double>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

// Of a literal, also inside a CAST; none is more than any text has.
double constant_count(const Expression& expression) {
  const Cast* cast = expression.get_if<Cast>();
  const Literal* literal = (cast != nullptr ? cast->operand : expression).get_if<Literal>();
  if (literal == nullptr || literal->kind != LiteralKind::integer) return 1e9;
  return std::strtod(literal->text.c_str(), nullptr);
}

bool is_concatenation(const Expression& expression) {
  const Binary* binary = expression.get_if<Binary>();
  return binary != nullptr && binary->operation == BinaryOperator::concatenate;
}

// A search may begin again at every character of the first.
bool searches(const Call& call) {
  return call.name == "CONTAINS" || call.name == "STRPOS" || call.name == "REPLACE" ||
         call.name.starts_with("REGEXP_");
}

constexpr auto kReaders = std::to_array<std::string_view>(
    {"LENGTH", "LOWER", "UPPER", "TRIM", "LTRIM", "RTRIM", "BTRIM", "SUBSTR", "LEFT", "RIGHT",
     "STARTS_WITH", "STARTSWITH", "ENDS_WITH", "ENDSWITH"});

// A comparison ends with the shorter text.
double compared(const std::vector<double>& lengths) {
  double steps = 0;
  for (std::size_t i = 1; i < lengths.size(); ++i) steps += std::min(lengths[0], lengths[i]);
  return steps;
}

// Numbers have no length here, but a column of them cannot be told from one of texts: what only
// numbers go through takes nothing.
double steps_of(const Expression& expression, const std::vector<double>& lengths) {
  const double all = std::accumulate(lengths.begin(), lengths.end(), 0.0);
  const Call* call = expression.get_if<Call>();
  const bool search = expression.get_if<Like>() != nullptr || (call != nullptr && searches(*call));
  if (search && lengths.size() >= 2) return lengths[0] * std::max(lengths[1], 1.0);
  if (call != nullptr) {
    return std::find(kReaders.begin(), kReaders.end(), call->name) != kReaders.end() ? all : 0;
  }
  if (const Binary* binary = expression.get_if<Binary>()) {
    if (binary->operation == BinaryOperator::concatenate) return all;
    const bool compares = binary->operation >= BinaryOperator::equal &&
                          binary->operation <= BinaryOperator::greater_equal;
    return compares ? compared(lengths) : 0;
  }
  const bool compares =
      expression.get_if<InList>() != nullptr || expression.get_if<Between>() != nullptr;
  return compares ? compared(lengths) : 0;
}

double longest_call(const Call& call, const std::vector<double>& lengths) {
  if (lengths.empty() || call.name == "LENGTH") return 0;
  if (call.name == "REPLACE" && lengths.size() == 3) {
    const double from = std::min(lengths[0], kMaxGrowing);
    return std::max(from, from / std::max(lengths[1], 1.0) * lengths[2]);
  }
  if (call.name == "SUBSTR" && lengths.size() == 3) {
    return std::min(lengths[0], constant_count(call.arguments[2]));
  }
  if (call.name == "LEFT" || call.name == "RIGHT") {
    return std::min(lengths[0], constant_count(call.arguments[1]));
  }
  return *std::max_element(lengths.begin(), lengths.end());
}

double longest_of(const Expression& expression, const std::vector<Expression>& parts,
                  const std::vector<double>& lengths) {
  if (const Call* call = expression.get_if<Call>()) return longest_call(*call, lengths);
  if (const Cast* cast = expression.get_if<Cast>()) {
    return cast->type.type == ScalarType::varchar ? std::max(lengths[0], kWrittenValue) : 0;
  }
  if (is_concatenation(expression)) {
    double sum = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      sum += is_concatenation(parts[i]) ? lengths[i] : std::min(lengths[i], kMaxGrowing);
    }
    return sum;
  }
  // One of the values; that the conditions are no texts of their own only makes it less.
  const bool value = expression.get_if<Case>() != nullptr;
  return value && !lengths.empty() ? *std::max_element(lengths.begin(), lengths.end()) : 0;
}

}  // namespace

RowWork::Cost RowWork::cost(const Expression& expression, Known& known) const {
  if (expression.get_if<ColumnReference>() != nullptr) return {0, column};
  if (const Literal* literal = expression.get_if<Literal>()) {
    return {0, literal->kind == LiteralKind::string ? characters(literal->text) : 0};
  }
  const auto found = known.find(&expression.node());
  if (found != known.end()) return found->second;
  const std::vector<Expression> parts = children(expression);
  std::vector<double> lengths;
  double steps = 0;
  for (const Expression& part : parts) {
    const Cost one = cost(part, known);
    lengths.push_back(one.longest);
    steps += one.steps;
  }
  const Cost all{steps + steps_of(expression, lengths), longest_of(expression, parts, lengths)};
  known.emplace(&expression.node(), all);
  return all;
}

double RowWork::add(const Expression& expression) {
  Known known;
  const Cost one = cost(expression, known);
  steps_ += one.steps;
  if (steps_ <= kMaxRowSteps) return one.longest;
  throw Error(ErrorCode::unsupported,
              fmt::format("the texts of one row could take {:.3g} steps, more than {:.0f}, so that "
                          "the time would tell of the row; use shorter constants, or fewer text "
                          "functions inside of one another",
                          steps_, kMaxRowSteps));
}

}  // namespace shoal::sql
