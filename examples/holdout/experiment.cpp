#include "experiment.hpp"

#include "normal_stream.hpp"

#include <shoal/adaptive/holdout.hpp>
#include <shoal/random/secure_source.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

namespace shoal::example {
namespace {

// The data are made again from their seeds when they are needed: two hundred million numbers would
// not fit into memory as they are.
class Population {
 public:
  Population(const Setting& setting, std::uint64_t seed) : setting_(setting), seed_(seed) {
    for (auto& labels : labels_) {
      NormalStream bits(seed * 3 + static_cast<std::uint64_t>(&labels - labels_));
      for (int i = 0; i < setting.rows; ++i) labels.push_back(bits.next_bits() & 1 ? 1 : -1);
    }
  }

  enum Part { training, holdout, fresh };

  const std::vector<int>& labels(Part part) const { return labels_[part]; }

  // Calls use(row, value) for each row of one variable.
  template <class Use>
  void column(Part part, int variable, Use use) const {
    NormalStream numbers(seed_ * 1'000'003 + static_cast<std::uint64_t>(3 * variable + part) + 77);
    const double shift = variable < setting_.signals ? setting_.shift : 0;
    const std::vector<int>& labels = labels_[part];
    for (std::size_t i = 0; i < labels.size(); ++i) use(i, numbers.next() + shift * labels[i]);
  }

