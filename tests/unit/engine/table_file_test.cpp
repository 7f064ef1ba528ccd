// Parquet files of public tables: what is written is read back, by the engine itself.
#include "engine/duckdb_connection.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/engine/table_file.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace shoal::engine {
namespace {

using catalog::ColumnType;

TEST(TableFile, KeepsTypesNullsOrderAndNote) {
  const test::TemporaryFolder folder;
  const auto path = folder / "it's.parquet";
  const std::vector<FileColumn> columns = {
      {"a \"b\"", ColumnType::text, {std::string("z'"), std::monostate{}, std::string()}},
      {"n", ColumnType::integer, {std::int64_t{INT64_MAX}, std::int64_t{-1}, std::monostate{}}},
      {"r", ColumnType::real, {0.1, std::monostate{}, std::int64_t{7}}},
      {"f", ColumnType::boolean, {true, false, std::monostate{}}},
      {"d", ColumnType::date, {std::string("2024-02-29"), std::string("no day"), std::monostate{}}},
      {"t", ColumnType::timestamp, {std::string("2024-02-29 23:59:59.5"), 1.0, std::monostate{}}}};
  write_parquet(path, columns, "{\"it's\": 1}");
  DuckdbConnection connection;
  const std::string file = "'" + (folder / "it''s.parquet").string() + "'";
  using Rows = std::vector<std::vector<std::string>>;
  EXPECT_EQ(connection.rows("SELECT column_type FROM (DESCRIBE SELECT * FROM " + file + ")"),
            (Rows{{"VARCHAR"}, {"BIGINT"}, {"DOUBLE"}, {"BOOLEAN"}, {"DATE"}, {"TIMESTAMP"}}));
  EXPECT_EQ(
      connection.rows("SELECT COALESCE(\"a \"\"b\"\"\", 'NULL'), n::VARCHAR, r::VARCHAR, "
                      "f::VARCHAR, d::VARCHAR, t::VARCHAR FROM " +
                      file),
      (Rows{{"z'", "9223372036854775807", "0.1", "true", "2024-02-29", "2024-02-29 23:59:59.5"},
            {"NULL", "-1", "", "false", "", ""},
            {"", "", "7.0", "", "", ""}}));
  EXPECT_EQ(connection.rows("SELECT decode(key), decode(value) FROM parquet_kv_metadata(" + file +
                            ") WHERE decode(key) = 'shoal'"),
            (Rows{{"shoal", "{\"it's\": 1}"}}));
}

TEST(TableFile, KeepsTheOrderOfManyRows) {
  const test::TemporaryFolder folder;
  FileColumn column{"n", ColumnType::integer, {}};
  for (std::int64_t i = 0; i < 300000; ++i) column.values.emplace_back(i * 7919 % 300007);
  write_parquet(folder / "many.parquet", {column}, "");
  DuckdbConnection connection;
  connection.run("SET preserve_insertion_order = true");
  const auto wrong = connection.rows(
      "SELECT (COUNT(*) FILTER (WHERE n <> file_row_number * 7919 % 300007))::VARCHAR, "
      "COUNT(*)::VARCHAR FROM read_parquet('" +
      (folder / "many.parquet").string() + "', file_row_number = true)");
  EXPECT_EQ(wrong, (std::vector<std::vector<std::string>>{{"0", "300000"}}));
}

TEST(TableFile, RefusesWhatCannotBeWrittenAndLeavesNothingBehind) {
  const test::TemporaryFolder folder;
  const auto code_of = [](const auto& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  const FileColumn one{"n", ColumnType::integer, {std::int64_t{1}}};
  const FileColumn same{"N", ColumnType::integer, {std::int64_t{1}}};
  const FileColumn longer{"m", ColumnType::integer, {std::int64_t{1}, std::int64_t{2}}};
  const auto path = folder / "x.parquet";
  EXPECT_EQ(code_of([&] { write_parquet(path, {}, ""); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { write_parquet(path, {one, same}, ""); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { write_parquet(path, {one, longer}, ""); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { write_parquet(folder / "no" / "x.parquet", {one}, ""); }), ErrorCode::io);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  write_parquet(path, {one}, "");
  EXPECT_EQ(code_of([&] { write_parquet(path, {one}, ""); }), ErrorCode::conflict);
}

}  // namespace
}  // namespace shoal::engine
