// Brings the rows of a query to C++ on DuckDB's own threads: a scalar function that keeps what it
// is given and answers 1. That every row came exactly once is checked against the count of answers.
//
// Two more functions prepare what it is given. shoal_key(k, i) is the number of a value of key
// column i. shoal_unit(u) is u itself, where it is not NULL. Both depend on their argument alone,
// so DuckDB evaluates them once an entry where a column is a dictionary; and as their results have
// no NULL, it does not carry along which rows are.
#pragma once

#include "engine/duckdb_connection.hpp"
#include "engine/key_columns.hpp"

#include <duckdb.h>

#include <functional>
#include <memory>
#include <string>

namespace shoal::engine {

class ChunkFeed {
 public:
  // Called for each chunk, on several threads at once. What it throws stops the query.
  using Taker = std::function<void(duckdb_data_chunk)>;

  // Makes the functions known to the connection.
  explicit ChunkFeed(DuckdbConnection& connection);

  // Feeds `arguments`, such as "shoal_unit(u), shoal_key(k0, 0), v0", of every row of `from`.
  // Throws what the taker threw, or DuckdbFailure. One at a time.
  void run(DuckdbConnection& connection, const std::string& arguments, const std::string& from,
           KeyColumns& keys, const Taker& taker);

 private:
  struct Slot;
  std::shared_ptr<Slot> slot_;
};

}  // namespace shoal::engine
