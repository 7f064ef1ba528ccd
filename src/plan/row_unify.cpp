// The kinds that values must have where they stand, and how one bends to another: a text in quotes
// is a date beside a date, a date is its midnight beside a timestamp, NULL is anything.
#include "plan/row_build.hpp"
#include "plan/row_checker.hpp"

#include <shoal/base/text.hpp>
#include <shoal/sql/calendar.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace shoal::plan {

using sql::Position;

namespace {

bool is_dated(ValueKind kind) { return kind == ValueKind::date || kind == ValueKind::timestamp; }

bool is_null_constant(const RowNode& node) { return node.constant && is_null(*node.constant); }

// What to write so that a node of this kind becomes one of the wanted kind.
std::string_view remedy(const RowNode& node, ValueKind wanted) {
  const bool constant = node.constant.has_value();
  if (wanted == ValueKind::text) return constant ? "put it in quotes" : "write CAST(x AS VARCHAR)";
  if (wanted == ValueKind::number && node.kind == ValueKind::text) {
    return constant ? "leave the quotes out" : "write CAST(x AS DOUBLE) if it holds numbers";
  }
  if (wanted == ValueKind::number && node.kind == ValueKind::boolean) {
    return "write CAST(x AS BIGINT), which is 1 or 0";
  }
  if (is_dated(wanted) && node.kind == ValueKind::text) return "write CAST(x AS DATE)";
  if (wanted == ValueKind::boolean) return "write a comparison, such as x > 0";
  return "write a value of the same type";
}

}  // namespace

RowNodePointer RowChecker::dated(const std::string& written, ValueKind kind, Position at) const {
  const bool day = kind == ValueKind::date;
  if (day ? !sql::is_date(written) : !sql::is_timestamp(written)) {
    refuse(at, ErrorCode::invalid_argument,
           fmt::format("'{}' is no {}; write {}", printable(written, 40),
                       day ? "date" : "timestamp", day ? "'2024-01-31'" : "'2024-01-31 23:59:59'"));
  }
  return make_constant(day ? written : canonical_timestamp(written), kind, at);
}

RowNodePointer RowChecker::bent(RowNodePointer node, ValueKind wanted,
                                std::string_view purpose) const {
  if (node->untyped) return make_null(wanted, false, node->position);
  if (node->kind == wanted) return node;
  const bool quoted = node->kind == ValueKind::text && node->constant && !is_null_constant(*node);
  if (is_dated(wanted) && quoted) {
    return dated(std::get<std::string>(*node->constant), wanted, node->position);
  }
  if (wanted == ValueKind::timestamp && node->kind == ValueKind::date) {
    const Position at = node->position;
    return convert(std::move(node), wanted, at);
  }
  refuse(node->position, ErrorCode::invalid_argument,
         fmt::format("found {} where {} is needed {}; {}", in_words(node->kind), in_words(wanted),
                     purpose, remedy(*node, wanted)));
}

// Columns decide before constants, and constants in quotes decide last.
ValueKind RowChecker::common_kind(const Nodes& nodes) const {
  const RowNode* decides = nullptr;
  const auto rank = [](const RowNode& node) {
    if (!node.constant) return 2;
    return node.kind == ValueKind::text ? 0 : 1;
  };
  bool timestamp = false;
  for (const RowNodePointer& node : nodes) {
    if (node->untyped) continue;
    timestamp = timestamp || node->kind == ValueKind::timestamp;
    if (decides == nullptr || rank(*node) > rank(*decides)) decides = node.get();
  }
  if (decides == nullptr) {
    refuse(nodes.front()->position, ErrorCode::invalid_argument,
           "NULL alone has no type; write for example CAST(NULL AS DOUBLE)");
  }
  return decides->kind == ValueKind::date && timestamp ? ValueKind::timestamp : decides->kind;
}

RowChecker::Nodes RowChecker::unify(Nodes nodes, std::string_view purpose) const {
  const ValueKind wanted = common_kind(nodes);
  for (RowNodePointer& node : nodes) node = bent(std::move(node), wanted, purpose);
  if (wanted != ValueKind::number) return nodes;
  const bool whole = std::all_of(nodes.begin(), nodes.end(), [](const RowNodePointer& node) {
    return node->whole || is_null_constant(*node);
  });
  for (RowNodePointer& node : nodes) {
    if (is_null_constant(*node)) {
      node = make_null(wanted, whole, node->position);
    } else if (!whole) {
      node = to_real(std::move(node));
    }
  }
  return nodes;
}

RowChecker::Nodes RowChecker::comparable(Nodes nodes) const {
  for (const RowNodePointer& node : nodes) {
    if (is_null_constant(*node)) {
      refuse(node->position, ErrorCode::invalid_argument,
             "a comparison with NULL is never true; write IS NULL or IS NOT NULL");
    }
  }
  return unify(std::move(nodes), "to compare");
}

RowNodePointer RowChecker::truth(RowNodePointer node) const {
  if (node->untyped) return make_null(ValueKind::boolean, false, node->position);
  if (node->kind != ValueKind::boolean) {
    refuse(node->position, ErrorCode::invalid_argument,
           fmt::format("expected a condition but found {}; write a comparison, such as age >= 18",
                       in_words(node->kind)));
  }
  return node;
}

RowNodePointer RowChecker::number(RowNodePointer node, std::string_view where) const {
  if (is_dated(node->kind) && !node->untyped) {
    refuse(node->position, ErrorCode::unsupported,
           fmt::format("found {} where a number is needed {}; write DATE_DIFF('day', first, last) "
                       "for the days between two dates",
                       in_words(node->kind), where));
  }
  return bent(std::move(node), ValueKind::number, where);
}

RowNodePointer RowChecker::text_value(RowNodePointer node, std::string_view where) const {
  return bent(std::move(node), ValueKind::text, where);
}

RowNodePointer RowChecker::dated_value(RowNodePointer node, std::string_view where) const {
  if (is_dated(node->kind) && !node->untyped) return node;
  const std::string* quoted = node->constant ? std::get_if<std::string>(&*node->constant) : nullptr;
  const bool has_time = quoted != nullptr && !sql::is_date(*quoted) && sql::is_timestamp(*quoted);
  return bent(std::move(node), has_time ? ValueKind::timestamp : ValueKind::date, where);
}

double RowChecker::whole_constant(const RowNodePointer& node, double least, double most,
                                  std::string_view where) const {
  const double* number = node->constant ? std::get_if<double>(&*node->constant) : nullptr;
  if (number == nullptr || !node->whole || *number < least || *number > most) {
    refuse(node->position, ErrorCode::invalid_argument,
           fmt::format("{} must be a whole number from {} to {}, written out", where,
                       format_number(least), format_number(most)));
  }
  return *number;
}

const std::string& RowChecker::text_constant(const RowNodePointer& node,
                                             std::string_view where) const {
  const std::string* written =
      node->constant ? std::get_if<std::string>(&*node->constant) : nullptr;
  if (written == nullptr || node->kind != ValueKind::text) {
    refuse(node->position, ErrorCode::invalid_argument,
           fmt::format("{} must be a text in quotes, written out", where));
  }
  return *written;
}

}  // namespace shoal::plan
