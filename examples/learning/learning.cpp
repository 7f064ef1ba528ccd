// Every method of private learning on the same made-up rows, from C++: a policy, options, a plan
// that costs nothing, a model that is paid for before a row is read.
//   build/dev/examples/learning [rows]
#include <shoal/base/file.hpp>
#include <shoal/learn/features.hpp>
#include <shoal/random/secure_source.hpp>
#include <shoal/random/uniform.hpp>
#include <shoal/session/session.hpp>

#include <fmt/format.h>
#include <stdlib.h>  // for mkdtemp

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace shoal;
using session::TrainOptions;

// What is public about the rows: bounds, and how much may ever leak.
constexpr const char* kPolicy = R"([dataset]
name = "points"
lineage = "points-{0}"
[privacy]
unit = "row"
neighbors = "{0}"
[budget]
epsilon = 100
delta = 1e-4
ledger = "{0}.ledger"
[query]
time_steps = 0
[table.points]
source = "{0}.csv"
format = "csv"
[table.points.column.x]
type = "real"
bounds = [-1, 1]
[table.points.column.y]
type = "real"
bounds = [-1, 1]
[table.points.column.side]
type = "text"
categories = ["below", "above"]
[table.points.column.height]
type = "real"
bounds = [-1, 1]
)";

// What the rows follow: the sign of x + y / 2 - 1 / 10, nine times out of ten.
struct Point {
  explicit Point(random::BitSource& bits)
      : x(coordinate(bits)),
        y(coordinate(bits)),
        above((x + y / 2 - 0.1 > 0) == (random::uniform_below(10, bits) != 0)) {}

  static double coordinate(random::BitSource& bits) {
    return static_cast<double>(bits.next_bits(20)) / (1 << 19) - 1;
  }

  double x;
  double y;
  bool above;
};

void write_points(const std::filesystem::path& file, int rows, random::BitSource& bits) {
  std::string text = "x,y,side,height\n";
  for (int i = 0; i < rows; ++i) {
    const Point point(bits);
    text += fmt::format("{},{},{},{}\n", point.x, point.y, point.above ? "above" : "below",
                        point.above ? 1 : -1);
  }
  write_file_durably(file, text, IfExists::refuse);
}

// On new points, which nobody has to protect.
double accuracy(const learn::Model& model, random::BitSource& bits) {
  constexpr int kNew = 10'000;
  int right = 0;
  for (int i = 0; i < kNew; ++i) {
    const Point point(bits);
    std::array<data::Cell, 2> cells;
    cells[0].number = point.x;
    cells[1].number = point.y;
    right += (learn::predict(model, cells).label > 0) == point.above ? 1 : 0;
  }
  return static_cast<double>(right) / kNew;
}

// Models of one policy: a title, the method, and what differs from the defaults.
class Lab {
 public:
  Lab(const std::filesystem::path& folder, const std::string& neighbors, random::BitSource& bits)
      : session_(policy_file(folder, neighbors)), bits_(bits) {}

  void run(const std::string& title, const std::string& method, TrainOptions options = {}) {
    options.method = method;
    if (options.target.empty()) options.target = "side";
    options.features = {"x", "y"};
    options.row_norm = 1.5;
    options.epsilon = 1;
    if (!options.delta) options.delta = 1e-6;
    const learn::Model model = session_.train(options);
    fmt::print("{:<32}", title);
    for (const double weight : model.weights) fmt::print(" {:>8.2f}", weight);
    fmt::print("{:>9.1f} %\n", 100 * accuracy(model, bits_));
  }

 private:
  static std::filesystem::path policy_file(const std::filesystem::path& folder,
                                           const std::string& neighbors) {
    const std::filesystem::path file = folder / (neighbors + ".toml");
    write_file_durably(file, fmt::format(kPolicy, neighbors), IfExists::refuse);
    return file;
  }

  session::Session session_;
  random::BitSource& bits_;
};

void present_or_absent(Lab& lab) {
  lab.run("objective perturbation", "objective");
  lab.run("objective, pure", "objective", {.delta = 0});
  lab.run("objective, Kifer et al.", "objective", {.rule = "kifer"});
  lab.run("output perturbation", "output", {.l2 = 40});
  lab.run("approximate minima", "amp");
  lab.run("gradient descent", "gradient");
  lab.run("stochastic gradient descent", "sgd");
  lab.run("descent in one pass", "ftrl");
  lab.run("exponential mechanism, a grid", "exponential", {.radius = 5, .points = 11});
  lab.run("exponential, counted mistakes", "exponential",
          {.radius = 5,
           .candidates = {1, 1, -1, 2, 1, -1.6, -1, 0, 0.5},
           .candidate_width = 3,
           .mistakes = true});
  lab.run("Frank-Wolfe", "frank_wolfe", {.radius = 5});
  lab.run("regression from noisy sums", "adassp", {.target = "height", .model = "linear"});
  lab.run("best of three l2 weights", "objective", {.delta = 0, .try_l2 = {10, 100, 1000}});
}

void exchanged(Lab& lab) {
  lab.run("objective perturbation, exchange", "objective");
  lab.run("bolt-on descent, exchange", "bolt_on", {.l2 = 40});
}

void run_all(const std::filesystem::path& folder, int rows) {
  random::SecureSource bits;
  // Files of their own: one file has one budget.
  for (const char* neighbors : {"add_remove", "replace_one"})
    write_points(folder / fmt::format("{}.csv", neighbors), rows, bits);
  fmt::print(
      "{} rows, epsilon 1, delta 1e-6 where there is one\n\n{:<32} {:>8} {:>8} {:>8}{:>11}\n", rows,
      "method", "x", "y", "one", "accuracy");
  Lab present(folder, "add_remove", bits);
  present_or_absent(present);
  Lab exchange(folder, "replace_one", bits);
  exchanged(exchange);
}

}  // namespace

int main(int argc, char** argv) {
  const int rows = argc > 1 ? std::atoi(argv[1]) : 10'000;
  std::string pattern = (std::filesystem::temp_directory_path() / "shoal-learning-XXXXXX").string();
  const std::filesystem::path folder = ::mkdtemp(pattern.data());
  run_all(folder, rows);
  std::filesystem::remove_all(folder);
  return 0;
}