 private:
  const Setting& setting_;
  std::uint64_t seed_;
  std::vector<int> labels_[3];
};

// Of one variable on one part: its correlation with the label, and how often their signs agree.
struct Correlation {
  double mean = 0;
  std::int64_t agreeing = 0;
};

std::vector<Correlation> correlations(const Population& population, Population::Part part,
                                      const Setting& setting) {
  std::vector<Correlation> all(static_cast<std::size_t>(setting.variables));
  const std::vector<int>& labels = population.labels(part);
  for (int j = 0; j < setting.variables; ++j) {
    double sum = 0;
    std::int64_t agreeing = 0;
    population.column(part, j, [&](std::size_t i, double x) {
      const double product = x * labels[i];
      sum += product;
      agreeing += product > 0 ? 1 : 0;
    });
    all[static_cast<std::size_t>(j)] = {sum / setting.rows, agreeing};
  }
  return all;
}

// The largest on training data among those that the holdout was said to agree with.
std::vector<int> ranked(const std::vector<Correlation>& training,
                        const std::function<bool(std::size_t)>& kept, std::size_t most) {
  std::vector<int> chosen;
  for (std::size_t j = 0; j < training.size(); ++j) {
    if (kept(j)) chosen.push_back(static_cast<int>(j));
  }
  std::sort(chosen.begin(), chosen.end(), [&](int a, int b) {
    return std::abs(training[static_cast<std::size_t>(a)].mean) >
           std::abs(training[static_cast<std::size_t>(b)].mean);
  });
  if (chosen.size() > most) chosen.resize(most);
  return chosen;
}

// For each size, which rows of a part the classifier gets right: a vote of the signs.
std::vector<std::vector<double>> right_rows(const Population& population, Population::Part part,
                                            const std::vector<int>& chosen,
                                            const std::vector<Correlation>& training,
                                            const Setting& setting) {
  std::vector<double> votes(static_cast<std::size_t>(setting.rows), 0);
  std::vector<std::vector<double>> right;
  const std::vector<int>& labels = population.labels(part);
  std::size_t used = 0;
  for (const int size : setting.sizes) {
    for (; used < std::min(chosen.size(), static_cast<std::size_t>(size)); ++used) {
      const int variable = chosen[used];
      const double sign = training[static_cast<std::size_t>(variable)].mean > 0 ? 1 : -1;
      population.column(part, variable, [&](std::size_t i, double x) { votes[i] += sign * x; });
    }
    std::vector<double>& rows = right.emplace_back(votes.size());
    for (std::size_t i = 0; i < votes.size(); ++i) rows[i] = votes[i] * labels[i] > 0 ? 1 : 0;
  }
  return right;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// What a holdout says of a classifier, given its training accuracy and where it is right.
using Accuracy = std::function<Report(double, const std::vector<double>&)>;

std::vector<Report> report(const Population& population, const Setting& setting,
                           const std::vector<Correlation>& training,
                           const std::function<bool(std::size_t)>& kept, const Accuracy& accuracy) {
  const std::vector<int> chosen =
      ranked(training, kept, static_cast<std::size_t>(setting.sizes.back()));
  const auto seen = right_rows(population, Population::training, chosen, training, setting);
  const auto held = right_rows(population, Population::holdout, chosen, training, setting);
  const auto truth = right_rows(population, Population::fresh, chosen, training, setting);
  std::vector<Report> reports;
  for (std::size_t s = 0; s < setting.sizes.size(); ++s) {
    Report one = accuracy(mean(seen[s]), held[s]);
    one.training = mean(seen[s]);
    one.fresh = mean(truth[s]);
    reports.push_back(one);
  }
  return reports;
}

bool same_sign(double a, double b) { return (a > 0) == (b > 0); }

}  // namespace

Repetition run_experiment(const Setting& setting, std::uint64_t seed) {
  const Population population(setting, seed);
  const auto training = correlations(population, Population::training, setting);
  const auto held = correlations(population, Population::holdout, setting);
  const double root = 1 / std::sqrt(static_cast<double>(setting.rows));
  Repetition repetition;

  const auto kept_by = [&](const std::vector<double>& answers) {
    return [&training, root, answers](std::size_t j) {
      return same_sign(training[j].mean, answers[j]) && std::abs(training[j].mean) > root &&
             std::abs(answers[j]) > root;
    };
  };
  std::vector<double> answers;
  for (const Correlation& one : held) answers.push_back(one.mean);
  repetition.standard = report(population, setting, training, kept_by(answers),
                               [](double, const std::vector<double>& right) {
                                 return Report{0, mean(right)};
                               });

  NormalStream noise(seed ^ 0x5555);
  const auto published = [&](double on_training, double on_holdout) {
    const double apart = std::abs(on_training - on_holdout);
    return apart > 4 * root + root * noise.next() ? on_holdout + root * noise.next() : on_training;
  };
  for (std::size_t j = 0; j < held.size(); ++j) {
    answers[j] = published(training[j].mean, held[j].mean);
  }
  repetition.thresholdout = report(population, setting, training, kept_by(answers),
                                   [&](double on_training, const std::vector<double>& right) {
                                     return Report{0, published(on_training, mean(right))};
                                   });

  // The same analyst with questions into [0, 1]: how often the signs of variable and label agree.
  random::SecureSource bits;
  adaptive::Holdout holdout(
      adaptive::plan_holdout(
          {.rows = setting.rows,
           .questions = setting.variables + static_cast<std::int64_t>(setting.sizes.size()),
           .disagreements = kDisagreements,
           .confidence = Confidence(kConfidence),
           .epsilon = Epsilon(kEpsilon)}),
      bits);
  for (std::size_t j = 0; j < held.size(); ++j) {
    const double guess = static_cast<double>(training[j].agreeing) / setting.rows;
    const Int128 sum = static_cast<Int128>(held[j].agreeing) * adaptive::kGridSteps;
    // Agreement of signs, as a correlation of normal variables that has it.
    const double share = holdout.exhausted() ? guess : holdout.ask_sum(guess, sum).value;
    answers[j] = (share - 0.5) * std::sqrt(2 * std::acos(-1.0));
  }
  repetition.holdout = report(population, setting, training, kept_by(answers),
                              [&](double on_training, const std::vector<double>& right) {
                                if (holdout.exhausted()) return Report{};
                                const adaptive::HoldoutAnswer answer =
                                    holdout.ask(on_training, right);
                                return Report{0, answer.value, 0, answer.lower, answer.upper};
                              });
  repetition.disagreements = kDisagreements - static_cast<int>(holdout.disagreements_left());
  return repetition;
}

}  // namespace shoal::example
