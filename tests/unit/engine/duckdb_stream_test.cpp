// Streams of chunks: all rows once, and a failure on the way is a failure.
#include "engine/chunk.hpp"
#include "engine/duckdb_connection.hpp"

#include <gtest/gtest.h>

namespace shoal::engine {
namespace {

std::int64_t total(DuckdbConnection& connection, const std::string& sql, std::int64_t* rows) {
  std::int64_t sum = 0;
  connection.stream(sql, [&](duckdb_data_chunk data) {
    const Chunk chunk(data, {Storage::bits64});
    *rows += static_cast<std::int64_t>(chunk.rows);
    for (std::size_t i = 0; i < chunk.rows; ++i) sum += chunk.columns[0].as<std::int64_t>()[i];
  });
  return sum;
}

TEST(DuckdbStreamTest, GivesEveryRowOnce) {
  DuckdbConnection connection;
  std::int64_t rows = 0;
  EXPECT_EQ(total(connection, "SELECT i FROM range(1000000) t(i)", &rows), 499999500000);
  EXPECT_EQ(rows, 1'000'000);
  rows = 0;
  EXPECT_EQ(total(connection, "SELECT i FROM range(10) t(i) WHERE i < 0", &rows), 0);
  EXPECT_EQ(rows, 0);
}

TEST(DuckdbStreamTest, AFailureOnTheWayIsThrown) {
  DuckdbConnection connection;
  std::int64_t rows = 0;
  EXPECT_THROW(total(connection,
                     "SELECT CASE WHEN i = 900000 THEN CAST(error('broken') AS BIGINT) ELSE i END "
                     "FROM range(1000000) t(i)",
                     &rows),
               DuckdbFailure);
  EXPECT_GT(rows, 0);  // it had begun
  EXPECT_THROW(total(connection, "SELECT nothing", &rows), DuckdbFailure);
  // The connection goes on.
  rows = 0;
  EXPECT_EQ(total(connection, "SELECT 7::BIGINT", &rows), 7);
}

}  // namespace
}  // namespace shoal::engine
