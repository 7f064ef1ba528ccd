// Many values of a column at once, as steps.
#pragma once

#include "engine/row_block.hpp"
#include "engine/value_reader.hpp"

#include <cstdint>

namespace shoal::engine {

// What reader.read gives for the rows [first, last), if it finds a value in each of them. False,
// and steps of no meaning, if there is a NULL or NaN among them.
bool read_steps(const ValueReader& reader, const BlockValues& values, std::size_t first,
                std::size_t last, std::int64_t* steps);

// The same without vectors of words.
bool read_steps_portable(const ValueReader& reader, const BlockValues& values, std::size_t first,
                         std::size_t last, std::int64_t* steps);

}  // namespace shoal::engine
