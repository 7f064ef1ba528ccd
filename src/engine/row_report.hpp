// What the owner is told of rows that are not as they should be.
#pragma once

#include "engine/csv_rows.hpp"
#include "engine/field_counts.hpp"

#include <shoal/catalog/policy.hpp>
#include <shoal/engine/inspect.hpp>

#include <cstdint>

namespace shoal::engine {

// What the reader of CSV files made of rows.
void report_reading(const CsvCounts& counts, RowReport& report);

// What is odd about the fields of a column; so many are `unreadable` as values of its type.
void report_fields(const catalog::Column& column, const FieldCount& count, std::int64_t unreadable,
                   RowReport& report);

}  // namespace shoal::engine
