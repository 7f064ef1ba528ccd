#include <shoal/audit/empirical.hpp>
#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/numeric/binomial.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace shoal::audit {
namespace {

// Thresholds tried, spread evenly over the values seen: enough for any noise that has a threshold
// event.
constexpr std::size_t kMaxThresholds = 200;

// Sorted, so that the count of an event is two binary searches.
class Sorted {
 public:
  explicit Sorted(std::span<const Int128> values) : values_(values.begin(), values.end()) {
    std::sort(values_.begin(), values_.end());
  }

  std::int64_t size() const { return static_cast<std::int64_t>(values_.size()); }
  const std::vector<Int128>& values() const { return values_; }

  std::int64_t count(EventShape shape, Int128 threshold) const {
    const auto low = std::lower_bound(values_.begin(), values_.end(), threshold);
    const auto high = std::upper_bound(low, values_.end(), threshold);
    switch (shape) {
      case EventShape::at_most:
        return high - values_.begin();
      case EventShape::at_least:
        return values_.end() - low;
      case EventShape::equal:
        return high - low;
    }
    throw Error(ErrorCode::internal, "an event shape without a count; please report this");
  }

 private:
  std::vector<Int128> values_;
};

struct Choice {
  EventShape shape = EventShape::at_most;
  Int128 threshold = 0;
  bool first_is_likely = true;
};

// P(likely) <= e^epsilon P(unlikely) + delta, solved for epsilon with each chance on its safe side.
double bound_of(const Sorted& first, const Sorted& second, const Choice& choice, double delta,
                double alpha) {
  const Sorted& likely = choice.first_is_likely ? first : second;
  const Sorted& unlikely = choice.first_is_likely ? second : first;
  const double often = numeric::chance_lower_bound(likely.count(choice.shape, choice.threshold),
                                                   likely.size(), alpha / 2);
  const double seldom = numeric::chance_upper_bound(unlikely.count(choice.shape, choice.threshold),
                                                    unlikely.size(), alpha / 2);
  return often > delta ? std::max(0.0, std::log((often - delta) / seldom)) : 0.0;
}

std::vector<Int128> thresholds(const Sorted& first, const Sorted& second) {
  std::vector<Int128> all(first.values());
  all.insert(all.end(), second.values().begin(), second.values().end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.size() <= kMaxThresholds) return all;
  std::vector<Int128> spread;
  for (std::size_t i = 0; i < kMaxThresholds; ++i) {
    spread.push_back(all[i * (all.size() - 1) / (kMaxThresholds - 1)]);
  }
  return spread;
}

// Any choice is valid; this one has the best bound on the choosing half, where alpha only keeps
// rare events, whose ratio is all chance, from winning.
Choice choose(const Sorted& first, const Sorted& second, double delta, double alpha) {
  Choice best;
  double best_bound = -1;
  for (const Int128 threshold : thresholds(first, second)) {
    for (const EventShape shape : {EventShape::at_most, EventShape::at_least, EventShape::equal}) {
      for (const bool first_is_likely : {true, false}) {
        const Choice choice{shape, threshold, first_is_likely};
        const double bound = bound_of(first, second, choice, delta, alpha);
        if (bound > best_bound) {
          best_bound = bound;
          best = choice;
        }
      }
    }
  }
  return best;
}

}  // namespace

EmpiricalBound empirical_epsilon(std::span<const Int128> first, std::span<const Int128> second,
                                 Delta delta, Confidence confidence) {
  if (first.size() < 4 || second.size() < 4) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("samples of {} and {} values; give at least 4 of each", first.size(),
                            second.size()));
  }
  const double alpha = 1 - confidence.value();
  const std::size_t first_half = first.size() / 2;
  const std::size_t second_half = second.size() / 2;
  const Choice choice = choose(Sorted(first.first(first_half)), Sorted(second.first(second_half)),
                               delta.value(), alpha);
  const double epsilon =
      bound_of(Sorted(first.subspan(first_half)), Sorted(second.subspan(second_half)), choice,
               delta.value(), alpha);
  return {epsilon, confidence.value(), choice.shape, choice.threshold, choice.first_is_likely};
}

EmpiricalBound audit_sampler(const NoiseSampler& sampler, Int128 shift, int count, Delta delta,
                             Confidence confidence, random::BitSource& bits) {
  std::vector<Int128> first;
  std::vector<Int128> second;
  for (int i = 0; i < count; ++i) {
    first.push_back(sampler(bits));
    second.push_back(sampler(bits) + shift);
  }
  return empirical_epsilon(first, second, delta, confidence);
}

std::string describe(const EmpiricalBound& bound) {
  const char* sign = bound.shape == EventShape::at_most    ? "<="
                     : bound.shape == EventShape::at_least ? ">="
                                                           : "=";
  return fmt::format("epsilon >= {} at confidence {}, from x {} {}",
                     format_rounded(bound.epsilon, 3), format_number(bound.confidence), sign,
                     to_string(bound.threshold));
}

}  // namespace shoal::audit
