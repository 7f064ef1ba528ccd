// A Poisson sample of numbered rows: each is in it by an exact coin of its own.
#pragma once

#include <shoal/random/bit_source.hpp>

#include <cstdint>
#include <vector>

namespace shoal::learn {

// The numbers below `rows`, ascending, each with chance units / 2^32. Draws 32 bits a row, whatever
// comes out.
std::vector<std::uint64_t> poisson_sample(std::uint64_t rows, std::uint64_t units,
                                          random::BitSource& bits);

// Each row in one of `parts`, every one as likely, independently of all other rows: part p has the
// numbers in [p], ascending.
std::vector<std::vector<std::uint64_t>> random_parts(std::uint64_t rows, std::uint64_t parts,
                                                     random::BitSource& bits);

}  // namespace shoal::learn
