#include "engine/table_rows.hpp"

#include "engine/chunk.hpp"
#include "engine/source.hpp"

#include <shoal/base/error.hpp>

#include <fmt/format.h>

#include <cmath>
#include <unordered_map>

namespace shoal::engine {
namespace {

// The values under the names c0, c1, ...: a number as DOUBLE, a category as text.
std::string items(const RowRequest& request) {
  std::string text;
  for (std::size_t i = 0; i < request.columns.size(); ++i) {
    const data::ColumnRequest& column = request.columns[i];
    text += fmt::format("{}CAST({} AS {}) AS c{}", i == 0 ? "" : ", ", identifier(column.column),
                        column.categories.empty() ? "DOUBLE" : "VARCHAR", i);
  }
  return text;
}

std::string names(const RowRequest& request) {
  std::string text;
  for (std::size_t i = 0; i < request.columns.size(); ++i)
    text += fmt::format("{}c{}", i == 0 ? "" : ", ", i);
  return text;
}

class CellReader {
 public:
  explicit CellReader(const data::ColumnRequest& request) : number_(request.categories.empty()) {
    for (std::size_t i = 0; i < request.categories.size(); ++i)
      places_.emplace(request.categories[i], static_cast<std::int32_t>(i));
  }

  data::Cell read(const ChunkColumn& column, std::size_t row) const {
    data::Cell cell;
    if (!column.valid(row)) return cell;
    if (number_) {
      cell.number = column.as<double>()[row];
      return cell;
    }
    const auto found = places_.find(std::string(column.text(row)));
    if (found != places_.end()) cell.category = found->second;
    return cell;
  }

 private:
  bool number_;
  std::unordered_map<std::string, std::int32_t> places_;
};

}  // namespace

std::string table_rows_sql(const catalog::Table& table, const RowRequest& request, RowOrder order) {
  SHOAL_CHECK(!request.columns.empty());
  const std::string all = names(request);
  if (request.person_column.empty()) {
    const std::string rows =
        fmt::format("SELECT {} FROM {}", items(request), identifier(table.name));
    if (order != RowOrder::by_hash) return rows;
    return fmt::format("SELECT {0} FROM ({1}) ORDER BY hash({2}::UBIGINT, {3}::UBIGINT, {0}), {0}",
                       all, rows, request.hash_key[0], request.hash_key[1]);
  }
  const std::string person = identifier(request.person_column);
  // Rows of a person that are alike in every column are the same choice.
  return fmt::format(
      "SELECT {0} FROM (SELECT *, row_number() OVER (PARTITION BY u ORDER BY hash({1}::UBIGINT, "
      "{2}::UBIGINT, {0}), {0}) AS place FROM (SELECT {3} AS u, {4} FROM {5} WHERE {3} IS NOT "
      "NULL)) WHERE place = 1{6}",
      all, request.hash_key[0], request.hash_key[1], person, items(request), identifier(table.name),
      order == RowOrder::any
          ? ""
          : fmt::format(" ORDER BY hash({}::UBIGINT, u), u", request.hash_key[0]));
}

void read_table_rows(DuckdbConnection& connection, const catalog::Table& table,
                     const RowRequest& request, const data::TableRows::Take& take) {
  std::vector<CellReader> readers;
  std::vector<Storage> storages;
  for (const data::ColumnRequest& column : request.columns) {
    readers.emplace_back(column);
    storages.push_back(column.categories.empty() ? Storage::bits64 : Storage::text);
  }
  std::vector<data::Cell> cells(request.columns.size());
  connection.chunks(table_rows_sql(table, request), [&](duckdb_data_chunk data) {
    const Chunk chunk(data, storages);
    for (std::size_t row = 0; row < chunk.rows; ++row) {
      for (std::size_t i = 0; i < cells.size(); ++i)
        cells[i] = readers[i].read(chunk.columns[i], row);
      take(cells.data());
    }
  });
}

}  // namespace shoal::engine
