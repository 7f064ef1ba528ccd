// Private folders: nobody else can look into them, and nothing of them stays.
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/private_folder.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>

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

TEST(PrivateFolder, CannotBeMadeWhereThereIsNoFolder) {
  const test::TemporaryFolder parent;
  EXPECT_THROW(PrivateFolder(parent.path() / "missing", "shoal_test"), Error);
}

}  // namespace
}  // namespace shoal
