// Events from files, for the commands that take them; and bounds as text, rounded outward.
#pragma once

#include <shoal/privacy/event.hpp>
#include <shoal/privacy/profile.hpp>

#include <nlohmann/json.hpp>

#include <string>

namespace shoal::cli {

// The event in a file of JSON, or in standard input if the path is "-". Errors name the file.
// Throws not_found, io, invalid_argument (a folder, or more than kLargestEventFile bytes) and
// parse_error.
privacy::Event read_event(const std::string& path);

inline constexpr std::size_t kLargestEventFile = std::size_t{1} << 24;

// At most six digits, so that the number printed is on the safe side of the bound, but for one part
// in 10^14: 10 is not shown as 10.0001.
std::string rounded_up(double value);
std::string rounded_down(double value);

// Infinity, which JSON has no number for, as the string "infinity".
nlohmann::ordered_json number_json(double value);
nlohmann::ordered_json bounds_json(const privacy::Bounds& bounds);

}  // namespace shoal::cli
