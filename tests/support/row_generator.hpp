// Random expressions over the columns of people_scope, as text, of a wanted kind. Most are accepted
// by the checker; some compare with what folds to NULL, and are refused.
#pragma once

#include "plan/row_type.hpp"
#include "support/seeded_source.hpp"

#include <initializer_list>
#include <string>
#include <vector>

namespace shoal::test {

class RowGenerator {
 public:
  // With an engine there are regular expressions too.
  RowGenerator(std::uint64_t seed, bool engine) : bits_(seed), engine_(engine) {}

  std::string expression(plan::ValueKind kind, int depth) {
    using plan::ValueKind;
    switch (kind) {
      case ValueKind::number:
        return number(depth);
      case ValueKind::text:
        return text(depth);
      case ValueKind::boolean:
        return truth(depth);
      case ValueKind::date:
        return date(depth);
      case ValueKind::timestamp:
        break;
    }
    return timestamp(depth);
  }

  plan::ValueKind kind() { return static_cast<plan::ValueKind>(below(5)); }

  std::uint64_t below(std::uint64_t limit) { return bits_.next_bits(48) % limit; }

 private:
  std::string pick(std::initializer_list<const char*> choices) {
    return *(choices.begin() + below(choices.size()));
  }

  static std::string call(const std::string& name, std::initializer_list<std::string> arguments) {
    std::string result = name + "(";
    bool first = true;
    for (const std::string& argument : arguments) {
      result += (first ? "" : ", ") + argument;
      first = false;
    }
    return result + ")";
  }

  // What any kind can stand in.
  std::string chosen(plan::ValueKind kind, int depth) {
    const auto part = [&] { return expression(kind, depth - 1); };
    switch (below(6)) {
      case 0:
        return call("COALESCE", {part(), part()});
      case 1:
        return call("NULLIF", {part(), part()});
      case 2:
        return call("IF", {truth(depth - 1), part(), part()});
      case 3:
        return "CASE WHEN " + truth(depth - 1) + " THEN " + part() + " WHEN " + truth(depth - 1) +
               " THEN " + part() + (below(2) == 0 ? " ELSE " + part() : "") + " END";
      case 4: {
        const plan::ValueKind by = this->kind();
        return "CASE " + expression(by, depth - 1) + " WHEN " + expression(by, depth - 1) +
               " THEN " + part() + " ELSE " + part() + " END";
      }
      default:
        return call(pick({"GREATEST", "LEAST"}), {part(), part(), part()});
    }
  }

  std::string number(int depth) {
    if (depth <= 0) {
      return pick({"age", "age", "income", "income", "big", "ratio", "0", "1", "2", "-3", "0.5",
                   "10", "100", "1e300", "CAST(NULL AS DOUBLE)"});
    }
    const auto one = [&] { return number(depth - 1); };
    switch (below(14)) {
      case 0:
      case 1:
      case 2:
        return "(" + one() + pick({" + ", " - ", " * ", " / ", " % "}) + one() + ")";
      case 3:
        return "(- " + one() + ")";
      case 4:
      case 5:
        return call(pick({"ABS", "SIGN", "FLOOR", "CEIL", "TRUNC", "ROUND"}), {one()});
      case 6:
        return call(pick({"LN", "LOG10", "LOG2", "EXP", "SQRT"}), {one()});
      case 7:
        return call("ROUND", {one(), pick({"-2", "0", "1", "3", "15"})});
      case 8:
        return call("POWER", {one(), pick({"2", "3", "0.5", "-1", "age"})});
      case 9:
        return "CAST(" + one() + " AS " +
               pick({"BIGINT", "INTEGER", "SMALLINT", "DOUBLE", "DECIMAL(10, 2)"}) + ")";
      case 10:
        return "CAST(" + (below(2) == 0 ? text(depth - 1) : truth(depth - 1)) + " AS " +
               pick({"BIGINT", "DOUBLE", "INTEGER"}) + ")";
      case 11:
        return call("LENGTH", {text(depth - 1)});
      case 12:
        switch (below(3)) {
          case 0:
            return call(pick({"YEAR", "MONTH", "DAY", "QUARTER", "DAYOFWEEK"}), {date(depth - 1)});
          case 1:
            return call(pick({"HOUR", "MINUTE", "SECOND", "DAYOFYEAR"}), {timestamp(depth - 1)});
          default:
            return call("DATE_DIFF", {"'day'", date(depth - 1), timestamp(depth - 1)});
        }
      default:
        return chosen(plan::ValueKind::number, depth);
    }
  }

