// What the local randomizers share: ranges of their parameters, and JSON with several parameters.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace shoal::mechanism {

// Each throws invalid_argument, with value and range, for one that is out of range.
void check_epsilon(double epsilon);
void check_delta(double delta);
// Errors about a truth or a draw name no value: it may be private.
void check_truth(std::uint64_t truth, std::uint64_t count);
void check_draw(std::uint64_t draw, std::uint64_t count);

// The parameters of {"<name>": {...}}: exactly these fields, all of them numbers. Throws
// parse_error otherwise.
nlohmann::json randomizer_parameters(std::string_view text, std::string_view name,
                                     std::initializer_list<std::string_view> fields);

}  // namespace shoal::mechanism
