// Evaluation in memory: what NULL does in each operation, texts by characters, and dates.
#include "plan/row_evaluate.hpp"

#include "plan/row_text.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace shoal::plan {
namespace {

const Value kNull;
const Value kTrue = true;
const Value kFalse = false;

Value apply(Operation operation, const std::vector<Value>& arguments, bool negated = false) {
  RowNode node;
  node.operation = operation;
  node.negated = negated;
  return evaluate(node, arguments);
}

Value written(const char* text) { return std::string(text); }

TEST(RowEvaluate, LogicHasThreeValues) {
  EXPECT_EQ(apply(Operation::logical_and, {kTrue, kNull}), kNull);
  EXPECT_EQ(apply(Operation::logical_and, {kFalse, kNull}), kFalse);
  EXPECT_EQ(apply(Operation::logical_or, {kTrue, kNull}), kTrue);
  EXPECT_EQ(apply(Operation::logical_or, {kFalse, kNull}), kNull);
  EXPECT_EQ(apply(Operation::logical_not, {kNull}), kNull);
  EXPECT_EQ(apply(Operation::is_null, {kNull}), kTrue);
  EXPECT_EQ(apply(Operation::is_null, {kNull}, true), kFalse);
  EXPECT_EQ(apply(Operation::in_list, {1.0, 2.0, kNull}), kNull);
  EXPECT_EQ(apply(Operation::in_list, {1.0, 1.0, kNull}), kTrue);
  EXPECT_EQ(apply(Operation::in_list, {1.0, 2.0, 3.0}, true), kTrue);
  EXPECT_EQ(apply(Operation::in_list, {kNull, 2.0}), kNull);
  EXPECT_EQ(apply(Operation::between, {1.0, kNull, 0.0}), kFalse);
  EXPECT_EQ(apply(Operation::between, {1.0, kNull, 2.0}), kNull);
  EXPECT_EQ(apply(Operation::between, {1.0, 0.0, 2.0}, true), kFalse);
}

TEST(RowEvaluate, ChoicesSkipNulls) {
  EXPECT_EQ(apply(Operation::choose, {kNull, 1.0, kTrue, 2.0, 3.0}), Value(2.0));
  EXPECT_EQ(apply(Operation::choose, {kNull, 1.0, kFalse, 2.0, 3.0}), Value(3.0));
  EXPECT_EQ(apply(Operation::choose_by, {kNull, kNull, 1.0, 2.0}), Value(2.0));
  EXPECT_EQ(apply(Operation::choose_by, {5.0, 5.0, 1.0, 2.0}), Value(1.0));
  EXPECT_EQ(apply(Operation::coalesce, {kNull, 4.0, 5.0}), Value(4.0));
  EXPECT_EQ(apply(Operation::coalesce, {kNull, kNull}), kNull);
  EXPECT_EQ(apply(Operation::null_if, {4.0, 4.0}), kNull);
  EXPECT_EQ(apply(Operation::null_if, {4.0, kNull}), Value(4.0));
  EXPECT_EQ(apply(Operation::greatest, {4.0, kNull}), kNull);
  EXPECT_EQ(apply(Operation::least, {4.0, 3.0, 5.0}), Value(3.0));
}

TEST(RowEvaluate, WhatHasNoFiniteResultIsNull) {
  EXPECT_EQ(apply(Operation::divide, {1.0, 0.0}), kNull);
  EXPECT_EQ(apply(Operation::modulo, {1.0, 0.0}), kNull);
  EXPECT_EQ(apply(Operation::modulo, {-5.5, 2.0}), Value(-1.5));
  EXPECT_EQ(apply(Operation::add, {1e308, 1e308}), kNull);
  EXPECT_EQ(apply(Operation::multiply, {1e200, -1e200}), kNull);
  EXPECT_EQ(apply(Operation::natural_log, {0.0}), kNull);
  EXPECT_EQ(apply(Operation::square_root, {-1.0}), kNull);
  EXPECT_EQ(apply(Operation::exponential, {710.0}), kNull);
  EXPECT_EQ(apply(Operation::exponential, {-701.0}), Value(0.0));
  EXPECT_EQ(apply(Operation::power, {0.0, -1.0}), kNull);
  EXPECT_EQ(apply(Operation::power, {0.0, 0.0}), Value(1.0));
  EXPECT_EQ(apply(Operation::power, {-8.0, 0.5}), kNull);
  EXPECT_EQ(apply(Operation::power, {-2.0, 3.0}), Value(-8.0));
  EXPECT_EQ(apply(Operation::power, {10.0, 400.0}), kNull);
  EXPECT_EQ(apply(Operation::power, {10.0, -400.0}), Value(0.0));
  EXPECT_EQ(apply(Operation::round, {2.5}), Value(3.0));
  EXPECT_EQ(apply(Operation::round, {1234.0, -2.0}), Value(1200.0));
  EXPECT_EQ(apply(Operation::round, {1e17, 3.0}), Value(1e17));
}

TEST(RowEvaluate, TextsAreCountedInCharacters) {
  EXPECT_EQ(character_count("h\xC3\xA9llo"), 5u);
  EXPECT_EQ(substring("h\xC3\xA9llo", 2, 2), "\xC3\xA9l");
  EXPECT_EQ(substring("abc", 5, 2), "");
  EXPECT_EQ(last_characters("h\xC3\xA9", 1), "\xC3\xA9");
  EXPECT_EQ(last_characters("ab", 5), "ab");
  EXPECT_EQ(replace_all("aaa", "aa", "b"), "ba");
  EXPECT_EQ(replace_all("abc", "", "x"), "abc");
  EXPECT_EQ(trim("  a ", true, false), "a ");
  EXPECT_TRUE(is_like("San Jos\xC3\xA9", "San%_"));
  EXPECT_TRUE(is_like("\xC3\xA9", "_"));
  EXPECT_TRUE(is_like("aXbXc", "a%X%c"));
  EXPECT_TRUE(is_like("aab", "%ab"));
  EXPECT_TRUE(is_like("\xC3\xA9x\xC3\xA9y", "%_y"));
  EXPECT_FALSE(is_like("\xC3\xA9", "%__"));
  EXPECT_FALSE(is_like("abc", "a_"));
  EXPECT_FALSE(is_like("abc", "ABC"));
}

// Nothing grows without limit.
TEST(RowEvaluate, LongTextsDoNotGrow) {
  const Value longest = std::string(10'000, 'x');
  const Value longer = std::string(10'001, 'x');
  EXPECT_FALSE(is_null(apply(Operation::concatenate, {longest, longest})));
  EXPECT_TRUE(is_null(apply(Operation::concatenate, {longest, longer})));
  EXPECT_FALSE(is_null(apply(Operation::replace, {longest, written("x"), written("yy")})));
  EXPECT_TRUE(is_null(apply(Operation::replace, {longer, written("x"), written("")})));
}

TEST(RowEvaluate, Dates) {
  EXPECT_EQ(extract_field("dow", "2024-01-07"), 0);
  EXPECT_EQ(extract_field("doy", "2024-12-31"), 366);
  EXPECT_EQ(extract_field("quarter", "2024-03-31"), 1);
  EXPECT_EQ(extract_field("quarter", "2024-04-01"), 2);
  EXPECT_EQ(extract_field("hour", "2024-04-01 23:59:58"), 23);
  EXPECT_EQ(extract_field("second", "2024-04-01 23:59:58.25"), 58);
  EXPECT_EQ(extract_field("month", "2024-13-01"), std::nullopt);
  EXPECT_EQ(truncate_date("week", "2024-01-07"), "2024-01-01");
  EXPECT_EQ(truncate_date("week", "2024-01-08 10:00:00"), "2024-01-08 00:00:00");
  EXPECT_EQ(truncate_date("quarter", "2024-12-31"), "2024-10-01");
  EXPECT_EQ(truncate_date("minute", "2024-12-31 23:59:58"), "2024-12-31 23:59:00");
  EXPECT_EQ(days_between("2024-02-28", "2024-03-01"), 2);
  EXPECT_EQ(days_between("2024-03-01", "2023-03-01"), -366);
}

TEST(RowEvaluate, KeysReadBack) {
  EXPECT_EQ(key_text(Value(-0.0)), "0");
  EXPECT_EQ(key_text(Value(30.0)), "30");
  EXPECT_EQ(key_text(kNull), std::nullopt);
  EXPECT_EQ(value_of_key("30", ValueKind::number), Value(30.0));
  EXPECT_EQ(value_of_key("nan", ValueKind::number), kNull);
  EXPECT_EQ(value_of_key("1x", ValueKind::number), kNull);
  EXPECT_EQ(value_of_key("TRUE", ValueKind::boolean), kNull);
  EXPECT_EQ(value_of_key("2024-01-31T10:00:00.500", ValueKind::timestamp),
            written("2024-01-31 10:00:00.5"));
  EXPECT_EQ(value_of_key("2024-01-31", ValueKind::timestamp), written("2024-01-31 00:00:00"));
  EXPECT_EQ(value_of_key("2024-02-30", ValueKind::date), kNull);
}

}  // namespace
}  // namespace shoal::plan
