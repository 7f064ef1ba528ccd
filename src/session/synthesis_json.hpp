// What the ledger stores of a synthesis: everything that was released, and the model made of it.
//
// One line of JSON: {"synthesis":1,"total":t,"steps":[...],"measurements":[...],"tables":[...]}. A
// table of the model has logarithms in millionths, below its largest cell; null is a cell without
// probability.
#pragma once

#include <shoal/synth/marginal_methods.hpp>

#include <string>
#include <string_view>

namespace shoal::session {

std::string stored_synthesis(const synth::Synthesis& synthesis);

// Throws corrupt if the text is none, or of other columns. The stored failure of a synthesis throws
// internal again.
synth::Synthesis synthesis_from_json(std::string_view text, std::vector<std::uint32_t> sizes);

}  // namespace shoal::session
