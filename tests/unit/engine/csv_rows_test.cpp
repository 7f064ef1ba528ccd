#include "engine/csv_rows.hpp"

#include "csv_reference.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace shoal::engine {
namespace {

using test::CsvReference;
using test::CsvRow;

constexpr auto kNull = std::nullopt;

struct Read {
  std::vector<CsvRow> rows;
  CsvCounts counts;
};

Read read_all(const std::string& text, std::size_t fields, std::size_t block_bytes = 1 << 16,
              std::size_t longest_row = kLongestCsvRow, bool has_header = true) {
  const CsvShape shape{',', '"', has_header, fields};
  const TextBytes source(text);
  CsvSplitter splitter(source, shape, block_bytes, longest_row);
  CsvBlock block;
  Read read;
  while (splitter.next(block)) {
    EXPECT_EQ(block.first_row, read.rows.size());
    for (const CsvBlock::Row& row : block.rows) {
      CsvRow& values = read.rows.emplace_back();
      CsvFields cursor(shape, block.bytes.data(), row);
      for (CsvField field; values.size() < fields && cursor.next(field);) {
        std::string value(field.text);
        if (field.doubled) undouble(field.text, '"', value);
        const bool none = field.lost || value.empty() || !is_text(value);
        values.push_back(none ? kNull : std::optional(value));
      }
      values.resize(fields);
    }
  }
  EXPECT_EQ(splitter.consumed(), text.size());
  read.counts = splitter.counts();
  return read;
}

std::vector<CsvRow> rows_of(const std::string& text, std::size_t fields) {
  return read_all(text, fields).rows;
}

TEST(CsvRows, OrdinaryFields) {
  EXPECT_EQ(rows_of("a,b\n1,x\n2,\n3,\" y,z \"\n", 2),
            (std::vector<CsvRow>{{"1", "x"}, {"2", kNull}, {"3", " y,z "}}));
}

TEST(CsvRows, LineEndsMayBeMixedAndTheLastMayBeMissing) {
  EXPECT_EQ(rows_of("\xEF\xBB\xBF"
                    "a,b\r\n1,x\r2,y\n\n\r\n3,z",
                    2),
            (std::vector<CsvRow>{{"1", "x"}, {"2", "y"}, {"3", "z"}}));
  EXPECT_EQ(read_all("a\r\r\n1\n", 1).counts.blank_lines, 1);
}

TEST(CsvRows, QuotesThatDoNotEncloseAFieldAreCharacters) {
  EXPECT_EQ(rows_of("a,b\n"
                    "1,x\"y\"\n"  // inside a field
                    "2,\"x\"y\n"  // text behind the closing one
                    "3,\"say \"\"hi\"\"\"\n"
                    "4,\"\"\n"
                    "5,\"\"\"\"\n"
                    "6, \"x\"\n",
                    2),
            (std::vector<CsvRow>{{"1", "x\"y\""},
                                 {"2", "\"x\"y"},
                                 {"3", "say \"hi\""},
                                 {"4", kNull},
                                 {"5", "\""},
                                 {"6", " \"x\""}}));
}

TEST(CsvRows, AWellFormedRowMayCoverLines) {
  const Read read = read_all("a,b\n1,\"x\r\ny,\n\"\"z\"\"\"\n2,w\n", 2);
  EXPECT_EQ(read.rows, (std::vector<CsvRow>{{"1", "x\r\ny,\n\"z\""}, {"2", "w"}}));
  EXPECT_EQ(read.counts.multi_line_rows, 1);
  EXPECT_EQ(read.counts.most_lines, 3);
}

TEST(CsvRows, AnUnclosedQuoteEndsWithItsLine) {
  const Read read = read_all("a,b\n1,\"x\n2,y\n3,\"z\"\n4,\"", 2);
  EXPECT_EQ(read.rows, (std::vector<CsvRow>{{"1", "\"x"}, {"2", "y"}, {"3", "z"}, {"4", "\""}}));
  EXPECT_EQ(read.counts.unclosed_quotes, 2);
  EXPECT_EQ(read.counts.multi_line_rows, 0);
}

// What the quote would swallow has the header's number of fields only without rows of its own.
TEST(CsvRows, AQuoteClosedInAnotherRowDoesNotSwallowIt) {
  EXPECT_EQ(rows_of("a,b\n1,\"x\n2,\", y\"\n3,z\n", 2),
            (std::vector<CsvRow>{{"1", "\"x"}, {"2", ", y"}, {"3", "z"}}));
}

TEST(CsvRows, RowsArePaddedAndCut) {
  EXPECT_EQ(rows_of("a,b,c\n1\n1,2,3,4\n,\n", 3),
            (std::vector<CsvRow>{{"1", kNull, kNull}, {"1", "2", "3"}, {kNull, kNull, kNull}}));
}

TEST(CsvRows, WhatIsNoTextIsNull) {
  for (const std::string& odd :
       {std::string("a\0b", 3), std::string("\xFF"), std::string("\xED\xA0\x80"),
        std::string("\xC0\x80"), std::string("\xE0\x80\x80"), std::string("\xF4\x90\x80\x80"),
        std::string("abcdefghijklmnop\x80"), std::string("\xC3")}) {
    EXPECT_EQ(rows_of("a,b\n" + odd + ",1\n\"" + odd + "\",2\n", 2),
              (std::vector<CsvRow>{{kNull, "1"}, {kNull, "2"}}));
  }
  EXPECT_EQ(rows_of("a\nna\xC3\xAFve \xF0\x9F\x90\x9F\n", 1),
            (std::vector<CsvRow>{{"na\xC3\xAFve \xF0\x9F\x90\x9F"}}));
}

TEST(CsvRows, AFileMayHaveNoHeaderAndNoRows) {
  EXPECT_EQ(read_all("1,2\n3,4\n", 2, 1 << 16, kLongestCsvRow, false).rows,
            (std::vector<CsvRow>{{"1", "2"}, {"3", "4"}}));
  EXPECT_TRUE(rows_of("", 1).empty());
  EXPECT_TRUE(rows_of("a", 1).empty());
  EXPECT_TRUE(rows_of("a\n\n\n", 1).empty());
}

TEST(CsvRows, AFieldOf64MiBIsNullAndOnlyItsRowFeelsIt) {
  for (const bool quoted : {false, true}) {
    for (const char filler : {'x', '"', ',', '\n'}) {
      if (!quoted && filler != 'x' && filler != ',') continue;
      const std::string mark = quoted ? "\"" : "";
      const std::string text = "a,b,c\n1,x,y\n2," + mark +
                               std::string(std::size_t{64} << 20, filler) + mark + ",z\n3,x,y\n";
      const Read read = read_all(text, 3, std::size_t{1} << 21);
      ASSERT_EQ(read.rows.size(), 3u) << filler;
      EXPECT_EQ(read.rows[1], (CsvRow{"2", kNull, kNull}));
      EXPECT_EQ(read.rows[2], (CsvRow{"3", "x", "y"}));
      EXPECT_EQ(read.counts.oversized_rows, 1);
      EXPECT_EQ(read.counts.unclosed_quotes, 0);
    }
  }
}

TEST(CsvRows, AnUnclosedQuoteBeforeMuchTextEndsWithItsLine) {
  const std::string line = "2,some text of a row\n";
  std::string text = "a,b\n1,\"x\n";
  while (text.size() < (std::size_t{40} << 20)) text += line;
  const Read read = read_all(text, 2, std::size_t{1} << 21);
  EXPECT_EQ(read.rows[0], (CsvRow{"1", "\"x"}));
  EXPECT_EQ(read.rows[1], (CsvRow{"2", "some text of a row"}));
  EXPECT_EQ(read.rows.size(), 1 + (text.size() - 9) / line.size());
  EXPECT_EQ(read.counts.unclosed_quotes, 1);
}

// Any bytes of the kinds that matter, with more of what makes trouble.
std::string random_text(std::mt19937& random, std::size_t size, const std::string& letters) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += letters[random() % letters.size()];
  return text;
}

