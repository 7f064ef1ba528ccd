// How tightly operators bind. Private to the sql layer: parser and printer share it.
#pragma once

namespace shoal::sql {

// Loosest first, as in PostgreSQL and DuckDB.
enum class Precedence {
  none,
  logical_or,
  logical_and,
  logical_not,
  is,
  comparison,
  predicate,  // BETWEEN, IN, LIKE
  concatenate,
  additive,
  multiplicative,
  unary,
  cast,
  primary,
};

constexpr Precedence tighter(Precedence precedence) {
  return static_cast<Precedence>(static_cast<int>(precedence) + 1);
}

}  // namespace shoal::sql
