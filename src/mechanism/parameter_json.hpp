// JSON of mechanisms with one parameter: {"<mechanism>": {"<parameter>": <number>}}, nothing more
// or less.
#pragma once

#include <string>
#include <string_view>

namespace shoal::mechanism {

std::string parameter_to_json(std::string_view mechanism, std::string_view parameter, double value);

// Throws parse_error, with the place in the text, unless it has exactly that shape.
double parameter_from_json(std::string_view text, std::string_view mechanism,
                           std::string_view parameter);

// The one key of a JSON object. Throws parse_error if the text is no such object.
std::string mechanism_key(std::string_view text);

}  // namespace shoal::mechanism
