#include <shoal/base/digest.hpp>
#include <shoal/base/error.hpp>
#include <shoal/base/held_file.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

namespace shoal {
namespace {

[[noreturn]] void fail(const char* what, const std::filesystem::path& path) {
  const int error = errno;
  throw Error(ErrorCode::io,
              fmt::format("cannot {} {}: {}; check the folder, its permissions and the free space",
                          what, path.string(), std::generic_category().message(error)));
}

struct stat status_of(int descriptor) {
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0) fail("look at", "an open file");
  return status;
}

}  // namespace

HeldFile::HeldFile(const std::filesystem::path& path)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ >= 0) return;
  if (errno == ENOENT || errno == ENOTDIR) {
    throw Error(ErrorCode::not_found,
                fmt::format("there is no file {}; check the name", path.string()));
  }
  fail("read", path);
}

HeldFile::HeldFile(HeldFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

HeldFile& HeldFile::operator=(HeldFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

HeldFile::~HeldFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileStamp HeldFile::stamp() const {
  const struct stat status = status_of(descriptor_);
  return {static_cast<std::uint64_t>(status.st_size),
          std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
}

std::string HeldFile::digest(const std::function<void(std::uint64_t)>& progress) const {
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                   EVP_MD_CTX_free);
  SHOAL_CHECK(context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1);
  std::vector<char> block(std::size_t{1} << 20);
  std::uint64_t done = 0;
  while (true) {
    const ssize_t count =
        ::pread(descriptor_, block.data(), block.size(), static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("read", "an open file");
    if (count == 0) break;
    SHOAL_CHECK(EVP_DigestUpdate(context.get(), block.data(), static_cast<std::size_t>(count)) ==
                1);
    done += static_cast<std::uint64_t>(count);
    if (progress) progress(done);
  }
  Digest digest{};
  unsigned int size = 0;
  SHOAL_CHECK(EVP_DigestFinal_ex(context.get(), digest.data(), &size) == 1 &&
              size == digest.size());
  return to_hex(digest);
}

std::filesystem::path HeldFile::path() const {
  return fmt::format("/proc/self/fd/{}", descriptor_);
}

bool HeldFile::is_at(const std::filesystem::path& path) const {
  struct stat named = {};
  if (::stat(path.c_str(), &named) != 0) return false;
  const struct stat held = status_of(descriptor_);
  return named.st_dev == held.st_dev && named.st_ino == held.st_ino;
}

void HeldFile::sync() const {
  if (::fsync(descriptor_) != 0) fail("write", "an open file");
}

void HeldFile::make_folder(const std::filesystem::path& folder) const {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) fail("make", folder);
  protect(folder);
}

void HeldFile::protect(const std::filesystem::path& other) const {
  const struct stat file = status_of(descriptor_);
  struct stat status = {};
  if (::stat(other.c_str(), &status) != 0) fail("look at", other);
  // Another group than this file's must not gain by its bits.
  const bool same_group = status.st_gid == file.st_gid ||
                          ::chown(other.c_str(), static_cast<uid_t>(-1), file.st_gid) == 0;
  const bool folder = S_ISDIR(status.st_mode);
  mode_t mode = folder ? S_IRWXU : S_IRUSR | S_IWUSR;
  if (same_group && (file.st_mode & S_IRGRP) != 0) mode |= folder ? S_IRGRP | S_IXGRP : S_IRGRP;
  if ((file.st_mode & S_IROTH) != 0) mode |= folder ? S_IROTH | S_IXOTH : S_IROTH;
  if ((status.st_mode & 07777) != mode && ::chmod(other.c_str(), mode) != 0)
    fail("set the permissions of", other);
}

void make_private_file(const std::filesystem::path& path) {
  const int made = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made < 0) fail("write", path);
  ::close(made);
}

}  // namespace shoal
