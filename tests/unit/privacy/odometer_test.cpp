// The odometer: its numbers, and what happens to those who stop when it suits them.
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/privacy/conversion.hpp>
#include <shoal/privacy/odometer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace shoal::privacy {
namespace {

Charge price(const Event& event) { return privacy::price(event, Neighbors::add_remove); }

TEST(Odometer, FormulaAtRoundNumbers) {
  // rho 1/2, start 1/2, delta e^-2: 1/2 + sqrt(2 * 2 * (2 + ln(2) / 2)), to 30 digits.
  const Odometer odometer{Delta(std::exp(-2.0)), Delta(0), 0.5};
  const double epsilon = epsilon_at(odometer, price(event::Zcdp{0.5}));
  EXPECT_NEAR(epsilon, 3.563705984770714, 1e-11);
  EXPECT_GE(epsilon, 3.563705984770714);
}

TEST(Odometer, ThePureSumHoldsAtAnyTime) {
  const Odometer odometer = odometer_for(Rho(0.5), Delta(1e-6));
  EXPECT_EQ(epsilon_at(odometer, {}), 0);
  EXPECT_NEAR(epsilon_at(odometer, price(event::Pure{0.25})), 0.25, 1e-12);
  const Charge many = price(event::Repeat{10'000, event::Pure{0.01}});
  EXPECT_LT(epsilon_at(odometer, many), 10);
  // A bound of zCDP alone is all that a Gaussian has.
  EXPECT_GT(epsilon_at(odometer, price(event::Zcdp{1e-9})), 0.01);
}

TEST(Odometer, FailuresKeepToTheirPart) {
  Odometer odometer = odometer_for(Rho(0.5), Delta(1e-6), Delta(2e-7));
  const Charge failing = price(event::EpsilonDelta{0.1, 1e-7});
  EXPECT_NEAR(epsilon_at(odometer, add(failing, failing)), 0.2, 1e-12);
  EXPECT_EQ(epsilon_at(odometer, add(add(failing, failing), price(event::EpsilonDelta{0, 1e-18}))),
            std::numeric_limits<double>::infinity());
  odometer.failures = Delta(0);
  EXPECT_EQ(epsilon_at(odometer, failing), std::numeric_limits<double>::infinity());
}

TEST(Odometer, GrowsAndStaysAboveWhatTheFilterCanState) {
  const Delta delta(1e-6);
  const Odometer odometer = odometer_for(Rho(0.1), delta);
  double previous = 0;
  for (double rho = 1e-6; rho < 100; rho *= 1.5) {
    const double stated = epsilon_at(odometer, price(event::Zcdp{rho}));
    EXPECT_GT(stated, previous);
    EXPECT_GT(stated, epsilon_of_rho_up(Rho(rho), delta));
    previous = stated;
  }
  // What stopping at will costs where it is tuned for: below a quarter more.
  EXPECT_LT(epsilon_at(odometer, price(event::Zcdp{0.1})),
            1.25 * epsilon_of_rho_up(Rho(0.1), delta));
}

TEST(Odometer, IsTunedForItsRho) {
  for (const double delta : {1e-3, 1e-6, 1e-12}) {
    const Odometer tuned = odometer_for(Rho(0.3), Delta(delta));
    const Charge total = price(event::Zcdp{0.3});
    const double here = epsilon_at(tuned, total);
    for (const double factor : {0.1, 0.5, 0.8, 1.25, 2.0, 10.0}) {
      const Odometer other{Delta(delta), Delta(0), tuned.start * factor};
      EXPECT_GT(epsilon_at(other, total), here * 0.99) << delta << " " << factor;
    }
  }
}

TEST(Odometer, RefusesWhatCannotBeStated) {
  EXPECT_THROW(odometer_for(Rho(0), Delta(1e-6)), Error);
  EXPECT_THROW(odometer_for(Rho(1), Delta(0)), Error);
  EXPECT_THROW(epsilon_at({Delta(0), Delta(0), 1}, {}), Error);
  EXPECT_THROW(epsilon_at({Delta(1e-6)}, {}), Error);
  EXPECT_THROW(epsilon_at({Delta(1e-6), Delta(0), std::numeric_limits<double>::infinity()}, {}),
               Error);
}

// An analyst asks by randomized response, with an epsilon that depends on the loss so far (larger
// when it runs high), for up to 1,000 questions, and stops as soon as the loss is above what is
// stated. How many of 4,000 analysts get there, under a statement of rho and loss.
template <class Statement>
int count_exceeding(const Statement& stated, std::uint64_t seed) {
  test::SeededSource bits(seed);
  const double sizes[] = {0.05, 0.1};
  const double rhos[] = {0.05 * std::tanh(0.025), 0.1 * std::tanh(0.05)};
  int exceeding = 0;
  for (int analyst = 0; analyst < 4000; ++analyst) {
    double loss = 0;
    double rho = 0;
    for (int question = 0; question < 1000; ++question) {
      const int size = loss > rho ? 1 : 0;
      const double epsilon = sizes[size];
      const double uniform = std::ldexp(static_cast<double>(bits.next_bits(53)), -53);
      loss += uniform < 1 / (1 + std::exp(-epsilon)) ? epsilon : -epsilon;
      rho += rhos[size];
      if (loss > rho && loss > stated(rho)) {  // never less than rho is stated
        ++exceeding;
        break;
      }
    }
  }
  return exceeding;
}

// By the proof each analyst gets there with probability at most 0.05: 200 of 4,000 with standard
// deviation 13.8 at worst. More than 270 has probability below 1e-6: the false-alarm rate.
TEST(Odometer, HoldsForThoseWhoStopWhenItSuitsThem) {
  const double delta = 0.05;
  for (const double tuned_for : {0.1, 1.0}) {
    const Odometer odometer = odometer_for(Rho(tuned_for), Delta(delta));
    const int exceeding = count_exceeding(
        [&](double rho) {
          return epsilon_at(odometer, {std::nullopt, static_cast<std::int64_t>(rho * 1e15)});
        },
        1);
    EXPECT_LE(exceeding, 270) << tuned_for;
    // Nor is the statement idle: about 50 get there, and below 20 has probability below 1e-5.
    EXPECT_GE(exceeding, 20) << tuned_for;
  }
}

// The same analysts against the tail bound for a number of questions fixed in advance, read at each
// step: it holds at every one, and fails at one of them far too often. (So the test above can.)
TEST(Odometer, TheBoundForAFixedTimeDoesNotHoldAtAnyTime) {
  const double delta = 0.05;
  const int exceeding = count_exceeding(
      [&](double rho) { return rho + std::sqrt(4 * rho * std::log(1 / delta)); }, 1);
  EXPECT_GT(exceeding, 270);
}

}  // namespace
}  // namespace shoal::privacy
