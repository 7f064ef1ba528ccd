// Times a private logistic fit: calibration, noise, solver with certificate, release.
//
//   compare_learning FOLDER TARGET [REPETITIONS]
//
// Prints a line of JSON a case: contestant, seconds (processor time of all threads, least of the
// repetitions), wall_seconds, accuracy on the test rows.
#include "learn/methods.hpp"
#include "learning_data.hpp"

#include <shoal/random/secure_source.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <limits>

namespace shoal::bench {
namespace {

double process_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void time_fit(const char* name, const learn::Problem& problem, const learn::RowSource& rows,
              unsigned threads, int repetitions) {
  const double n = static_cast<double>(rows.row_count());
  random::SecureSource bits;
  double least = std::numeric_limits<double>::infinity();
  double least_wall = least;
  double least_fit = least;
  for (int i = 0; i < repetitions; ++i) {
    const double start = process_seconds();
    const auto wall = std::chrono::steady_clock::now();
    const auto method =
        learn::calibrate_objective(problem, Neighbors::add_remove, Epsilon(1), Delta(1 / (n * n)));
    const double calibrated = process_seconds();
    const std::vector<double> weights = train(method, problem, rows, bits, {.threads = threads});
    const double end = process_seconds();
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - wall;
    least = std::min(least, end - start);
    least_fit = std::min(least_fit, end - calibrated);
    least_wall = std::min(least_wall, waited.count());
  }
  fmt::print(
      "{{\"contestant\": \"{}\", \"rows\": {}, \"seconds\": {:.5f}, \"fit_seconds\": {:.5f}, "
      "\"wall_seconds\": {:.5f}}}\n",
      name, rows.row_count(), least, least_fit, least_wall);
}

void run(const LearningData& data, int repetitions) {
  learn::Problem problem;
  problem.dimension = learn::dimension(data.pipeline);
  problem.row_norm = data.pipeline.row_norm;
  const auto order = data.shuffled(1);
  const auto rows = data.rows(std::span(order).first(data.train_size()));
  time_fit("Shoal, one thread", problem, *rows, 1, repetitions);
  time_fit("Shoal, all threads", problem, *rows, 0, repetitions);
  // How the time grows: the rows again and again.
  constexpr std::size_t kLongest = 10'000'000;
  std::vector<std::size_t> many;
  while (many.size() < kLongest)
    many.insert(many.end(), order.begin(), order.begin() + static_cast<long>(data.train_size()));
  time_fit("Shoal, ten times the rows, one thread", problem,
           *data.rows(std::span(many).first(10 * data.train_size())), 1, 3);
  time_fit("Shoal, ten million rows, one thread", problem,
           *data.rows(std::span(many).first(kLongest)), 1, 1);
}

}  // namespace
}  // namespace shoal::bench

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: compare_learning FOLDER TARGET [REPETITIONS]\n");
    return 2;
  }
  try {
    const shoal::bench::LearningData data(argv[1], argv[2]);
    shoal::bench::run(data, argc > 3 ? std::atoi(argv[3]) : 20);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "compare_learning: {}\n", failure.what());
    return 1;
  }
  return 0;
}
