#include "engine/row_memory.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace shoal::engine {

RowMemory::~RowMemory() {
  for (void* piece : pieces_) std::free(piece);
}

std::uint64_t* RowMemory::take(std::size_t words) {
  if (words > kBlockWords) return new std::uint64_t[words];
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    constexpr std::size_t kBlocks = kPieceBytes / (kBlockWords * sizeof(std::uint64_t));
    free_.reserve(free_.size() + kBlocks);
    void*& piece = pieces_.emplace_back();
    piece = std::aligned_alloc(kPieceBytes, kPieceBytes);
    if (piece == nullptr) throw std::bad_alloc();
#ifdef MADV_POPULATE_WRITE
    ::madvise(piece, kPieceBytes, MADV_POPULATE_WRITE);  // it may be refused, and nothing is lost
#endif
    auto* words_of = static_cast<std::uint64_t*>(piece);
    for (std::size_t i = kBlocks; i-- > 0;) free_.push_back(words_of + i * kBlockWords);
  }
  std::uint64_t* block = free_.back();
  free_.pop_back();
  return block;
}

void RowMemory::give_back(std::uint64_t* block, std::size_t words) {
  if (words > kBlockWords) {
    delete[] block;
    return;
  }
  const std::lock_guard lock(mutex_);
  free_.push_back(block);
}

}  // namespace shoal::engine
