// Reading a ledger without writing next to it: what nobody writes can be read as it is, and
// everything else from a copy of one's own. Neither ever shows less spent than was there: a log
// with frames in it is copied too, and a file that changes meanwhile is refused.
#pragma once

#include "ledger/ledger_files.hpp"

#include <shoal/base/private_folder.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>

namespace shoal::ledger {

// Whether this process can write the file, and others beside it.
bool may_write(const std::filesystem::path& path);

// What a file was like at a moment.
struct FileState {
  FileIdentity file;
  std::int64_t size = -1;  // no file
  std::int64_t changed = 0;
  bool operator==(const FileState&) const = default;
};

FileState state_of_file(const std::filesystem::path& path);

// A database whose log is empty, and which is to stay as it is.
class QuietFile {
 public:
  // None if there is something in its log.
  static std::optional<QuietFile> without_log(const std::filesystem::path& path);

  // Throws unavailable if it was written since.
  void require() const;

 private:
  explicit QuietFile(std::filesystem::path path);
  std::filesystem::path path_;
  FileState state_;
};

// A copy of the database and its log, of one moment, in a folder that goes with it.
class PrivateCopy {
 public:
  // Throws unavailable if the files never stand still, io if they cannot be read or copied.
  explicit PrivateCopy(const std::filesystem::path& path);

  std::filesystem::path path() const { return folder_.path() / "ledger"; }

 private:
  PrivateFolder folder_;
};

}  // namespace shoal::ledger
