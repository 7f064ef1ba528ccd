// A small file that one process at a time works on, in place; or a folder, of which one process at
// a time makes a file.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

namespace shoal {

class LockedFile {
 public:
  enum class Make { no, yes };

  // Opens the file, or makes it, and waits for its lock. The lock goes with the process. The file
  // must be one that nobody renames or replaces. Throws not_found, io, and unavailable, with the
  // process that has it.
  LockedFile(const std::filesystem::path& path, Make make,
             std::chrono::milliseconds patience = std::chrono::seconds(10));
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;
  ~LockedFile();

  // All of it. Throws io.
  std::string read() const;
  // Overwrites the bytes from there on; they are on disk when it returns. Throws io.
  void write(std::size_t offset, std::string_view bytes);

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace shoal
