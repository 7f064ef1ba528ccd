// One process at a time.
#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/locked_file.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <string>

namespace shoal {
namespace {

using std::chrono::milliseconds;

// Counts up, without a moment in which another could.
void count_up(const std::filesystem::path& path) {
  LockedFile file(path, LockedFile::Make::yes);
  const std::string before = file.read();
  file.write(0, std::to_string(before.empty() ? 1 : std::stoi(before) + 1));
}

TEST(LockedFile, OneProcessAtATime) {
  const test::TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    children.push_back(test::start_child([&] {
      for (int i = 0; i < 50; ++i) count_up(folder / "n");
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(test::wait_for_child(child).status, 0);
  EXPECT_EQ(read_file(folder / "n"), "200");
}

TEST(LockedFile, NamesWhoHasIt) {
  const test::TemporaryFolder folder;
  const LockedFile mine(folder / "n", LockedFile::Make::yes);
  const std::string me = "process " + std::to_string(::getpid());
  const test::ChildEnd end = test::run_in_child([&] {
    try {
      const LockedFile other(folder / "n", LockedFile::Make::no, milliseconds(50));
    } catch (const Error& error) {
      const bool told = std::string(error.what()).find(me) != std::string::npos;
      return error.code() == ErrorCode::unavailable && told ? 0 : 1;
    }
    return 2;
  });
  EXPECT_EQ(end.status, 0);
}

TEST(LockedFile, TheLockGoesWithItsProcess) {
  const test::TemporaryFolder folder;
  const test::ChildEnd end = test::run_in_child([&] {
    const LockedFile held(folder / "n", LockedFile::Make::yes);
    return ::raise(SIGKILL);
  });
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_NO_THROW(LockedFile(folder / "n", LockedFile::Make::no, milliseconds(0)));
}

TEST(LockedFile, OfAFolderIsALockToo) {
  const test::TemporaryFolder folder;
  const LockedFile held(folder.path(), LockedFile::Make::no);
  EXPECT_THROW(LockedFile(folder.path(), LockedFile::Make::no, milliseconds(0)), Error);
}

TEST(LockedFile, ThatIsNotThereIsMadeOnlyIfAsked) {
  const test::TemporaryFolder folder;
  try {
    const LockedFile none(folder / "n", LockedFile::Make::no);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_found);
  }
}

}  // namespace
}  // namespace shoal