  std::string text(int depth) {
    if (depth <= 0) return pick({"city", "name", "name", "'Paris'", "''", "'a'", "'12'", "'中'"});
    const auto one = [&] { return text(depth - 1); };
    switch (below(9)) {
      case 0:
        return call(pick({"LOWER", "UPPER", "TRIM", "LTRIM", "RTRIM"}), {one()});
      case 1:
        return call("SUBSTR", {one(), pick({"1", "2", "5"}), pick({"0", "1", "3", "1000"})});
      case 2:
        return call(pick({"LEFT", "RIGHT"}), {one(), pick({"0", "1", "4"})});
      case 3:
        return call("REPLACE",
                    {one(), pick({"'a'", "'is'", "' '", "''"}), pick({"''", "'x'", "'aaa'"})});
      case 4:
        return "(" + one() + " || " + one() + ")";
      case 5:
        return call("CONCAT", {one(), one(), one()});
      case 6:
        return "CAST(CAST(" + number(depth - 1) + " AS BIGINT) AS VARCHAR)";
      case 7:
        return "CAST(" + (below(2) == 0 ? truth(depth - 1) : date(depth - 1)) + " AS VARCHAR)";
      default:
        return chosen(plan::ValueKind::text, depth);
    }
  }

  std::string truth(int depth) {
    if (depth <= 0)
      return pick({"married", "(age > 40)", "(city = 'Rome')", "TRUE", "(birth IS NULL)"});
    const plan::ValueKind of = kind();
    const auto one = [&] { return expression(of, depth - 1); };
    switch (below(11)) {
      case 0:
      case 1:
        return "(" + one() + pick({" = ", " <> ", " < ", " <= ", " > ", " >= "}) + one() + ")";
      case 2:
        return "(" + truth(depth - 1) + pick({" AND ", " OR "}) + truth(depth - 1) + ")";
      case 3:
        return "(NOT " + truth(depth - 1) + ")";
      case 4:
        return "(" + one() + pick({" IS NULL", " IS NOT NULL"}) + ")";
      case 5:
        return "(" + one() + pick({" BETWEEN ", " NOT BETWEEN "}) + one() + " AND " + one() + ")";
      case 6:
        return "(" + one() + pick({" IN (", " NOT IN ("}) + one() + ", " + one() + "))";
      case 7:
        return "(" + text(depth - 1) + pick({" LIKE ", " NOT LIKE "}) +
               pick({"'%a%'", "'_'", "'P%s'", "''", "'%'"}) + ")";
      case 8:
        return call(pick({"STARTS_WITH", "ENDS_WITH", "CONTAINS"}), {text(depth - 1), text(0)});
      case 9:
        if (engine_)
          return call("REGEXP_MATCHES", {text(depth - 1), pick({"'^a+'", "'[0-9]{2}'"})});
        return "CAST(" + text(depth - 1) + " AS BOOLEAN)";
      default:
        return chosen(plan::ValueKind::boolean, depth);
    }
  }

  std::string date(int depth) {
    if (depth <= 0) return pick({"birth", "birth", "DATE '2000-02-29'", "DATE '1999-12-31'"});
    switch (below(4)) {
      case 0:
        return call("DATE_TRUNC",
                    {pick({"'year'", "'quarter'", "'month'", "'week'", "'day'"}), date(depth - 1)});
      case 1:
        return "CAST(" + timestamp(depth - 1) + " AS DATE)";
      case 2:
        return "CAST(" + text(depth - 1) + " AS DATE)";
      default:
        return chosen(plan::ValueKind::date, depth);
    }
  }

  std::string timestamp(int depth) {
    if (depth <= 0) return pick({"seen", "seen", "TIMESTAMP '2000-02-29 12:30:00'"});
    switch (below(3)) {
      case 0:
        return call("DATE_TRUNC", {pick({"'year'", "'month'", "'week'", "'hour'", "'minute'"}),
                                   timestamp(depth - 1)});
      case 1:
        return "CAST(" + date(depth - 1) + " AS TIMESTAMP)";
      default:
        return chosen(plan::ValueKind::timestamp, depth);
    }
  }

  SeededSource bits_;
  bool engine_;
};

}  // namespace shoal::test
