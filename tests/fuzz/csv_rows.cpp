// Any bytes as a CSV file. Its rows must be those of the slow reader that follows the written
// rules, whatever the size of the blocks. The first two bytes choose fields, blocks and the longest
// row.
#include "../unit/engine/csv_reference.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace shoal::engine;
using shoal::test::CsvReference;
using shoal::test::CsvRow;

std::vector<CsvRow> rows_of(const std::string& text, const CsvShape& shape, std::size_t block_bytes,
                            std::size_t longest_row) {
  const TextBytes source(text);
  CsvSplitter splitter(source, shape, block_bytes, longest_row);
  std::vector<CsvRow> rows;
  for (CsvBlock block; splitter.next(block);) {
    for (const CsvBlock::Row& row : block.rows) {
      CsvRow& values = rows.emplace_back();
      CsvFields cursor(shape, block.bytes.data(), row);
      for (CsvField field; values.size() < shape.fields && cursor.next(field);) {
        std::string value(field.text);
        if (field.doubled) undouble(field.text, shape.quote, value);
        const bool none = field.lost || value.empty() || !is_text(value);
        values.push_back(none ? std::nullopt : std::optional(value));
      }
      values.resize(shape.fields);
    }
  }
  return rows;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const CsvShape shape{',', '"', (data[0] & 4) == 0, 1U + data[0] % 4U};
  const std::size_t longest = data[0] & 8 ? 1U + data[0] / 16U : kLongestCsvRow;
  const std::string text(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (rows_of(text, shape, 1U + data[1], longest) != CsvReference(text, shape, longest).rows()) {
    std::fprintf(stderr, "read otherwise than the rules say\n");
    std::abort();
  }
  return 0;
}
