// Answers questions one after the other from a guess that learns, without knowing them beforehand.
//
//   weights [epsilon = 2]
//
// The universe has 64 cells: an age in 32 bins, and whether somebody is ill; 20,000 made-up people
// live in it. Private multiplicative weights start with an even guess. Each question is first tried
// on the guess; only where that is off are the rows asked, with noise, and the guess moves. What
// the guess answers costs nothing. Prints how often it had to learn and how far the answers were
// off, beside what was promised; exits with 1 if the promise was broken.
#include <shoal/base/error.hpp>
#include <shoal/mechanism/multiplicative_weights.hpp>
#include <shoal/random/secure_source.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr std::size_t kAges = 32;
constexpr std::int64_t kRows = 20'000;
constexpr std::int64_t kQuestions = 300;

double share_of(std::size_t age) {
  const double years = static_cast<double>(age) - 14;
  return std::exp(-years * years / 72);
}

// People of middle age are many, and illness grows with age.
std::vector<std::int64_t> made_up_people() {
  std::vector<std::int64_t> histogram(2 * kAges);
  double total = 0;
  for (std::size_t age = 0; age < kAges; ++age) total += share_of(age);
  std::int64_t given = 0;
  for (std::size_t age = 0; age < kAges; ++age) {
    const auto rows = static_cast<std::int64_t>(static_cast<double>(kRows) * share_of(age) / total);
    histogram[2 * age + 1] = rows * static_cast<std::int64_t>(age) / 40;
    histogram[2 * age] = rows - histogram[2 * age + 1];
    given += rows;
  }
  histogram[28] += kRows - given;
  return histogram;
}

// The share of people from one age to another, all or the ill ones.
std::vector<double> question(std::int64_t number) {
  std::vector<double> values(2 * kAges);
  const auto first = static_cast<std::size_t>(number * 7) % kAges;
  const std::size_t last = std::min(kAges, first + 4 + static_cast<std::size_t>(number) % 16);
  for (std::size_t age = first; age < last; ++age) {
    values[2 * age + 1] = 1;
    if (number % 2 == 0) values[2 * age] = 1;
  }
  return values;
}

double mean(const std::vector<double>& values, const std::vector<std::int64_t>& histogram) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    sum += values[i] * static_cast<double>(histogram[i]);
  return sum / static_cast<double>(kRows);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const double epsilon = argc > 1 ? std::strtod(argv[1], nullptr) : 2;
    const auto plan = shoal::mechanism::plan_weights(
        {kRows, 2 * kAges, kQuestions, 0.15, shoal::Epsilon(epsilon), shoal::Delta(1e-6), 40});
    const double promised = shoal::mechanism::weights_error(plan, shoal::Confidence(1 - 1e-6));
    const std::vector<std::int64_t> people = made_up_people();
    shoal::random::SecureSource bits;
    shoal::mechanism::MultiplicativeWeights weights(plan, std::vector(people), bits);
    double worst = 0;
    int answered = 0;
    int learnt = 0;
    for (; answered < kQuestions && !weights.exhausted(); ++answered) {
      const std::vector<double> asked = question(answered);
      const auto answer = weights.ask(asked);
      learnt += answer.updated ? 1 : 0;
      worst = std::max(worst, std::abs(answer.value - mean(asked, people)));
    }
    std::printf("%d questions answered, the guess learnt from %d of them\n", answered, learnt);
    std::printf("off by at most %.4f, promised %.4f\n", worst, promised);
    return worst <= promised ? 0 : 1;
  } catch (const shoal::Error& error) {
    std::fprintf(stderr, "weights: %s\n", error.what());
    return 2;
  }
}
