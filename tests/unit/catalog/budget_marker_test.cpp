// The marker: what it says, under a lock, and before a copy has its name.
#include "support/child_process.hpp"
#include "support/code_of.hpp"
#include "support/file_faults.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/temporary_file.hpp>
#include <shoal/catalog/budget_marker.hpp>
#include <shoal/catalog/witness.hpp>

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>

namespace shoal::catalog {
namespace {

namespace fs = std::filesystem;
using test::code_of;
using test::FileFault;

class BudgetMarker : public testing::Test {
 protected:
  void SetUp() override { std::ofstream(data()) << "id\n1\n"; }
  fs::path data() const { return folder_ / "people.csv"; }
  BudgetMark mark(const std::string& lineage) const {
    return {lineage, folder_ / (lineage + ".ledger"), false, false,
            BudgetTerms{Epsilon(0.1), Delta(1e-6), Neighbors::replace_one, "one person (id)"}};
  }
  void write(const std::vector<BudgetMark>& marks) const {
    const std::array files = {data()};
    LockedMarkers(files).write(data(), marks);
  }

  test::TemporaryFolder folder_;
};

TEST_F(BudgetMarker, SaysWhatWasWritten) {
  BudgetMark second = mark("b");
  second.opened = second.witnessed = true;
  write({mark("a"), second});
  const std::vector<BudgetMark> read = read_marks(data());
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].lineage, "a");
  EXPECT_EQ(read[0].terms, mark("a").terms);
  EXPECT_FALSE(read[0].opened || read[0].witnessed);
  EXPECT_TRUE(read[1].opened && read[1].witnessed);
  EXPECT_EQ(read[1].ledger, fs::canonical(folder_.path()) / "b.ledger");
}

TEST_F(BudgetMarker, OfAnEarlierVersionIsRead) {
  write_file_durably(marker_path(data()),
                     "[[budget]]\nlineage = \"a\"\nledger = \"a.ledger\"\nopened = true\n",
                     IfExists::refuse);
  const std::vector<BudgetMark> read = read_marks(data());
  ASSERT_EQ(read.size(), 1U);
  EXPECT_TRUE(read[0].opened);
  EXPECT_FALSE(read[0].witnessed || read[0].terms);
}

TEST_F(BudgetMarker, ThatIsDamagedIsCorrupt) {
  for (const char* text : {"", "[[budget]]\nlineage = 3\n", "[[budget]]\nlineage = \"a\"\n",
                           "[[budget]]\nlineage = \"a\"\nledger = \"l\"\nopened = true\n"
                           "epsilon = 1.0\n"}) {
    write_file_durably(marker_path(data()), text, IfExists::replace);
    EXPECT_EQ(code_of([&] { read_marks(data()); }), ErrorCode::corrupt) << text;
  }
}

// Two commands that each find no budget make one, not two.
TEST_F(BudgetMarker, IsClaimedByOneOfMany) {
  for (int round = 0; round < 20; ++round) {
    fs::remove(marker_path(data()));
    std::vector<pid_t> children;
    for (const char* lineage : {"a", "b", "c"}) {
      children.push_back(test::start_child([&] {
        try {
          claim_budget(data(), mark(lineage));
        } catch (const Error& error) {
          return error.code() == ErrorCode::conflict ? 1 : 10;
        }
        return 0;
      }));
    }
    int refused = 0;
    for (const pid_t child : children) refused += test::wait_for_child(child).status;
    EXPECT_EQ(refused, 2);
    EXPECT_EQ(read_marks(data()).size(), 1U);
  }
}

// Wherever a copy fails, or its process is killed: no file under the copy's name without a marker.
TEST_F(BudgetMarker, ACopyHasItsMarkerBeforeItsName) {
  BudgetMark opened = mark("a");
  opened.opened = opened.witnessed = true;
  write({opened});
  const WitnessedEntry seen{3, std::string(64, 'a')};
  Witness(witness_path(data(), "a"), "a").keep(seen);
  const fs::path copy = folder_ / "copy.parquet";
  using Kind = FileFault::Kind;
  for (const Kind kind : {Kind::fails, Kind::ends_the_process}) {
    for (int at = 0;; ++at) {
      const test::ChildEnd end = test::run_in_child([&] {
        const FileFault fault(at, kind);
        try {
          TemporaryFile partial(copy, Readers::owner);
          name_copy(data(), copy, [&] { partial.take_name(IfExists::refuse); });
        } catch (const Error&) {
          return 1;
        }
        return 0;
      });
      if (fs::exists(copy)) {
        ASSERT_TRUE(fs::exists(marker_path(copy))) << at;
        EXPECT_EQ(read_marks(copy).at(0).lineage, "a");
        EXPECT_EQ(existing_witness(copy, "a"), seen);
      } else if (kind == Kind::fails) {
        EXPECT_FALSE(fs::exists(marker_path(copy))) << "no data, no marker: " << at;
      }
      fs::remove(copy);
      fs::remove(marker_path(copy));
      fs::remove(witness_path(copy, "a"));
      if (end.status == 0) break;
      ASSERT_LT(at, 60);
    }
  }
}

TEST_F(BudgetMarker, OfAFolderThatCannotBeWrittenSaysSo) {
  const fs::path nowhere = "/proc/none/people.csv";
  EXPECT_EQ(code_of([&] { claim_budget(nowhere, mark("a")); }), ErrorCode::io);
}

}  // namespace
}  // namespace shoal::catalog
