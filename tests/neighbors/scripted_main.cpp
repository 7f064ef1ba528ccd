// The program with bits that SHOAL_SCRIPT_SEED decides: for tests that need real processes.
#include "neighbors/scripted_bits.hpp"
#include "program.hpp"

#include <cstdlib>

int main(int argc, char** argv) {
  const char* seed = std::getenv("SHOAL_SCRIPT_SEED");
  shoal::test::scripted_bits::begin(seed == nullptr ? 1 : std::strtoull(seed, nullptr, 10));
  return shoal::cli::run_program(argc, argv);
}
