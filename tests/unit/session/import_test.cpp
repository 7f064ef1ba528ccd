// Importing: which table, where to, what the policy says of it afterwards, and that a copy is the
// same data.
#include "support/child_process.hpp"
#include "support/code_of.hpp"
#include "support/file_faults.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/catalog/budget_marker.hpp>
#include <shoal/catalog/policy.hpp>
#include <shoal/session/import.hpp>
#include <shoal/session/owner.hpp>
#include <shoal/session/session.hpp>

#include <gtest/gtest.h>

#include <string>

namespace shoal::session {
namespace {

using test::code_of;

constexpr const char* kCount = "SELECT COUNT(*) FROM people";

class ImportTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string text = "id,age\n";
    for (int i = 0; i < 500; ++i) text += std::to_string(i % 90) + "," + std::to_string(i) + "\n";
    write_file_durably(folder_ / "people.csv", text, IfExists::refuse);
    InitRequest request;
    request.files = {folder_ / "people.csv"};
    request.person_column = "id";
    request.max_rows_per_person = 10;
    init_policy(request);
  }

  std::filesystem::path policy_path() const { return folder_ / "people.toml"; }

  Answer ask(double epsilon) {
    plan::QueryOptions options;
    options.epsilon = epsilon;
    return Session(policy_path()).query(kCount, options);
  }

  // What is refused leaves no file behind.
  ErrorCode refused(const ImportRequest& request) {
    const ErrorCode code = code_of([&] { import_table(request); });
    EXPECT_FALSE(std::filesystem::exists(folder_ / "people.parquet"));
    return code;
  }

  test::TemporaryFolder folder_;
};

TEST_F(ImportTest, CanMakeThePolicyNameWhatItWrote) {
  const std::string before = read_file(policy_path());
  const ImportResult result = import_table(
      {.policy = policy_path(), .data = folder_ / "people.csv", .update_policy = true});
  EXPECT_EQ(result.report.rows, 500);
  EXPECT_EQ(result.source, "people.parquet");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "people.parquet"));
  const catalog::Policy policy = catalog::load_policy(policy_path());
  EXPECT_EQ(policy.tables.at(0).source, "people.parquet");
  EXPECT_EQ(policy.tables.at(0).format, catalog::SourceFormat::parquet);
  EXPECT_TRUE(policy.tables.at(0).clustered);
  ask(0.6);
  // The CSV is the same data.
  write_file_durably(policy_path(), before, IfExists::replace);
  EXPECT_EQ(code_of([&] { ask(0.6); }), ErrorCode::budget_exceeded);
}

// Another policy for the copy alone has no budget of its own.
TEST_F(ImportTest, MarksTheCopyAsTheSameData) {
  import_table({.policy = policy_path(), .output = folder_ / "copy.parquet"});
  InitRequest request;
  request.files = {folder_ / "copy.parquet"};
  request.person_column = "id";
  const InitResult result = init_policy(request);
  EXPECT_TRUE(result.shared_budget);
  EXPECT_EQ(result.lineage, catalog::load_policy(policy_path()).lineage);
}

// Wherever it is killed: a copy that can be found has its marker, and the next import removes what
// was left.
TEST_F(ImportTest, KilledAnywhereLeavesNoCopyWithoutItsMarker) {
  ask(0.5);
  const std::filesystem::path copy = folder_ / "copy.parquet";
  for (int at = 0;; ++at) {
    const test::ChildEnd end = test::run_in_child([&] {
      const test::FileFault fault(at, test::FileFault::Kind::ends_the_process);
      import_table({.policy = policy_path(), .output = copy});
      return 0;
    });
    if (std::filesystem::exists(copy)) {
      ASSERT_EQ(catalog::read_marks(copy).size(), 1U) << "step " << at;
      EXPECT_TRUE(catalog::read_marks(copy).at(0).opened);
      std::filesystem::remove(copy);
    }
    if (end.status == 0) break;
    ASSERT_EQ(end.signal, SIGKILL);
    ASSERT_LT(at, 100);
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path()))
    EXPECT_FALSE(entry.path().string().ends_with(".tmp")) << entry.path();
}

TEST_F(ImportTest, IsReadableByThoseWhoReadTheSource) {
  using std::filesystem::perms;
  const perms mine = perms::owner_read | perms::owner_write;
  std::filesystem::permissions(folder_ / "people.csv", mine);
  import_table({.policy = policy_path(), .output = folder_ / "copy.parquet"});
  EXPECT_EQ(std::filesystem::status(folder_ / "copy.parquet").permissions(), mine);
}

TEST_F(ImportTest, OfAParquetFileGetsAnotherName) {
  import_table({.policy = policy_path(), .update_policy = true});
  EXPECT_EQ(import_table({.policy = policy_path()}).source, "people_ordered.parquet");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "people_ordered.parquet"));
  EXPECT_EQ(code_of([&] { import_table({.policy = policy_path()}); }), ErrorCode::conflict);
}

TEST_F(ImportTest, ThatIsRefusedWritesNothing) {
  const std::string before = read_file(policy_path());
  EXPECT_EQ(refused({.policy = policy_path(), .data = folder_ / "others.csv"}),
            ErrorCode::not_found);
  EXPECT_EQ(refused({.policy = policy_path(), .table = "dogs"}), ErrorCode::not_found);
  EXPECT_EQ(read_file(policy_path()), before);
  // Not a form that can be changed.
  std::string odd = before;
  odd.replace(odd.find("format = \"csv\""), 6, "\"format\"");
  write_file_durably(policy_path(), odd, IfExists::replace);
  EXPECT_EQ(refused({.policy = policy_path(), .update_policy = true}), ErrorCode::unsupported);
  EXPECT_EQ(read_file(policy_path()), odd);
}

}  // namespace
}  // namespace shoal::session
