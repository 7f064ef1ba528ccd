// What one more question costs against a ledger of 10,000 past ones: the filter's decision alone,
// and the whole reservation, which is on disk when it returns.
//   build/bench/bench/micro/charge [past spends]
#include <shoal/ledger/ledger.hpp>
#include <shoal/privacy/filter.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace shoal;
using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double processor_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

constexpr int kMeasured = 200;

void measure(int past, const std::filesystem::path& path) {
  const privacy::Budget budget{Epsilon(1000), Delta(1e-6)};
  const privacy::Event event = privacy::event::Compose{
      {privacy::event::DiscreteGaussian{200, 1}, privacy::event::DiscreteLaplace{500, 1}}};
  ledger::Ledger ledger(path);
  ledger.open_account({"bench", budget, Neighbors::add_remove, "one row"});
  std::vector<double> wall;
  std::vector<double> processor;
  for (int i = 0; i < past + kMeasured; ++i) {
    const Clock::time_point start = Clock::now();
    const double before = processor_milliseconds();
    auto reserved =
        ledger.reserve({"bench", std::to_string(i), "digest", "question", "policy", budget, event});
    if (i >= past) {
      wall.push_back(milliseconds_since(start));
      processor.push_back(processor_milliseconds() - before);
    }
    auto reservation = std::get<privacy::Reservation>(std::move(reserved));
    ledger.settle(std::move(reservation).spend(), "answer");
  }
  const privacy::Charge total = ledger.total("bench");
  const Clock::time_point start = Clock::now();
  int fitting = 0;
  for (int i = 0; i < 1000; ++i) fitting += privacy::fits(budget, total) ? 1 : 0;
  fmt::print("past spends {}, that fit: {}\n", past, fitting == 1000);
  fmt::print("decision            {:.1f} us\n", milliseconds_since(start));
  fmt::print("reservation         {:.2f} ms processor time, {:.2f} ms in all (median of {})\n",
             median(processor), median(wall), kMeasured);
}

}  // namespace

int main(int argc, char** argv) {
  const int past = argc > 1 ? std::atoi(argv[1]) : 10'000;
  const std::filesystem::path folder = std::filesystem::temp_directory_path() /
                                       ("shoal-charge-" + std::to_string(std::time(nullptr)));
  std::filesystem::create_directory(folder);
  measure(past, folder / "bench.ledger");
  std::filesystem::remove_all(folder);
}
