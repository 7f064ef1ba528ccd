// Events as JSON. Reading is strict: one key an object, exactly the known fields, positions in
// errors.
#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/privacy/event.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <initializer_list>

namespace shoal::privacy {
namespace {

using Json = nlohmann::ordered_json;

// Deeper trees than this are no plan that Shoal makes; the limit keeps reading free of stack
// overflow.
constexpr int kMaxDepth = 64;

Json write(const Event& event);

struct Writer {
  Json operator()(const event::DiscreteLaplace& e) const {
    return {{"discrete_laplace", {{"scale", e.scale}, {"sensitivity", e.sensitivity}}}};
  }
  Json operator()(const event::DiscreteGaussian& e) const {
    return {{"discrete_gaussian", {{"sigma", e.sigma}, {"sensitivity", e.sensitivity}}}};
  }
  Json operator()(const event::Pure& e) const { return {{"pure", {{"epsilon", e.epsilon}}}}; }
  Json operator()(const event::Zcdp& e) const { return {{"zcdp", {{"rho", e.rho}}}}; }
  Json operator()(const event::Repeat& e) const {
    return {{"repeat", {{"count", e.count}, {"event", write(e.event)}}}};
  }
  Json operator()(const event::Compose& e) const {
    Json parts = Json::array();
    for (const Event& part : e.events) parts.push_back(write(part));
    return {{"compose", parts}};
  }
};

Json write(const Event& event) { return std::visit(Writer{}, event.node()); }

[[noreturn]] void refuse(const std::string& place, const std::string& why) {
  throw Error(ErrorCode::parse_error,
              fmt::format("event at {}: {}", place.empty() ? "/" : place, why));
}

void require_fields(const Json& body, const std::string& place,
                    std::initializer_list<const char*> fields) {
  if (!body.is_object()) refuse(place, "expected an object");
  for (const char* field : fields) {
    if (!body.contains(field)) refuse(place, fmt::format("\"{}\" is missing", field));
  }
  for (const auto& item : body.items()) {
    bool known = false;
    for (const char* field : fields) known = known || item.key() == field;
    if (!known) refuse(place + "/" + printable(item.key(), 40), "unknown field");
  }
}

double number(const Json& body, const std::string& place, const char* field) {
  if (!body.at(field).is_number()) refuse(place + "/" + field, "expected a number");
  return body.at(field).get<double>();
}

Event read(const Json& json, const std::string& place, int depth);

Event read_named(const std::string& name, const Json& body, const std::string& place, int depth) {
  if (name == "discrete_laplace") {
    require_fields(body, place, {"scale", "sensitivity"});
    return event::DiscreteLaplace{number(body, place, "scale"), number(body, place, "sensitivity")};
  }
  if (name == "discrete_gaussian") {
    require_fields(body, place, {"sigma", "sensitivity"});
    return event::DiscreteGaussian{number(body, place, "sigma"),
                                   number(body, place, "sensitivity")};
  }
  if (name == "pure") {
    require_fields(body, place, {"epsilon"});
    return event::Pure{number(body, place, "epsilon")};
  }
  if (name == "zcdp") {
    require_fields(body, place, {"rho"});
    return event::Zcdp{number(body, place, "rho")};
  }
  if (name == "repeat") {
    require_fields(body, place, {"count", "event"});
    if (!body.at("count").is_number_integer()) refuse(place + "/count", "expected a whole number");
    return event::Repeat{body.at("count").get<std::int64_t>(),
                         read(body.at("event"), place + "/event", depth + 1)};
  }
  if (name == "compose") {
    if (!body.is_array()) refuse(place, "expected a list");
    event::Compose compose;
    for (std::size_t i = 0; i < body.size(); ++i) {
      compose.events.push_back(read(body[i], fmt::format("{}/{}", place, i), depth + 1));
    }
    return compose;
  }
  refuse(
      place,
      "unknown event; known are discrete_laplace, discrete_gaussian, pure, zcdp, repeat, compose");
}

Event read(const Json& json, const std::string& place, int depth) {
  if (depth > kMaxDepth) refuse(place, fmt::format("nested deeper than {}", kMaxDepth));
  if (!json.is_object() || json.size() != 1)
    refuse(place, "expected an object with one key, the event's name");
  const std::string name = json.begin().key();
  const std::string inner = place + "/" + printable(name, 40);
  try {
    return read_named(name, json.begin().value(), inner, depth);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    refuse(inner, error.what());
  }
}

}  // namespace

std::string to_json(const Event& event) { return write(event).dump(); }

Event event_from_json(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) {
    throw Error(ErrorCode::parse_error,
                "the event is not valid JSON; write for example {\"pure\": {\"epsilon\": 0.5}}");
  }
  return read(json, "", 0);
}

}  // namespace shoal::privacy
