// The hockey-stick divergence against numbers that others computed: tests/golden/mechanism.csv.
#include "support/paths.hpp"

#include <shoal/audit/hockey_stick.hpp>
#include <shoal/base/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

namespace shoal::audit {
namespace {

using mechanism::AnyMechanism;

// The pmf cut off beyond a magnitude; no mechanism of ours, but published numbers are about it. The
// factor that makes it sum to one comes from the sum.
LogPmf truncated(const AnyMechanism& spec, long long limit) {
  double total = 0;
  for (long long x = -limit; x <= limit; ++x) total += std::exp(log_pmf(spec, x));
  return [spec, limit, total](Int128 x) {
    if (x < -limit || x > limit) return -std::numeric_limits<double>::infinity();
    return log_pmf(spec, x) - std::log(total);
  };
}

TEST(HockeyStick, AgreesWithTheGoldenNumbers) {
  std::ifstream file(test::source_folder() + "/tests/golden/mechanism.csv");
  std::string line;
  std::getline(file, line);
  int rows = 0;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string kind, parameter, truncation, sensitivity, epsilon, delta;
    for (std::string* field : {&kind, &parameter, &truncation, &sensitivity, &epsilon, &delta}) {
      std::getline(fields, *field, ',');
    }
    const AnyMechanism spec = kind == "discrete_laplace"
                                  ? AnyMechanism(mechanism::DiscreteLaplace{std::stod(parameter)})
                                  : AnyMechanism(mechanism::DiscreteGaussian{std::stod(parameter)});
    const Sensitivity steps(std::stoll(sensitivity));
    const HockeyStick found = truncation.empty()
                                  ? hockey_stick(spec, steps, std::stod(epsilon))
                                  : hockey_stick(truncated(spec, std::stoll(truncation)),
                                                 steps.steps(), 50, std::stod(epsilon));
    EXPECT_NEAR(found.forward / std::stod(delta), 1, 1e-12) << line;
    EXPECT_NEAR(found.backward / std::stod(delta), 1, 1e-12) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 6);
}

TEST(HockeyStick, SeesBothOrdersOfALopsidedNoise) {
  // Noise that is 0 with probability 1/4 and 1 otherwise, shifted by one.
  const LogPmf lopsided = [](Int128 x) {
    if (x == 0) return std::log(0.25);
    return x == 1 ? std::log(0.75) : -std::numeric_limits<double>::infinity();
  };
  const HockeyStick found = hockey_stick(lopsided, 1, 3, std::log(2.0));
  EXPECT_NEAR(found.backward, 0.25 + (0.75 - 2 * 0.25), 1e-15);
  EXPECT_NEAR(found.forward, 0.75, 1e-15);
  EXPECT_EQ(found.worst(), found.forward);
}

TEST(HockeyStick, RefusesWhatItCannotSum) {
  const LogPmf flat = [](Int128) { return 0.0; };
  EXPECT_THROW(hockey_stick(flat, 0, 10, 1), Error);
  EXPECT_THROW(hockey_stick(flat, 1, -1, 1), Error);
  EXPECT_THROW(hockey_stick(flat, 1, 10, std::nan("")), Error);
  EXPECT_THROW(hockey_stick(mechanism::DiscreteLaplace{1e9}, Sensitivity(1), 1), Error);
}

}  // namespace
}  // namespace shoal::audit
