// A few threads that stay for one fit, and the pieces that tables are taken in. Pieces depend on
// the size of a table alone, and what each gives is put together in their order: so that a result
// is the same, bit for bit, for any number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace shoal::synth {

// Tables below twice this are one piece: waking a thread takes as long as some ten thousand cells.
inline constexpr std::size_t kPieceCells = std::size_t{1} << 15;
inline constexpr std::size_t kMaxPieces = 16;

inline constexpr std::size_t pieces_of(std::size_t cells) {
  return cells < 2 * kPieceCells ? 1 : std::min(cells / kPieceCells, kMaxPieces);
}

// Cells from the first on, up to but without the last.
struct CellRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Pieces begin at whole cache lines.
inline constexpr CellRange piece_of(std::size_t cells, std::size_t pieces, std::size_t i) {
  const std::size_t each = cells / pieces / 8 * 8;
  return {i * each, i + 1 == pieces ? cells : (i + 1) * each};
}

// Used by one thread at a time, which does its share of the work.
class WorkerTeam {
 public:
  // Of so many, the caller included; below 1 is 1. Threads start when there is work for them.
  explicit WorkerTeam(int threads);
  // Waits for all threads to end.
  ~WorkerTeam();
  WorkerTeam(const WorkerTeam&) = delete;
  WorkerTeam& operator=(const WorkerTeam&) = delete;

  // Calls action(0), ..., action(pieces - 1), each once, in any order, and returns when all are
  // done. If one throws, pieces that were not begun are left out, and the first exception is thrown
  // on.
  template <class Action>
  void run(std::size_t pieces, Action&& action) {
    if (helpers_ == 0 || pieces <= 1) {
      for (std::size_t piece = 0; piece < pieces; ++piece) action(piece);
    } else {
      share(pieces, std::ref(action));
    }
  }

 private:
  using Piece = std::function<void(std::size_t piece)>;
  void share(std::size_t pieces, const Piece& action);
  void start_helpers();
  void help();
  void work(const Piece& action, std::size_t pieces);

  std::size_t helpers_;
  std::vector<std::thread> threads_;
  std::mutex guard_;  // of what follows, but for next_
  std::condition_variable wake_;
  std::condition_variable left_;
  const Piece* action_ = nullptr;  // none: there is nothing to do
  std::size_t pieces_ = 0;
  std::uint64_t run_ = 0;   // which run this is
  std::size_t inside_ = 0;  // helpers that take part in it
  bool stop_ = false;
  std::exception_ptr failure_;
  std::atomic<std::size_t> next_ = 0;
};

// Calls action(range) for all cells of a table.
template <class Action>
void for_pieces(std::size_t cells, WorkerTeam& team, Action action) {
  const std::size_t pieces = pieces_of(cells);
  if (pieces == 1) return action(CellRange{0, cells});
  team.run(pieces, [&](std::size_t piece) { action(piece_of(cells, pieces, piece)); });
}

}  // namespace shoal::synth
