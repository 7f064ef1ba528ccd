// Memory for rows that wait: blocks of one size, cut from large pieces whose pages are asked for
// all at once, as much of the time would otherwise go into getting them one by one. (Pages of 2 MB
// are faster still where the system has them at hand, and much slower where it must make room
// first.) All of it is given back at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace shoal::engine {

class RowMemory {
 public:
  static constexpr std::size_t kBlockWords = 2048;

  RowMemory() = default;
  RowMemory(const RowMemory&) = delete;
  RowMemory& operator=(const RowMemory&) = delete;
  ~RowMemory();

  // At least so many words: a block, or more if one row needs more. Whatever they hold. Any number
  // of threads at once.
  std::uint64_t* take(std::size_t words);
  // One that `take` gave for the same number of words.
  void give_back(std::uint64_t* block, std::size_t words);

 private:
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 21;

  std::mutex mutex_;
  std::vector<void*> pieces_;
  std::vector<std::uint64_t*> free_;
};

}  // namespace shoal::engine
