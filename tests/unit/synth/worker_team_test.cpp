// A team does every piece once, carries exceptions over, and is of use again afterwards.
#include "synth/worker_team.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace shoal::synth {
namespace {

TEST(WorkerTeamTest, DoesEachPieceOnce) {
  for (const int threads : {-1, 0, 1, 2, 3, 100}) {
    WorkerTeam team(threads);
    for (const std::size_t pieces : {0U, 1U, 2U, 16U, 1000U}) {
      for (int run = 0; run < 50; ++run) {
        std::vector<int> done(pieces);  // each has its own: no two threads may write one
        team.run(pieces, [&](std::size_t piece) { ++done[piece]; });
        EXPECT_EQ(std::accumulate(done.begin(), done.end(), 0), static_cast<int>(pieces));
        EXPECT_TRUE(std::all_of(done.begin(), done.end(), [](int times) { return times == 1; }));
      }
    }
  }
}

TEST(WorkerTeamTest, AllOfItWork) {
  WorkerTeam team(3);
  // A piece ends when all three threads are within one.
  std::mutex guard;
  std::condition_variable all;
  std::size_t inside = 0;
  team.run(3, [&](std::size_t) {
    std::unique_lock lock(guard);
    ++inside;
    all.notify_all();
    all.wait(lock, [&] { return inside == 3; });
  });
  EXPECT_EQ(inside, 3U);
}

TEST(WorkerTeamTest, ThrowsOnWhatAPieceThrows) {
  for (const int threads : {1, 2, 3}) {
    WorkerTeam team(threads);
    for (int run = 0; run < 50; ++run) {
      EXPECT_THROW(team.run(100,
                            [](std::size_t piece) {
                              if (piece % 7 == 5) throw std::runtime_error("piece");
                            }),
                   std::runtime_error);
      std::vector<int> done(9);
      team.run(9, [&](std::size_t piece) { ++done[piece]; });
      EXPECT_EQ(done, std::vector<int>(9, 1));
    }
  }
}

TEST(WorkerTeamTest, PiecesCoverATable) {
  EXPECT_EQ(pieces_of((std::size_t{1} << 16) - 1), 1U);
  EXPECT_EQ(pieces_of(std::size_t{1} << 16), 2U);
  EXPECT_EQ(pieces_of(std::size_t{1} << 30), kMaxPieces);
  for (const std::size_t cells : {std::size_t{1}, std::size_t{65537}, std::size_t{1234567}}) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < pieces_of(cells); ++i) {
      const CellRange range = piece_of(cells, pieces_of(cells), i);
      EXPECT_EQ(range.begin, next);
      EXPECT_LT(range.begin, range.end);
      next = range.end;
    }
    EXPECT_EQ(next, cells);
  }
}

}  // namespace
}  // namespace shoal::synth
