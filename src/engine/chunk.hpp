// A look at one chunk of rows in DuckDB's memory: flat columns with a validity mask.
#pragma once

#include <shoal/base/error.hpp>
#include <shoal/base/int128.hpp>

#include <duckdb.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace shoal::engine {

// Booleans; INTEGER and DATE; other numbers and times; HUGEINT; VARCHAR.
enum class Storage { bits8, bits32, bits64, bits128, text };

struct ChunkColumn {
  Storage storage = Storage::bits64;
  const void* data = nullptr;
  const std::uint64_t* validity = nullptr;  // null: every row is valid

  bool valid(std::size_t row) const {
    return validity == nullptr || ((validity[row / 64] >> (row % 64)) & 1) != 0;
  }
  template <typename Type>
  const Type* as() const {
    return static_cast<const Type*>(data);
  }
  // Of bits128; SQL NULL is 0.
  Int128 integer(std::size_t row) const {
    if (!valid(row)) return 0;
    const duckdb_hugeint& huge = as<duckdb_hugeint>()[row];
    return static_cast<Int128>(
        (static_cast<UInt128>(static_cast<std::uint64_t>(huge.upper)) << 64) | huge.lower);
  }
  // Lives as long as the chunk does.
  std::string_view text(std::size_t row) const {
    const auto& value = as<duckdb_string_t>()[row].value;
    const std::uint32_t length = value.inlined.length;
    return {length <= sizeof value.inlined.inlined ? value.inlined.inlined : value.pointer.ptr,
            length};
  }
};

struct Chunk {
  // Looks at a chunk whose columns are stored as said.
  Chunk(duckdb_data_chunk chunk, const std::vector<Storage>& storages)
      : rows(duckdb_data_chunk_get_size(chunk)) {
    SHOAL_CHECK(duckdb_data_chunk_get_column_count(chunk) == storages.size());
    columns.reserve(storages.size());
    for (std::size_t i = 0; i < storages.size(); ++i) {
      duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, i);
      columns.push_back(
          {storages[i], duckdb_vector_get_data(vector), duckdb_vector_get_validity(vector)});
    }
  }

  std::size_t rows;
  std::vector<ChunkColumn> columns;
};

}  // namespace shoal::engine
