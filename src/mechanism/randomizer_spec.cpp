#include "mechanism/randomizer_spec.hpp"

#include "mechanism/parameter_json.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>

namespace shoal::mechanism {

void check_epsilon(double epsilon) {
  if (!(epsilon >= 0 && epsilon <= kMaxEpsilon)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("epsilon is {}; it must be from 0 to {}", format_number(epsilon),
                            format_number(kMaxEpsilon)));
  }
}

void check_delta(double delta) {
  if (!(delta >= 0 && delta <= 1)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("delta is {}; it must be from 0 to 1", format_number(delta)));
  }
}

void check_truth(std::uint64_t truth, std::uint64_t count) {
  if (truth >= count) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a truth is out of range; give 0 to {}", count - 1));
  }
}

void check_draw(std::uint64_t draw, std::uint64_t count) {
  if (draw >= count) {
    throw Error(ErrorCode::invalid_argument,
                "a draw is out of range; take it from sample() with the same parameters");
  }
}

nlohmann::json randomizer_parameters(std::string_view text, std::string_view name,
                                     std::initializer_list<std::string_view> fields) {
  const auto refuse = [](const std::string& message) {
    throw Error(ErrorCode::parse_error, message);
  };
  const std::string key = mechanism_key(text);
  if (key != name) {
    refuse(fmt::format("the mechanism is \"{}\"; expected \"{}\"", printable(key, 100), name));
  }
  nlohmann::json parameters = nlohmann::json::parse(text).begin().value();
  const std::string place = "/" + std::string(name);
  if (!parameters.is_object()) refuse(place + " must be an object");
  for (const std::string_view field : fields) {
    const auto found = parameters.find(std::string(field));
    if (found == parameters.end()) refuse(fmt::format("{}: \"{}\" is missing", place, field));
    if (!found->is_number()) refuse(fmt::format("{}/{} must be a number", place, field));
  }
  for (const auto& item : parameters.items()) {
    bool known = false;
    for (const std::string_view field : fields) known = known || item.key() == field;
    if (!known) refuse(fmt::format("{}/{}: unknown field", place, printable(item.key(), 40)));
  }
  return parameters;
}

}  // namespace shoal::mechanism
