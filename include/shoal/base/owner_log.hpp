// The data owner's log: where details go that an analyst must not see, such as why the engine
// failed on a private row. A file that only the owner can read, one line an entry, appended by
// every process.
#pragma once

#include <filesystem>
#include <string_view>

namespace shoal {

class OwnerLog {
 public:
  // The file is made at the first entry, readable by its owner alone.
  explicit OwnerLog(std::filesystem::path path);

  // Appends a line: time in UTC, where it happened, the details. Never throws: a log that cannot be
  // written must not become a channel of its own.
  void write(std::string_view where, std::string_view details) const noexcept;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace shoal
