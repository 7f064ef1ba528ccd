// A file held open, so that what was checked of it is what is read, whatever happens to its name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace shoal {

// What of a file shows, at a glance, that it is the one of before.
struct FileStamp {
  std::uint64_t bytes = 0;
  std::int64_t time_ns = 0;  // of the last change of its contents
  bool operator==(const FileStamp&) const = default;
};

class HeldFile {
 public:
  // For reading. Throws not_found or io.
  explicit HeldFile(const std::filesystem::path& path);
  HeldFile(HeldFile&& other) noexcept;
  HeldFile& operator=(HeldFile&& other) noexcept;
  ~HeldFile();

  FileStamp stamp() const;
  // SHA-256 of all bytes, in hexadecimal; `progress` is told the bytes that were read. Throws io.
  std::string digest(const std::function<void(std::uint64_t)>& progress = {}) const;
  // Opens the same file again in this process, even if it was renamed or removed.
  std::filesystem::path path() const;
  // Whether the name still leads to this file.
  bool is_at(const std::filesystem::path& path) const;
  // Waits until the disk has its contents. Throws io.
  void sync() const;
  // Makes a folder into which nobody can look who cannot read this file. Throws io.
  void make_folder(const std::filesystem::path& folder) const;
  // Lets those alone read a file or a folder who can read this one. Throws io.
  void protect(const std::filesystem::path& other) const;

 private:
  int descriptor_ = -1;
};

// Makes an empty file that its owner alone can read. Throws io, also if it is there.
void make_private_file(const std::filesystem::path& path);

}  // namespace shoal
