// PostgreSQL's types and what they become: expressions that give a value in one of the engine's
// types, or NULL where it has none there.
//
// Invariant: none of the expressions raises an error, whatever the value.
#pragma once

#include <shoal/catalog/grid.hpp>
#include <shoal/catalog/policy.hpp>
#include <shoal/engine/grouped_request.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace shoal::engine {

// Longer texts are NULL: what a question makes of a text in a column must stay far below the 1 GiB
// that PostgreSQL has for a value.
inline constexpr std::size_t kMaxColumnText = std::size_t{1} << 15;
inline constexpr std::size_t kMaxKeyText = std::size_t{1} << 16;

// The type in which values of a server's type are read, given by its object identifier; enums are
// texts. None for types that cannot be asked about.
std::optional<KeyType> natural_type(unsigned type, bool is_enum);

// The same of a policy's type.
std::optional<KeyType> key_type(catalog::ColumnType type);

// The value, of the server's type, as `wanted`. None if there is no conversion between the two.
std::optional<std::string> converted(const std::string& value, unsigned type, KeyType wanted,
                                     std::size_t max_text);

// Whole grid steps of a number that is BIGINT (whole) or else DOUBLE PRECISION and no NaN: the same
// integer as to_steps() gives. `value` should be short: it is repeated.
std::string postgres_steps(const std::string& value, bool whole, const catalog::GridRange& range,
                           bool nulls);

// The column as a text from which append_key_part() makes what read_key() reads.
std::string key_output(const std::string& column, KeyType type);
void append_key_part(std::string& bytes, std::string_view text, KeyType type);

}  // namespace shoal::engine
