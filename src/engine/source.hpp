// How a table's file is read in DuckDB's SQL.
#pragma once

#include <shoal/catalog/policy.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace shoal::engine {

std::string quoted(const std::string& text);      // 'text'
std::string identifier(const std::string& name);  // "name"

// The type that a policy's type has in the engine, such as BIGINT.
std::string engine_type(catalog::ColumnType type);

// A field of that name as the column's type, NULL for what does not convert. A whole number is
// rounded, unless it tells people apart: rounding could make one person of two, who would then be
// protected as one.
std::string converted_field(const catalog::Column& column, bool tells_people_apart);

// The policy's type for a type of the engine.
catalog::ColumnType policy_type(const std::string& engine_type);

// read_csv(...) over named columns, every field as text, broken lines dropped: no field can fail.
std::string csv_source(const std::filesystem::path& path, const catalog::CsvFormat& format,
                       const std::vector<std::string>& columns);

std::string parquet_source(const std::filesystem::path& path);

// The fields of a CSV file's first line: names, not data. Empty if the file has no line. The
// engine's own reader would look at rows to count columns.
std::vector<std::string> read_csv_header(const std::filesystem::path& path,
                                         const catalog::CsvFormat& format);

}  // namespace shoal::engine
