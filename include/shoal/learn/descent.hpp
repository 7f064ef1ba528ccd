// What is done with noisy gradients: steps, momentum, averaging, projection. All of it is made of
// what is already private, so no guarantee hangs on it, and it may be as clever as one likes.
#pragma once

#include <shoal/learn/problem.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace shoal::learn {

struct DescentPath {
  std::int64_t steps = 0;
  double row_step = 0;    // a step is 1 / (rows / row_step + l2)
  double momentum = 0.9;  // in [0, 1)
  double averaged = 0.5;  // the last part of the iterates whose mean is the result; 0: the last one
  double l2 = 0;          // the whole l2 weight, sum form
  double rows = 0;        // a public guess of the number of rows; 0: it is counted, with noise
  bool operator==(const DescentPath&) const = default;
};

// What may be asked for; what is not, public facts decide.
struct DescentOptions {
  std::optional<std::int64_t> steps = {};
  std::optional<double> row_step = {};
  std::optional<double> momentum = {};
  double averaged = 0.5;
  std::optional<double> l2 = {};
  double weight_norm = 10;          // a public guess of how long the weights are
  std::optional<double> rows = {};  // a public guess; none: counted, with noise
  std::optional<double> clip = {};  // of a row's gradient; none: its bound, where nothing is lost
};

// What a method takes where nothing is asked for.
struct DescentDefaults {
  std::int64_t steps = 0;
  double momentum = 0;
};

inline constexpr std::int64_t kMaxDescentSteps = 1'000'000;

// The path for these options. `total_noise` is that of a sum of gradients which had the whole
// budget to itself: what is learnt from all steps together is about as good.
DescentPath descent_path(const Problem& problem, const DescentOptions& options,
                         const DescentDefaults& defaults, double total_noise);

// Throws invalid_argument for parts out of range.
void validate(const DescentPath& path, const Problem& problem);

// Goes down a path, one noisy gradient after another.
class Descent {
 public:
  // `rows` is the number of rows as far as it is known publicly; anything below 1 counts as 1.
  Descent(const Problem& problem, const DescentPath& path, double rows);

  const std::vector<double>& weights() const { return weights_; }
  // One step, by an estimate of the sum of all rows' gradients at weights().
  void step(std::span<const double> gradient);
  // In the set, and finite.
  std::vector<double> result() const;

 private:
  const Problem& problem_;
  DescentPath path_;
  double step_size_;
  std::int64_t taken_ = 0;
  std::int64_t summed_ = 0;
  std::vector<double> weights_;
  std::vector<double> before_;  // the step before
  std::vector<double> sum_;     // of the iterates that are averaged
};

}  // namespace shoal::learn
