#include "sql/refusals.hpp"

#include <array>
#include <cstddef>

namespace shoal::sql {
namespace {

struct Refusal {
  std::string_view word;
  std::string_view message;
};

template <std::size_t Size>
std::string_view find(const std::array<Refusal, Size>& refusals, std::string_view upper) {
  for (const Refusal& refusal : refusals) {
    if (refusal.word == upper) return refusal.message;
  }
  return {};
}

constexpr std::string_view kOnlySelect =
    "only SELECT is supported; write for example SELECT COUNT(*) FROM people";

constexpr auto kStatements = std::to_array<std::string_view>(
    {"ALTER",   "ANALYZE",  "ATTACH", "BEGIN",  "CALL",     "CHECKPOINT", "COMMIT",
     "COPY",    "CREATE",   "DELETE", "DESC",   "DESCRIBE", "DETACH",     "DROP",
     "EXECUTE", "EXPLAIN",  "EXPORT", "GRANT",  "IMPORT",   "INSERT",     "INSTALL",
     "LOAD",    "MERGE",    "PIVOT",  "PRAGMA", "PREPARE",  "REPLACE",    "RESET",
     "REVOKE",  "ROLLBACK", "SET",    "SHOW",   "START",    "SUMMARIZE",  "TRUNCATE",
     "UNPIVOT", "UPDATE",   "UPSERT", "USE",    "VACUUM",   "VALUES"});

constexpr std::string_view kSetOperation =
    "UNION, EXCEPT and INTERSECT are not supported; send each SELECT as a query of its own, or ask "
    "for both at once with OR in WHERE";
constexpr std::string_view kWindow =
    "window functions are not supported; write an aggregate such as SUM(x) with GROUP BY";
constexpr std::string_view kPivot =
    "PIVOT is not supported; write GROUP BY, or one aggregate for each value, for example COUNT(*) "
    "FILTER (WHERE city = 'Paris')";

constexpr std::array kClauses = {
    Refusal{"FETCH", "FETCH is not supported; write LIMIT 10"},
    Refusal{"UNION", kSetOperation},
    Refusal{"EXCEPT", kSetOperation},
    Refusal{"INTERSECT", kSetOperation},
    Refusal{"WINDOW", kWindow},
    Refusal{"QUALIFY", "QUALIFY is not supported; filter rows with WHERE and groups with HAVING"},
    Refusal{"TABLESAMPLE", "TABLESAMPLE is not supported; leave it out"},
    Refusal{"INTO", "SELECT INTO is not supported; leave INTO out"},
    Refusal{"FOR", "FOR is not supported; leave it out, since a query changes nothing"},
    Refusal{"PIVOT", kPivot},
    Refusal{"UNPIVOT", kPivot},
};

constexpr std::string_view kExists =
    "SEMI and ANTI joins are not supported; write JOIN with SELECT DISTINCT of the key, or LEFT "
    "JOIN and IS NULL";

constexpr std::array kJoins = {
    Refusal{"NATURAL",
            "NATURAL JOIN is not supported, since a new column would change its meaning; write "
            "JOIN ... USING (column)"},
    Refusal{"ASOF", "ASOF JOIN is not supported; write JOIN ... ON with an equality"},
    Refusal{"SEMI", kExists},
    Refusal{"ANTI", kExists},
    Refusal{"POSITIONAL", "POSITIONAL JOIN is not supported; write JOIN ... USING (column)"},
    Refusal{"LATERAL", "LATERAL is not supported; write a JOIN with its condition in ON"},
    Refusal{"PIVOT", kPivot},
    Refusal{"UNPIVOT", kPivot},
};

constexpr std::array kRelations = {
    Refusal{"LATERAL", "LATERAL is not supported; write a JOIN with its condition in ON"},
    Refusal{"VALUES",
            "VALUES is not supported; register the rows as a public table and write its name"},
    Refusal{"TABLE", "TABLE is not supported; write the table's name alone"},
    Refusal{"PIVOT", kPivot},
    Refusal{"UNPIVOT", kPivot},
};

constexpr std::string_view kStar =
    "* with EXCLUDE, EXCEPT, REPLACE or RENAME is not supported; name each column";

constexpr std::string_view kNow =
    "the current time is not supported, since the answer would change with it; write for example "
    "DATE '2024-01-31'";
constexpr std::string_view kUser =
    "the current user is not supported; write a string such as 'alice'";

constexpr std::array kValues = {
    Refusal{"EXISTS", kSubqueryRefusal},
    Refusal{"SELECT", kSubqueryRefusal},
    Refusal{"WITH", kSubqueryRefusal},
    Refusal{"VALUES", kSubqueryRefusal},
    Refusal{"ANY", "ANY is not supported; write for example x IN (1, 2, 3)"},
    Refusal{"SOME", "SOME is not supported; write for example x IN (1, 2, 3)"},
    Refusal{"ALL", "ALL is not supported; write for example x NOT IN (1, 2, 3)"},
    Refusal{"INTERVAL",
            "INTERVAL is not supported; write the date itself, for example DATE '2024-01-31'"},
    Refusal{"ARRAY", "arrays are not supported; write for example x IN (1, 2, 3)"},
    Refusal{"[", "arrays are not supported; write for example x IN (1, 2, 3)"},
    Refusal{"COLUMNS", "COLUMNS is not supported; name each column"},
    Refusal{"CURRENT_DATE", kNow},
    Refusal{"CURRENT_TIME", kNow},
    Refusal{"CURRENT_TIMESTAMP", kNow},
    Refusal{"LOCALTIME", kNow},
    Refusal{"LOCALTIMESTAMP", kNow},
    Refusal{"CURRENT_USER", kUser},
    Refusal{"CURRENT_ROLE", kUser},
    Refusal{"SESSION_USER", kUser},
    Refusal{"USER", kUser},
};

constexpr std::array kOperators = {
    Refusal{"ILIKE", "ILIKE is not supported; write LOWER(x) LIKE 'pattern'"},
    Refusal{"GLOB", "GLOB is not supported; write LIKE with % and _"},
    Refusal{"SIMILAR", "SIMILAR TO is not supported; write LIKE with % and _"},
    Refusal{"OVERLAPS", "OVERLAPS is not supported; compare the ends, for example a < d AND c < b"},
    Refusal{"ISNULL", "ISNULL is not supported; write IS NULL"},
    Refusal{"NOTNULL", "NOTNULL is not supported; write IS NOT NULL"},
    Refusal{"COLLATE", "COLLATE is not supported; write LOWER(x) to compare without case"},
    Refusal{"^", "the operator ^ is not supported; write POWER(x, y)"},
    Refusal{"//", "the operator // is not supported; write FLOOR(x / y)"},
    Refusal{"->", "the operator -> is not supported; name a column"},
    Refusal{"[", "subscripts are not supported; name a column"},
    Refusal{"=>",
            "a named argument stands inside of a function; write for example SUM(x, bounds => "
            "AUTO)"},
};

constexpr std::array kAfterCall = {
    Refusal{"OVER", kWindow},
    Refusal{"EXPORT_STATE", "EXPORT_STATE is not supported; leave it out"},
};

}  // namespace

std::string_view statement_refusal(std::string_view upper) {
  if (upper == "FROM") return "a query that begins with FROM is not supported; begin with SELECT";
  if (upper == "TABLE") return kOnlySelect;
  for (const std::string_view statement : kStatements) {
    if (statement == upper) return kOnlySelect;
  }
  return {};
}

std::string_view clause_refusal(std::string_view upper) { return find(kClauses, upper); }
std::string_view join_refusal(std::string_view upper) { return find(kJoins, upper); }
std::string_view relation_refusal(std::string_view upper) { return find(kRelations, upper); }
std::string_view value_refusal(std::string_view upper) { return find(kValues, upper); }
std::string_view star_refusal(std::string_view upper) {
  const bool changed =
      upper == "EXCLUDE" || upper == "EXCEPT" || upper == "REPLACE" || upper == "RENAME";
  return changed ? kStar : std::string_view();
}
std::string_view operator_refusal(std::string_view upper) { return find(kOperators, upper); }
std::string_view call_refusal(std::string_view upper) { return find(kAfterCall, upper); }

}  // namespace shoal::sql
