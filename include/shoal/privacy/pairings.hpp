// Which noise for many questions? The textbook's comparison, with numbers: Laplace or Gaussian
// noise, composed by the sums or by advanced composition, and beside it what the certified
// accountant allows.
//
// Each row meets the target by its own theorem, rounded to the safe side; what the noise of each
// row really costs is certified too, so one can see how much a theorem gives away. Argument:
// calibration.proof.md.
#pragma once

#include <shoal/privacy/calibration.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace shoal::privacy {

enum class Composition { basic, advanced, certified };

// "basic", "advanced", "certified".
std::string_view to_string(Composition composition);

struct Pairing {
  NoiseLaw law = NoiseLaw::laplace;
  Composition composition = Composition::basic;
  double parameter = 0;           // scale or sigma of each question's noise
  double standard_deviation = 0;  // of it
  double error = 0;   // which it exceeds with probability 1 - kPairingConfidence at most
  Certified epsilon;  // what all questions together cost at the target's delta
};

inline constexpr double kPairingConfidence = 0.95;

struct PairingTable {
  std::int64_t count = 0;
  double sensitivity = 0;
  Target target;
  // Laplace basic, Gaussian basic, Laplace advanced, Gaussian advanced, Laplace certified, Gaussian
  // certified; those that need a delta above 0 are left out if there is none.
  std::vector<Pairing> rows;
  std::size_t best = 0;  // the row with the smallest error
};

// For `count` questions, from 1 to kMaxCalibratedCount, each of which one person moves by at most
// `sensitivity`. With advanced composition, Gaussian noise has half of delta for the slack and half
// for the questions. Throws invalid_argument as calibrate_noise does.
PairingTable compare_pairings(std::int64_t count, double sensitivity, const Target& target);

}  // namespace shoal::privacy
