#include "engine/coded_rows.hpp"

#include "engine/chunk.hpp"
#include "engine/table_rows.hpp"

#include <optional>

namespace shoal::engine {
namespace {

// The codes of one column, chunk by chunk.
class CodeReader {
 public:
  explicit CodeReader(const data::CodedColumn& column) : column_(column) {
    if (!column.categories.empty()) categories_.emplace(column);
  }

  void read(const ChunkColumn& values, std::size_t rows, std::vector<std::uint16_t>& codes) const {
    codes.resize(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      if (categories_) {
        codes[row] = categories_->of(values.valid(row) ? std::optional(values.text(row))
                                                       : std::optional<std::string_view>());
      } else {
        codes[row] =
            code_of_number(column_, values.valid(row) ? std::optional(values.as<double>()[row])
                                                      : std::optional<double>());
      }
    }
  }

 private:
  const data::CodedColumn& column_;
  std::optional<data::CategoryCodes> categories_;
};

}  // namespace

data::CodedTable read_coded_rows(DuckdbConnection& connection, const catalog::Table& table,
                                 const CodeRequest& request) {
  RowRequest rows{{}, request.person_column, request.hash_key};
  std::vector<CodeReader> readers;
  std::vector<Storage> storages;
  std::vector<std::uint32_t> sizes;
  for (const data::CodedColumn& column : request.columns) {
    rows.columns.push_back({column.name, column.categories});
    readers.emplace_back(column);
    storages.push_back(column.categories.empty() ? Storage::bits64 : Storage::text);
    sizes.push_back(column.size());
  }
  data::CodedTable coded(std::move(sizes));
  std::vector<std::uint16_t> codes;
  // Which rows are cut off must not depend on what else is there.
  const RowOrder order = request.rows ? RowOrder::by_hash : RowOrder::any;
  connection.stream(table_rows_sql(table, rows, order), [&](duckdb_data_chunk data) {
    const Chunk chunk(data, storages);
    for (std::size_t j = 0; j < readers.size(); ++j) {
      readers[j].read(chunk.columns[j], chunk.rows, codes);
      coded.append(j, codes);
    }
  });
  if (request.rows) coded.pad_or_cut(*request.rows);
  return coded;
}

}  // namespace shoal::engine
