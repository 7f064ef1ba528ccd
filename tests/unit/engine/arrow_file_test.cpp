// Arrow files: byte for byte what another implementation was seen to read.
//
// tests/golden/arrow_file.txt holds the bytes in hexadecimal, and says what pyarrow reads there.
// To check it anew: python3 -c "import pyarrow as pa, sys; print(pa.ipc.open_file(pa.py_buffer(
// bytes.fromhex(''.join(l for l in open(sys.argv[1]) if l[0] != '#')))).read_all())" <file>
#include "support/paths.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/engine/arrow_file.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>

namespace shoal::engine {
namespace {

using catalog::ColumnType;

std::vector<FileColumn> every_type() {
  const FileValue none = std::monostate{};
  return {{"city", ColumnType::text, {std::string("Köln"), none, std::string("")}},
          {"n", ColumnType::integer, {std::int64_t{-5}, std::int64_t{1} << 60, none}},
          {"mean", ColumnType::real, {2.5, none, std::int64_t{7}}},
          {"open", ColumnType::boolean, {true, false, none}},
          {"day", ColumnType::date, {std::string("2024-02-29"), std::string("1969-12-31"), none}},
          {"seen",
           ColumnType::timestamp,
           {std::string("2024-01-31 12:30:00.25"), std::string("1969-12-31 23:59:59"),
            std::string("no time")}},
          {"all", ColumnType::integer, {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}}}};
}

std::string hexadecimal(const std::string& bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    text += fmt::format("{:02x}", static_cast<unsigned char>(bytes[i]));
    if (i % 40 == 39) text += '\n';
  }
  return text;
}

std::string golden() {
  std::ifstream file(test::source_folder() + "/tests/golden/arrow_file.txt");
  std::string text;
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with('#')) text += line + "\n";
  }
  if (!text.empty()) text.pop_back();
  return text;
}

TEST(ArrowFileTest, IsWhatAnotherImplementationReads) {
  EXPECT_EQ(hexadecimal(arrow_file(every_type(), "a note")), golden());
}

TEST(ArrowFileTest, HasItsMagicAtBothEndsAndMayHaveNoRows) {
  const std::string bytes = arrow_file({{"n", ColumnType::text, {}}}, "");
  EXPECT_TRUE(bytes.starts_with(std::string("ARROW1\0\0", 8)));
  EXPECT_TRUE(bytes.ends_with("ARROW1"));
}

TEST(ArrowFileTest, RefusesWhatIsNoTable) {
  EXPECT_THROW(arrow_file({}, ""), Error);
  EXPECT_THROW(arrow_file({{"a", ColumnType::text, {}}, {"A", ColumnType::text, {}}}, ""), Error);
  EXPECT_THROW(arrow_file({{"a", ColumnType::text, {}}, {"b", ColumnType::text, {true}}}, ""),
               Error);
}

}  // namespace
}  // namespace shoal::engine
