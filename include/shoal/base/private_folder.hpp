// A folder into which nobody else can look, for what must not outlive this object: made with mode
// 0700, gone with all that is in it. Its process holds a lock on it; what a killed process leaves
// has none, and the next folder of that name removes it.
#pragma once

#include <filesystem>
#include <string_view>

namespace shoal {

class PrivateFolder {
 public:
  // Below `parent`, with a name that begins so. Throws io.
  PrivateFolder(const std::filesystem::path& parent, std::string_view name);
  PrivateFolder(PrivateFolder&& other) noexcept;
  PrivateFolder& operator=(PrivateFolder&& other) noexcept;
  ~PrivateFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;  // holds the lock
};

}  // namespace shoal
