// Private folders: nobody else can look into them, and nothing of them stays.
#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/private_folder.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <utility>

namespace shoal {
namespace {

TEST(PrivateFolder, IsForItsOwnerAloneAndGoesWithAllThatIsInIt) {
  const test::TemporaryFolder parent;
  std::filesystem::path path;
  {
    const mode_t before = ::umask(0);
    PrivateFolder made(parent.path(), "shoal_test");
    ::umask(before);
    const PrivateFolder folder = std::move(made);
    path = folder.path();
    EXPECT_EQ(path.parent_path(), parent.path());
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
    write_file_durably(path / "rows", "secret", IfExists::refuse);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(PrivateFolder, RemovesWhatAKilledProcessLeft) {
  const test::TemporaryFolder parent;
  const PrivateFolder held(parent.path(), "shoal_test");
  std::filesystem::create_directory(parent / "another_folder");
  std::filesystem::path left;
  const test::ChildEnd end = test::run_in_child([&] {
    const PrivateFolder folder(parent.path(), "shoal_test");
    write_file_durably(folder.path() / "rows", "secret", IfExists::refuse);
    return ::raise(SIGKILL);
  });
  ASSERT_EQ(end.signal, SIGKILL);
  for (const auto& entry : std::filesystem::directory_iterator(parent.path()))
    if (std::filesystem::exists(entry.path() / "rows")) left = entry.path();
  ASSERT_FALSE(left.empty());
  const PrivateFolder next(parent.path(), "shoal_test");
  EXPECT_FALSE(std::filesystem::exists(left));
  EXPECT_TRUE(std::filesystem::exists(held.path()));
  EXPECT_TRUE(std::filesystem::exists(parent / "another_folder"));
}

TEST(PrivateFolder, CannotBeMadeWhereThereIsNoFolder) {
  const test::TemporaryFolder parent;
  EXPECT_THROW(PrivateFolder(parent.path() / "missing", "shoal_test"), Error);
}

}  // namespace
}  // namespace shoal
