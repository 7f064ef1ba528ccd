// From syntax tree to text that an engine understands.
//
// Invariants: whatever the tree holds, each part of it is printed as what it is. Names and strings
// are always quoted, and the text of numbers, dates and function names is checked
// (invalid_argument). In the dialect shoal, parsing what was printed gives the equal tree; in
// duckdb too, but for guarded functions, for which an engine gets expressions that cannot fail
// (guarded_functions.hpp). In every dialect it means the same, as far as syntax goes: what an
// operator does to a type (integer division, say) is the planner's concern.
#pragma once

#include <shoal/sql/query.hpp>
#include <shoal/sql/syntax.hpp>

#include <string>
#include <string_view>

namespace shoal::sql {

// DuckDB 1.4; PostgreSQL 15 with standard_conforming_strings on; Spark 3.4 with
// spark.sql.parser.escapedStringLiterals off. Those are their defaults. And the language itself,
// for people and for the parser.
enum class Dialect { duckdb, postgresql, spark, shoal };

// Only where they are needed, or around every operand, which spells the tree out for a reader.
enum class Parentheses { needed, all };

// Throws unsupported for what the dialect does not have, such as TRY_CAST in PostgreSQL.
std::string print(const Expression& expression, Dialect dialect,
                  Parentheses parentheses = Parentheses::needed);
std::string print(const Query& query, Dialect dialect,
                  Parentheses parentheses = Parentheses::needed);

// The name in quotes. Throws invalid_argument if it is empty or holds a NUL byte or is not UTF-8.
std::string quote_identifier(std::string_view name, Dialect dialect);

// The text as a string literal. Throws invalid_argument if it holds a NUL byte or is not UTF-8.
std::string quote_string(std::string_view text, Dialect dialect);

}  // namespace shoal::sql
