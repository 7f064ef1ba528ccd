// Test accuracy, or test error of a number, of each private method at fixed privacy: delta = 1 /
// n^2, several splits and noises.
//
//   accuracy_learning FOLDER TARGET [SEEDS]
//
// Prints a Markdown table: mean test accuracy in percent (of a number: root mean square error, in
// its own unit) and its standard error. Every parameter is the default that public facts give;
// those of the gradient methods were once fixed with a look at such a table.
#include "learn/methods.hpp"
#include "learn/row_view.hpp"
#include "learning_data.hpp"

#include <shoal/base/error.hpp>
#include <shoal/learn/solver.hpp>
#include <shoal/random/secure_source.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>

namespace shoal::bench {
namespace {

using learn::Problem;

// The class that softmax finds most likely.
double likeliest(const learn::Row& row, std::span<const double> weights, std::size_t dimension) {
  double best = 0;
  double highest = -HUGE_VAL;
  for (std::size_t c = 0; c * dimension < weights.size(); ++c) {
    const double z = learn::product<double>(row, weights.data() + c * dimension);
    if (z > highest) highest = z, best = static_cast<double>(c);
  }
  return best;
}

// The share of right labels in percent, or the root mean square error.
double measure(const learn::RowSource& rows, std::span<const double> weights,
               const learn::Target& target) {
  const bool number = target.categories.empty();
  double sum = 0;
  learn::BlockBuffer buffer;
  for (std::size_t b = 0; b < rows.block_count(); ++b) {
    const learn::RowBlock block = rows.block(b, buffer);
    for (std::size_t i = 0; i < block.rows; ++i) {
      const learn::Row row = learn::row_of(block, i);
      if (target.categories.size() > 2) {
        sum += likeliest(row, weights, rows.dimension()) == block.labels[i] ? 1 : 0;
        continue;
      }
      const double z = learn::product<double>(row, weights.data());
      const double off = (z - block.labels[i]) / 2 * (target.upper - target.lower);
      sum += number ? off * off : (z > 0 ? 1 : -1) == block.labels[i] ? 1 : 0;
    }
  }
  const double mean = sum / static_cast<double>(rows.row_count());
  return number ? std::sqrt(mean) : 100 * mean;
}

struct Contestant {
  std::string name;
  Problem problem;
  // Without: not private.
  std::function<learn::Method(const Problem&, Epsilon, Delta)> calibrate = {};
  bool unclipped = false;  // rows as long as they are: the method bounds every feature
};

std::vector<double> fit(const Contestant& one, const learn::RowSource& rows, double epsilon,
                        double delta, random::BitSource& bits) {
  if (!one.calibrate) {
    learn::Objective plain;
    plain.loss = one.problem.loss;
    plain.regulariser.l2 = 0.01;
    return learn::minimise(rows, plain, {}).weights;
  }
  return std::visit([&](const auto& method) { return train(method, one.problem, rows, bits, {}); },
                    one.calibrate(one.problem, Epsilon(epsilon), Delta(delta)));
}

auto objective(learn::ObjectiveRule rule, Neighbors neighbors, bool pure) {
  return [=](const Problem& problem, Epsilon epsilon, Delta delta) -> learn::Method {
    return learn::calibrate_objective(problem, neighbors, epsilon, pure ? Delta(0) : delta,
                                      {.rule = rule});
  };
}

learn::Method output(const Problem& problem, Epsilon epsilon, Delta delta) {
  const double d = static_cast<double>(problem.dimension);
  const double l2 =
      std::sqrt(d) * learn::gradient_bound(problem) * std::fmax(1.0, 4 / epsilon.value());
  return learn::calibrate_output(problem, Neighbors::add_remove, epsilon, delta, l2);
}

auto adassp(Neighbors neighbors, bool pure) {
  return [=](const Problem& problem, Epsilon epsilon, Delta delta) -> learn::Method {
    return learn::calibrate_adassp(problem, neighbors, epsilon, pure ? Delta(0) : delta);
  };
}

auto minima(Neighbors neighbors, learn::MinimaRule rule) {
  return [=](const Problem& problem, Epsilon epsilon, Delta delta) -> learn::Method {
    return learn::calibrate_minima(problem, neighbors, epsilon, delta, {.rule = rule});
  };
}

learn::Method frank_wolfe(const Problem& problem, Epsilon epsilon, Delta delta) {
  return learn::calibrate_frank_wolfe(problem, Neighbors::add_remove, epsilon, delta);
}

Problem with_set(Problem problem, learn::ConvexSet set, double row_norm) {
  problem.set = std::move(set);
  problem.row_norm = row_norm;
  return problem;
}

std::vector<Contestant> contestants(const LearningData& data) {
  using learn::ObjectiveRule;
  constexpr Neighbors kAdd = Neighbors::add_remove;
  constexpr Neighbors kReplace = Neighbors::replace_one;
  Problem problem;
  problem.dimension = learn::dimension(data.pipeline);
  problem.row_norm = data.pipeline.row_norm;
  if (data.classes() > 2) {
    problem.loss = learn::Softmax{data.target.categories.size()};
    problem.label_bound = data.classes();
  }
  if (data.predicts_number()) {
    problem.loss = learn::Squared{};
    Problem huber = problem;
    huber.loss = learn::Huber{1};
    return {
        {"not private", problem},
        {"adassp", problem, adassp(kAdd, false)},
        {"adassp, replace_one", problem, adassp(kReplace, false)},
        {"adassp, pure", problem, adassp(kAdd, true)},
        {"objective, tight (huber loss)", huber, objective(ObjectiveRule::tight, kAdd, false)},
        {"objective, tight, pure (huber loss)", huber, objective(ObjectiveRule::tight, kAdd, true)},
        {"output (radius 10)", with_set(problem, learn::L2Ball{10}, problem.row_norm), output},
        {"frank_wolfe (radius 10)", with_set(problem, learn::L1Ball{10}, data.longest_row()),
         frank_wolfe, true},
    };
  }
  const Contestant gradient = {
      "gradient", problem, [](const Problem& of, Epsilon epsilon, Delta delta) -> learn::Method {
        return learn::calibrate_gradient(of, Neighbors::add_remove, epsilon, delta);
      }};
  const Contestant sgd = {
      "sgd", problem, [](const Problem& of, Epsilon epsilon, Delta delta) -> learn::Method {
        return learn::calibrate_sampled(of, Neighbors::add_remove, epsilon, delta);
      }};
  const Contestant ftrl = {
      "ftrl", problem, [](const Problem& of, Epsilon epsilon, Delta delta) -> learn::Method {
        return learn::calibrate_prefix(of, Neighbors::add_remove, epsilon, delta);
      }};
  if (data.classes() > 2) return {gradient, sgd, ftrl};
  return {
      {"not private", problem},
      {"objective, tight", problem, objective(ObjectiveRule::tight, kAdd, false)},
      {"objective, tight, replace_one", problem, objective(ObjectiveRule::tight, kReplace, false)},
      {"objective, tight, pure", problem, objective(ObjectiveRule::tight, kAdd, true)},
      {"objective, tight, pure, replace_one", problem,
       objective(ObjectiveRule::tight, kReplace, true)},
      {"objective, redberg", problem, objective(ObjectiveRule::redberg, kAdd, false)},
      {"objective, kifer", problem, objective(ObjectiveRule::kifer, kAdd, false)},
      {"objective, chaudhuri, pure, replace_one", problem,
       objective(ObjectiveRule::chaudhuri, kReplace, true)},
      {"output", problem, output},
      {"frank_wolfe (radius 10)", with_set(problem, learn::L1Ball{10}, data.longest_row()),
       frank_wolfe, true},
      {"amp, tight", problem, minima(kAdd, learn::MinimaRule::tight)},
      {"amp, published, replace_one", problem, minima(kReplace, learn::MinimaRule::published)},
      gradient,
      sgd,
      ftrl,
      {"bolt_on, replace_one", problem,
       [](const Problem& of, Epsilon epsilon, Delta delta) -> learn::Method {
         const double d = static_cast<double>(of.dimension);
         const double l2 = std::sqrt(d) * std::fmax(1.0, 4 / epsilon.value());
         return learn::calibrate_bolt_on(of, Neighbors::replace_one, epsilon, delta, {.l2 = l2});
       }},
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

// What predicting the most frequent class, or the mean, achieves.
double baseline(const learn::RowSource& rows, const learn::Target& target) {
  double sum = 0;
  double squares = 0;
  std::map<double, double> counts;
  learn::BlockBuffer buffer;
  for (std::size_t b = 0; b < rows.block_count(); ++b) {
    const learn::RowBlock block = rows.block(b, buffer);
    for (std::size_t i = 0; i < block.rows; ++i) {
      sum += block.labels[i];
      squares += block.labels[i] * block.labels[i];
      ++counts[block.labels[i]];
    }
  }
  const double n = static_cast<double>(rows.row_count());
  double largest = 0;
  for (const auto& [label, count] : counts) largest = std::max(largest, count);
  if (!target.categories.empty()) return 100 * largest / n;
  return std::sqrt(squares / n - sum / n * sum / n) / 2 * (target.upper - target.lower);
}

void run(const LearningData& data, int seeds) {
  const double n = static_cast<double>(data.train_size());
  const double delta = 1 / (n * n);
  const std::vector<double> epsilons = {0.01, 0.1, 1, 10};
  const std::vector<Contestant> all = contestants(data);
  std::vector<std::vector<Mean>> means(all.size(), std::vector<Mean>(epsilons.size()));
  Mean plain;
  random::SecureSource bits;
  for (int seed = 1; seed <= seeds; ++seed) {
    const auto order = data.shuffled(static_cast<std::uint64_t>(seed));
    const auto first = std::span(order).first(data.train_size());
    const auto rest = std::span(order).subspan(data.train_size());
    for (const bool unclipped : {false, true}) {
      const double norm = unclipped ? data.longest_row() : data.pipeline.row_norm;
      const auto train_rows = data.rows(first, norm);
      const auto test_rows = data.rows(rest, norm);
      if (!unclipped) plain.add(baseline(*test_rows, data.target));
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].unclipped != unclipped) continue;
        for (std::size_t k = 0; k < epsilons.size(); ++k) {
          const auto weights = fit(all[i], *train_rows, epsilons[k], delta, bits);
          means[i][k].add(measure(*test_rows, weights, data.target));
        }
      }
    }
  }
  fmt::print("{} rows to train, {} features, delta {:.2g}, {} splits; {}: {}\n\n",
             data.train_size(), learn::dimension(data.pipeline), delta, seeds,
             data.predicts_number() ? "the mean alone" : "the most frequent class alone",
             plain.text());
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
