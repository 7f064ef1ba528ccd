// Test accuracy of each private method at fixed privacy: delta = 1 / n^2, ten splits and noises.
//
//   accuracy_learning FOLDER TARGET [SEEDS]
//
// Prints a Markdown table: mean test accuracy in percent and its standard error. Every parameter is
// the default that public facts give; those of the gradient methods were once fixed with a look at
// such a table.
#include "learn/methods.hpp"
#include "learning_data.hpp"

#include <shoal/base/error.hpp>
#include <shoal/learn/solver.hpp>
#include <shoal/random/secure_source.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <functional>

namespace shoal::bench {
namespace {

using learn::Problem;

double accuracy(const learn::RowSource& rows, std::span<const double> weights) {
  std::uint64_t right = 0;
  learn::BlockBuffer buffer;
  for (std::size_t b = 0; b < rows.block_count(); ++b) {
    const learn::RowBlock block = rows.block(b, buffer);
    for (std::size_t i = 0; i < block.rows; ++i) {
      double z = 0;
      for (std::uint32_t k = block.begins[i]; k < block.begins[i + 1]; ++k)
        z += block.values[k] * weights[block.columns[k]];
      right += (z > 0 ? 1 : -1) == block.labels[i] ? 1 : 0;
    }
  }
  return 100 * static_cast<double>(right) / static_cast<double>(rows.row_count());
}

struct Contestant {
  std::string name;
  std::function<std::vector<double>(const Problem&, const learn::RowSource&, double epsilon,
                                    double delta, random::BitSource&)>
      fit;
};

template <typename Calibrate>
Contestant contestant(const std::string& name, Calibrate calibrate) {
  return {name, [calibrate](const Problem& problem, const learn::RowSource& rows, double epsilon,
                            double delta, random::BitSource& bits) {
            return train(calibrate(problem, Epsilon(epsilon), Delta(delta)), problem, rows, bits,
                         {});
          }};
}

std::vector<Contestant> contestants() {
  const auto objective = [](learn::ObjectiveRule rule, Neighbors neighbors, bool pure) {
    return [=](const Problem& problem, Epsilon epsilon, Delta delta) {
      return learn::calibrate_objective(problem, neighbors, epsilon, pure ? Delta(0) : delta,
                                        {.rule = rule});
    };
  };
  using learn::ObjectiveRule;
  return {
      {"not private",
       [](const Problem& problem, const learn::RowSource& rows, double, double,
          random::BitSource&) {
         learn::Objective plain;
         plain.loss = problem.loss;
         plain.regulariser.l2 = 0.01;
         return learn::minimise(rows, plain, {}).weights;
       }},
      contestant("objective, tight", objective(ObjectiveRule::tight, Neighbors::add_remove, false)),
      contestant("objective, tight, replace_one",
                 objective(ObjectiveRule::tight, Neighbors::replace_one, false)),
      contestant("objective, tight, pure",
                 objective(ObjectiveRule::tight, Neighbors::add_remove, true)),
      contestant("objective, redberg",
                 objective(ObjectiveRule::redberg, Neighbors::add_remove, false)),
      contestant("objective, kifer", objective(ObjectiveRule::kifer, Neighbors::add_remove, false)),
      contestant("objective, chaudhuri, pure, replace_one",
                 objective(ObjectiveRule::chaudhuri, Neighbors::replace_one, true)),
      contestant("output",
                 [](const Problem& problem, Epsilon epsilon, Delta delta) {
                   const double d = static_cast<double>(problem.dimension);
                   const double l2 = std::sqrt(d) * std::fmax(1.0, 4 / epsilon.value());
                   return learn::calibrate_output(problem, Neighbors::add_remove, epsilon, delta,
                                                  l2);
                 }),
      contestant("amp, tight",
                 [](const Problem& problem, Epsilon epsilon, Delta delta) {
                   return learn::calibrate_minima(problem, Neighbors::add_remove, epsilon, delta);
                 }),
      contestant("amp, published, replace_one",
                 [](const Problem& problem, Epsilon epsilon, Delta delta) {
                   return learn::calibrate_minima(problem, Neighbors::replace_one, epsilon, delta,
                                                  {.rule = learn::MinimaRule::published});
                 }),
      contestant("gradient",
                 [](const Problem& problem, Epsilon epsilon, Delta delta) {
                   return learn::calibrate_gradient(problem, Neighbors::add_remove, epsilon, delta);
                 }),
      contestant("sgd",
                 [](const Problem& problem, Epsilon epsilon, Delta delta) {
                   return learn::calibrate_sampled(problem, Neighbors::add_remove, epsilon, delta);
                 }),
      contestant("ftrl",
                 [](const Problem& problem, Epsilon epsilon, Delta delta) {
                   return learn::calibrate_prefix(problem, Neighbors::add_remove, epsilon, delta);
                 }),
      contestant("bolt_on, replace_one",
                 [](const Problem& problem, Epsilon epsilon, Delta delta) {
                   const double d = static_cast<double>(problem.dimension);
                   const double l2 = std::sqrt(d) * std::fmax(1.0, 4 / epsilon.value());
                   return learn::calibrate_bolt_on(problem, Neighbors::replace_one, epsilon, delta,
                                                   {.l2 = l2});
                 }),
  };
}

// Mean and standard error of what was added.
struct Mean {
  double sum = 0;
  double squares = 0;
  int count = 0;

  void add(double x) {
    sum += x;
    squares += x * x;
    ++count;
  }
  std::string text() const {
    const double mean = sum / count;
    const double variance = std::fmax(0, squares / count - mean * mean);
    return fmt::format("{:.2f} +- {:.2f}", mean, std::sqrt(variance / std::max(count - 1, 1)));
  }
};

void run(const LearningData& data, int seeds) {
  Problem problem;
  problem.dimension = learn::dimension(data.pipeline);
  problem.row_norm = data.pipeline.row_norm;
  const double n = static_cast<double>(data.train_size());
  const double delta = 1 / (n * n);
  fmt::print("{} rows to train, {} features, delta {:.2g}, {} splits\n\n", data.train_size(),
             problem.dimension, delta, seeds);
  const std::vector<double> epsilons = {0.01, 0.1, 1, 10};
  const std::vector<Contestant> all = contestants();
  std::vector<std::vector<Mean>> means(all.size(), std::vector<Mean>(epsilons.size()));
  random::SecureSource bits;
  for (int seed = 1; seed <= seeds; ++seed) {
    const auto order = data.shuffled(static_cast<std::uint64_t>(seed));
    const auto train_rows = data.rows(std::span(order).first(data.train_size()));
    const auto test_rows = data.rows(std::span(order).subspan(data.train_size()));
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t k = 0; k < epsilons.size(); ++k) {
        means[i][k].add(
            accuracy(*test_rows, all[i].fit(problem, *train_rows, epsilons[k], delta, bits)));
      }
    }
  }
  fmt::print("| method | 0.01 | 0.1 | 1 | 10 |\n|---|---|---|---|---|\n");
  for (std::size_t i = 0; i < all.size(); ++i) {
    fmt::print("| {} |", all[i].name);
    for (const Mean& mean : means[i]) fmt::print(" {} |", mean.text());
    fmt::print("\n");
  }
}

}  // namespace
}  // namespace shoal::bench

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: accuracy_learning FOLDER TARGET [SEEDS]\n");
    return 2;
  }
  try {
    const shoal::bench::LearningData data(argv[1], argv[2]);
    shoal::bench::run(data, argc > 3 ? std::atoi(argv[3]) : 10);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "accuracy_learning: {}\n", failure.what());
    return 1;
  }
  return 0;
}
