// Files on their way: whole or not there, and what a killed process leaves is removed by the next.
#include "support/child_process.hpp"
#include "support/file_faults.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/temporary_file.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <set>
#include <string>

namespace shoal {
namespace {

namespace fs = std::filesystem;
using test::FileFault;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

unsigned mode_of(const fs::path& path) {
  return static_cast<unsigned>(fs::status(path).permissions()) & 0777;
}

void leave_behind(const fs::path& target) {
  const test::ChildEnd end = test::run_in_child([&] {
    const FileFault fault(0, FileFault::Kind::ends_the_process, "name");
    write_file_durably(target, "half", IfExists::replace);
    return 0;
  });
  EXPECT_EQ(end.signal, SIGKILL);
}

TEST(TemporaryFile, ThatAProcessLeftBehindIsRemovedByTheNext) {
  const test::TemporaryFolder folder;
  leave_behind(folder / "a.parquet");
  ASSERT_EQ(names_in(folder.path()).size(), 1U);
  write_file_durably(folder / "a.parquet", "whole", IfExists::refuse);
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"a.parquet"});
  // Names of earlier versions.
  for (const char* name : {"a.parquet.4711.tmp", "a.parquet.4711.partial"})
    write_file_durably(folder / name, "", IfExists::refuse);
  remove_leftovers(folder / "a.parquet");
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"a.parquet"});
}

TEST(TemporaryFile, ThatIsBeingWrittenStays) {
  const test::TemporaryFolder folder;
  TemporaryFile writing(folder / "a", Readers::owner);
  writing.write("x");
  // Another process, and another of this one.
  const test::ChildEnd end = test::run_in_child([&] {
    remove_leftovers(folder / "a");
    return fs::exists(writing.path()) ? 0 : 1;
  });
  EXPECT_EQ(end.status, 0);
  remove_leftovers(folder / "a");
  writing.take_name(IfExists::refuse);
  EXPECT_EQ(read_file(folder / "a"), "x");
}

TEST(TemporaryFile, OfOtherNamesStays) {
  const test::TemporaryFolder folder;
  const std::set<std::string> names = {"a.tmp",       "a.1.2.3.tmp", "a.x.tmp", "ab.1.tmp",
                                       "a.1.tmp.csv", "a.1.",        "a..tmp"};
  for (const std::string& name : names) write_file_durably(folder / name, "", IfExists::refuse);
  remove_leftovers(folder / "a");
  EXPECT_EQ(names_in(folder.path()), names);
}

TEST(TemporaryFile, IsWholeOrNotThereWhereverItEnds) {
  using Kind = FileFault::Kind;
  for (const Kind kind : {Kind::fails, Kind::ends_the_process}) {
    for (const IfExists if_exists : {IfExists::replace, IfExists::refuse}) {
      const test::TemporaryFolder folder;
      for (int at = 0;; ++at) {
        if (if_exists == IfExists::replace) write_file_durably(folder / "a", "old", if_exists);
        const test::ChildEnd end = test::run_in_child([&] {
          const FileFault fault(at, kind);
          try {
            write_file_durably(folder / "a", "new", if_exists);
          } catch (const Error&) {
            return 1;
          }
          return 0;
        });
        const std::string there = fs::exists(folder / "a") ? read_file(folder / "a") : "none";
        EXPECT_TRUE(there == "new" || there == (if_exists == IfExists::replace ? "old" : "none"))
            << there;
        if (end.status == 0) break;
        fs::remove(folder / "a");
        ASSERT_LT(at, 20);
      }
      EXPECT_EQ(names_in(folder.path()), std::set<std::string>{"a"});
    }
  }
}

TEST(TemporaryFile, HasTheReadersThatAreAskedFor) {
  const test::TemporaryFolder folder;
  const mode_t before = ::umask(022);
  write_file_durably(folder / "all", "", IfExists::refuse);
  write_file_durably(folder / "mine", "", IfExists::refuse, Readers::owner);
  EXPECT_EQ(mode_of(folder / "all"), 0644U);
  EXPECT_EQ(mode_of(folder / "mine"), 0600U);
  // What replaces a file keeps its readers.
  fs::permissions(folder / "mine", fs::perms(0640));
  write_file_durably(folder / "mine", "", IfExists::replace, Readers::owner);
  EXPECT_EQ(mode_of(folder / "mine"), 0640U);
  ::umask(before);
}

}  // namespace
}  // namespace shoal
