#include "support/temporary_folder.hpp"

#include <shoal/engine/inspect.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace shoal::engine {
namespace {

// One row could otherwise make every command of the owner refuse the file.
TEST(Detection, NoRowDecidesWhetherAFileIsATable) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "t.csv";
  for (const std::string& odd :
       {std::string("\0\0\0", 3), std::string("\xFF\xFE"), std::string("\xED\xA0\x80"),
        std::string("\""), std::string("{"), std::string(100'000, 'x')}) {
    for (const char* end : {"\n", "\r\n", "\r"}) {
      std::ofstream(path, std::ios::binary)
          << "id,note" << end << odd << ",x" << end << "2," << odd;
      const catalog::Table table = inspect_file(path);
      EXPECT_EQ(table.format, catalog::SourceFormat::csv);
      ASSERT_EQ(table.columns.size(), 2u);
      EXPECT_EQ(table.columns[1].name, "note");
    }
  }
}

}  // namespace
}  // namespace shoal::engine
