#include "mechanism/parameter_json.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <vector>

namespace shoal::mechanism {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxSize =
    4096;  // far above any mechanism, far below what could hurt to parse
constexpr std::size_t kShownSize = 100;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::parse_error, message);
}

// The object in the text; keys must not repeat, since of two values one would be dropped without a
// word.
Json parse(std::string_view text) {
  if (text.size() > kMaxSize) {
    refuse(fmt::format("a mechanism of {} bytes; at most {} are read", text.size(), kMaxSize));
  }
  std::vector<std::vector<std::string>> keys;
  const auto watch = [&keys](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto key = value.get<std::string>();
      for (const std::string& other : keys.back()) {
        if (other == key)
          refuse(fmt::format("the key \"{}\" comes twice", printable(key, kShownSize)));
      }
      keys.back().push_back(key);
    }
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::exception&) {
    refuse(fmt::format("a mechanism is no JSON: {}", printable(text, kShownSize)));
  }
}

}  // namespace

std::string parameter_to_json(std::string_view mechanism, std::string_view parameter,
                              double value) {
  return fmt::format("{{\"{}\": {{\"{}\": {}}}}}", mechanism, parameter, format_number(value));
}

std::string mechanism_key(std::string_view text) {
  const Json json = parse(text);
  if (!json.is_object() || json.size() != 1) {
    refuse(fmt::format("a mechanism must be an object with one key, its name; got {}",
                       printable(text, kShownSize)));
  }
  return json.begin().key();
}

double parameter_from_json(std::string_view text, std::string_view mechanism,
                           std::string_view parameter) {
  const std::string key = mechanism_key(text);
  if (key != mechanism) {
    refuse(fmt::format("the mechanism is \"{}\"; expected \"{}\"", printable(key, kShownSize),
                       mechanism));
  }
  const Json json = parse(text);
  const Json& parameters = json.begin().value();
  const std::string parameter_key(parameter);
  if (!parameters.is_object() || parameters.size() != 1 || !parameters.contains(parameter_key) ||
      !parameters[parameter_key].is_number()) {
    refuse(fmt::format("/{} must be an object with one number, \"{}\"", mechanism, parameter));
  }
  return parameters[parameter_key].get<double>();
}

}  // namespace shoal::mechanism
