// A temporary file for rows that do not fit into memory: readable by its owner alone, without a
// name from the moment it is there, gone with the process.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>

namespace shoal {

class SpillFile {
 public:
  SpillFile() = default;
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;
  ~SpillFile();

  // Where the words went. Any number of threads at once. Throws io.
  std::uint64_t write(std::span<const std::uint64_t> words);
  void read(std::uint64_t offset, std::span<std::uint64_t> words) const;

 private:
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::mutex mutex_;
};

}  // namespace shoal