TEST(CsvRows, AnyFileIsReadByTheRulesWhateverTheBlocks) {
  std::mt19937 random(20261119);
  const std::string kinds[] = {std::string("ab,\"\"\n\r\xC3\0", 10), "a,\"\n", "\",\n\"a\r"};
  std::int64_t several = 0;
  std::int64_t cut = 0;
  for (int run = 0; run < 60'000; ++run) {
    const std::string text =
        "h\n" + random_text(random, random() % 60, kinds[static_cast<std::size_t>(run) % 3]);
    const std::size_t fields = 1 + random() % 3;
    const std::size_t longest = random() % 2 == 0 ? 1 + random() % 12 : 1000;
    const CsvShape shape{',', '"', true, fields};
    const auto expected = CsvReference(text, shape, longest).rows();
    CsvCounts whole;
    for (const std::size_t block : {std::size_t{4096}, 1 + random() % 4, 1 + random() % 40}) {
      const Read read = read_all(text, fields, block, longest);
      ASSERT_EQ(read.rows, expected)
          << text << "\nfields " << fields << ", block " << block << ", longest " << longest;
      if (block == 4096) whole = read.counts;
      ASSERT_EQ(read.counts, whole) << text << "\nblock " << block << ", longest " << longest;
      several += read.counts.multi_line_rows;
      cut += read.counts.oversized_rows;
    }
  }
  // The files do hold what they are for.
  EXPECT_GT(several, 1000);
  EXPECT_GT(cut, 1000);
}

