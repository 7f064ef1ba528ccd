// What the ledger stores of a synthesis: everything that was released, and the model made of it.
//
// One line of JSON: {"synthesis":1,"total":t,"steps":[...],"measurements":[...],"tables":[...]}. A
// table of the model has logarithms in millionths, below its largest cell; null is a cell without
// probability.
#pragma once

#include <shoal/synth/marginal_methods.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace shoal::session {

// A row of the ledger holds a billion bytes, and a cell takes up to 13: the plan bounds the model's
// cells (256 megabytes, 2^25 cells), and of measurements with more cells than this in all only the
// steps are stored. Nothing is predicted of them then.
inline constexpr std::size_t kMostMeasured = std::size_t{1} << 25;
std::string stored_synthesis(const synth::Synthesis& synthesis,
                             std::size_t most_measured = kMostMeasured);

// Throws corrupt if the text is none, or of other columns. The stored failure of a synthesis throws
// internal again.
synth::Synthesis synthesis_from_json(std::string_view text, std::vector<std::uint32_t> sizes);

}  // namespace shoal::session
