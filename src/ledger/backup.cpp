#include "ledger/backup.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/ledger/ledger.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <stdlib.h>  // for mkstemp
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace shoal::ledger {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, int error) {
  throw Error(ErrorCode::io, fmt::format("cannot write the backup {}: {}; check the folder, its "
                                         "permissions and the free space",
                                         file.string(), std::generic_category().message(error)));
}

[[noreturn]] void refuse_existing(const std::filesystem::path& file) {
  throw Error(ErrorCode::conflict,
              fmt::format("{} exists; name a new file for the backup", file.string()));
}

// A file that goes unless it was given its name.
class UnnamedFile {
 public:
  explicit UnnamedFile(const std::filesystem::path& file) : name_(file.string() + ".XXXXXX") {
    const int descriptor = ::mkstemp(name_.data());  // mode 0600
    if (descriptor < 0) fail(file, errno);
    ::close(descriptor);
  }
  UnnamedFile(const UnnamedFile&) = delete;
  UnnamedFile& operator=(const UnnamedFile&) = delete;
  ~UnnamedFile() {
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) ::unlink((name_ + suffix).c_str());
  }

  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

void copy_pages(const Connection& from, const std::string& name) {
  Connection to(name, Access::write, "", 0);
  to.run("PRAGMA synchronous = FULL");
  sqlite3_backup* backup = sqlite3_backup_init(to.handle(), "main", from.handle(), "main");
  if (backup == nullptr) to.fail(sqlite3_errcode(to.handle()));
  sqlite3_backup_step(backup, -1);
  const int code = sqlite3_backup_finish(backup);
  if (code != SQLITE_OK) to.fail(code);
}

void sync(const std::string& name, const std::filesystem::path& file) {
  const int descriptor = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail(file, errno);
  const int failed = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  if (failed != 0) fail(file, failed);
}

}  // namespace

void write_backup(const Connection& from, const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) refuse_existing(file);
  const UnnamedFile copy(file);
  copy_pages(from, copy.name());
  {
    Options options;
    options.create = false;
    Ledger(copy.name(), options).verify();
  }
  sync(copy.name(), file);
  // Refuses to replace, atomically.
  if (::link(copy.name().c_str(), file.c_str()) != 0) {
    if (errno == EEXIST) refuse_existing(file);
    fail(file, errno);
  }
  sync_folder_of(file);
}

}  // namespace shoal::ledger