// A row as a careful writer writes it.
std::string written(const std::vector<std::string>& fields) {
  std::string row;
  for (const std::string& field : fields) {
    if (!row.empty()) row += ',';
    std::string quoted = "\"";
    for (const char c : field) quoted += c == '"' ? "\"\"" : std::string(1, c);
    const bool plain = field.find_first_of(",\"\r\n") == std::string::npos && !field.empty();
    row += plain ? field : quoted + "\"";
  }
  return row;
}

// Rows of careful writers, of which one is exchanged for another: no other row changes.
TEST(CsvRows, AWellFormedRowChangesItselfAlone) {
  std::mt19937 random(4711);
  const std::string letters = std::string("ab,\"\n\r\0\xED", 8);
  for (int run = 0; run < 20'000; ++run) {
    std::vector<std::string> rows;
    for (int i = 0; i < 6; ++i) {
      rows.push_back(written({std::to_string(i), random_text(random, random() % 9, letters),
                              random_text(random, random() % 9, letters)}));
    }
    const auto file = [&] {
      std::string text = "a,b,c\n";
      for (const std::string& row : rows) text += row + (random() % 2 == 0 ? "\r\n" : "\n");
      return text;
    };
    const std::size_t longest = random() % 2 == 0 ? 10 : 1000;
    const std::size_t block = 1 + random() % 64;
    const auto before = read_all(file(), 3, block, longest).rows;
    rows[2] = written({"other", random_text(random, random() % 40, letters), "x"});
    const auto after = read_all(file(), 3, block, longest).rows;
    ASSERT_EQ(before.size(), 6u);
    ASSERT_EQ(after.size(), 6u);
    for (const std::size_t i : {0U, 1U, 3U, 4U, 5U}) ASSERT_EQ(before[i], after[i]) << file();
  }
}

// One line is exchanged for any other line, well formed or not, among rows whose quoted fields do
// not themselves hold text that looks like the end of another row: no other row changes.
TEST(CsvRows, ABrokenLineChangesItselfAlone) {
  std::mt19937 random(4712);
  for (int run = 0; run < 20'000; ++run) {
    std::vector<std::string> rows;
    for (int i = 0; i < 6; ++i) {
      // Each field starts with a letter: the quote before it closes nothing.
      rows.push_back(written({std::to_string(i), "f" + random_text(random, random() % 9, "ab,\"\n"),
                              "f" + random_text(random, random() % 9, "ab,\"\n")}));
    }
    const auto file = [&] {
      std::string text = "a,b,c\n";
      for (const std::string& row : rows) text += row + "\n";
      return text;
    };
    const auto before = rows_of(file(), 3);
    std::string line = "x" + random_text(random, random() % 30, "ab,\"\"\"");
    rows[2] = line;
    const auto after = rows_of(file(), 3);
    ASSERT_EQ(before.size(), 6u);
    ASSERT_EQ(after.size(), 6u) << file();
    for (const std::size_t i : {0U, 1U, 3U, 4U, 5U}) ASSERT_EQ(before[i], after[i]) << file();
  }
}

// How often the splitter reads bytes of a source.
class CountedBytes : public TextBytes {
 public:
  using TextBytes::TextBytes;
  std::size_t read(std::uint64_t offset, std::span<char> into) const override {
    const std::size_t count = TextBytes::read(offset, into);
    bytes_ += count;
    return count;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  mutable std::size_t bytes_ = 0;
};

// Every line opens a quote that the next one does not close: looking ahead from each to the end of
// the file would read it as often as it has lines.
TEST(CsvRows, OpenQuotesAreLookedForInLinearTime) {
  const std::string lines[] = {"1,\"x\n", "\",\"\n", "\"\"\",\"\n", "a,\",\"\",\"\n", "\"a,b\n"};
  for (const std::string& line : lines) {
    for (const std::size_t between : {std::size_t{0}, std::size_t{3000}}) {
      std::string text = "a,b,c\n";
      while (text.size() < 4'000'000)
        text += line + std::string(between, 'x') + (between > 0 ? "\n" : "");
      const CsvShape shape{',', '"', true, 3};
      const CountedBytes source(text);
      CsvSplitter splitter(source, shape, 1000, 100);
      for (CsvBlock block; splitter.next(block);) {
      }
      EXPECT_LT(source.bytes(), 4 * text.size()) << line << between;
    }
  }
}

}  // namespace
}  // namespace shoal::engine
