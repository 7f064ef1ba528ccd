// Making nodes of checked expressions: from an operation and its arguments follow the type, the
// interval, the list of values and, if all arguments are constants, the constant itself.
#pragma once

#include "plan/row_node.hpp"

#include <string>
#include <vector>

namespace shoal::plan {

// The arguments are of the types that the operation needs. Throws unsupported beyond
// sql::kMaxTreeDepth.
RowNodePointer make_node(Operation operation, std::vector<RowNodePointer> arguments,
                         sql::Position position, bool negated = false);

RowNodePointer make_constant(Value value, ValueKind kind, sql::Position position);
// A whole number, exact beyond 2^53 too.
RowNodePointer make_whole(std::int64_t value, sql::Position position);
RowNodePointer make_null(ValueKind kind, bool whole, sql::Position position);
// A NULL whose kind the place where it stands decides.
RowNodePointer make_untyped_null(sql::Position position);
RowNodePointer make_input(std::size_t input, const ValueType& type, sql::Position position);

// Conversions that every value survives; what does not convert is NULL.
RowNodePointer convert(RowNodePointer node, ValueKind kind, sql::Position position);
RowNodePointer to_real(RowNodePointer node);
// The same, and a number without decimals does not become BIGINT again: somebody asked for DOUBLE.
RowNodePointer keep_real(RowNodePointer node);
// Rounded, and NULL beyond what 64 bits hold for sure.
RowNodePointer to_whole(RowNodePointer node);

}  // namespace shoal::plan
