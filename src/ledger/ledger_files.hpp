// The files of a ledger on disk: the database, its write-ahead log and its shared memory. What
// SQLite does not tell: whether they still are the files at their paths, who keeps others out, and
// whether the disk is full.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace shoal::ledger {

inline constexpr std::array<const char*, 3> kLedgerFiles{"", "-wal", "-shm"};

// A file, whatever its name; number 0 is no file.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  bool operator==(const FileIdentity&) const = default;
};

FileIdentity identity_of(const std::filesystem::path& path);

// Which files a connection works on. An answer that is stored in a file that nobody will open again
// is not stored: the spend would be gone, and the answer would have left.
class FilesInPlace {
 public:
  // None unless this process has the files open that are at the paths now, all three.
  static std::optional<FilesInPlace> opened(const std::filesystem::path& path);
  // The same inside a transaction, when they must be. Throws corrupt.
  static FilesInPlace required(const std::filesystem::path& path);

  // Whether the paths lead to the same files still.
  bool hold() const;
  // Throws corrupt unless they do.
  void require() const;

 private:
  explicit FilesInPlace(const std::filesystem::path& path);

  std::filesystem::path path_;
  std::array<FileIdentity, kLedgerFiles.size()> files_;
};

// The process that keeps others from writing; 0 if there is none, or it cannot be seen from here.
int lock_holder(const std::filesystem::path& path);

// Whether for so long a process makes or recovers the shared memory, which keeps readers out, too.
// SQLite itself would wait for ten seconds, however long it was told to.
bool keeps_readers_out(const std::filesystem::path& path, int busy_milliseconds);

// What to say to somebody who waited in vain.
std::string busy_sentence(const std::filesystem::path& path);

bool disk_is_full(const std::filesystem::path& path);

}  // namespace shoal::ledger
