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

// A field of that name as the column's type, NULL for what does not convert, and for text that has
// nothing but blanks where those are trimmed. A whole number is
// rounded, unless it tells people apart: rounding could make one person of two, who would then be
// protected as one.
std::string converted_field(const catalog::Column& column, bool tells_people_apart);

// The policy's type for a type of the engine.
catalog::ColumnType policy_type(const std::string& engine_type);

struct CsvSourceOptions {
  bool has_header = true;    // a first line that holds no data
  bool row_numbers = false;  // a last column, shoal_row: the row's number in the file, from 0
};

// shoal_csv(...) over named columns, every field as text: nothing in the file can fail, and no row
// changes another one (csv_rows.hpp).
std::string csv_source(const std::filesystem::path& path, const catalog::CsvFormat& format,
                       const std::vector<std::string>& columns,
                       const CsvSourceOptions& options = {});

std::string parquet_source(const std::filesystem::path& path);

// The names of a CSV file's columns: the policy's, if the file has no line of them.
std::vector<std::string> csv_names(const std::filesystem::path& path,
                                   const catalog::CsvFormat& format);

// The fields of a CSV file's first row: names, not data. Empty if the file has no row.
std::vector<std::string> read_csv_header(const std::filesystem::path& path,
                                         const catalog::CsvFormat& format);

}  // namespace shoal::engine
