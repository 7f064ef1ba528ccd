// A file on its way: written under a temporary name beside the one that it gets when it is whole.
//
// While it is written its process holds a lock on it. A killed process leaves the file without the
// lock, and the next one that writes the same target removes it. Name: <target>.<pid>.<number>.tmp
#pragma once

#include <shoal/base/file.hpp>

#include <filesystem>
#include <string_view>

namespace shoal {

class TemporaryFile {
 public:
  // Makes the file, empty, and removes what ended processes left of the same target. Throws io.
  TemporaryFile(std::filesystem::path target, Readers readers);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  // Removes what got no name.
  ~TemporaryFile();

  const std::filesystem::path& path() const { return path_; }

  // Appends. Throws io.
  void write(std::string_view contents);

  // Lets the same people read it as can read that file, if there is one. Throws io.
  void be_readable_as(const std::filesystem::path& other);

  // Gives it its name, durably, contents and all. Throws conflict if the target is there and that
  // is refused, io otherwise. After io the file may have its name.
  void take_name(IfExists if_exists);

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
  int descriptor_ = -1;
};

// Removes what ended processes left of this target. What cannot be removed stays.
void remove_leftovers(const std::filesystem::path& target) noexcept;

}  // namespace shoal
