// A holdout that can be asked ten thousand times. Runs the experiment of Science 2015 once without
// and once with a signal, and prints what a plain holdout, the published heuristic and Shoal's
// holdout report, beside the truth.
#include "experiment.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <ctime>

namespace {

using namespace shoal::example;

int show(const char* title, const Setting& setting, std::uint64_t seed) {
  const std::clock_t start = std::clock();
  const Repetition one = run_experiment(setting, seed);
  const double taken = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  fmt::print("{}: {} rows, {} variables\n", title, setting.rows, setting.variables);
  fmt::print("          plain holdout      thresholdout       shoal's holdout\n");
  fmt::print("variables said    true     said    true     said    true    interval\n");
  int outside = 0;
  for (std::size_t s = 0; s < setting.sizes.size(); ++s) {
    const Report& plain = one.standard[s];
    const Report& published = one.thresholdout[s];
    const Report& ours = one.holdout[s];
    outside += ours.fresh < ours.lower || ours.fresh > ours.upper ? 1 : 0;
    fmt::print("{:>9} {:.3f}   {:.3f}    {:.3f}   {:.3f}    {:.3f}   {:.3f}   {:.3f} to {:.3f}\n",
               setting.sizes[s], plain.reported, plain.fresh, published.reported, published.fresh,
               ours.reported, ours.fresh, ours.lower, ours.upper);
  }
  fmt::print("{} disagreements told; {} of {} intervals miss; {:.1f} s of processor time\n\n",
             one.disagreements, outside, setting.sizes.size(), taken);
  return outside;
}

}  // namespace

int main(int argc, char** argv) {
  // Smaller data for a quick look: holdout <rows and variables>.
  Setting setting;
  if (argc > 1) setting.rows = setting.variables = std::atoi(argv[1]);
  if (setting.rows < 1000) {
    fmt::print(stderr, "usage: holdout [rows, at least 1000]\n");
    return 1;
  }
  int outside = show("no signal", setting, 1);
  setting.signals = 20;
  setting.shift = 6 / std::sqrt(static_cast<double>(setting.rows));
  outside += show("20 variables with a signal", setting, 2);
  return outside == 0 ? 0 : 1;
}
