// Events as JSON. Reading is strict: one key an object, exactly the known fields, positions in
// errors.
#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/privacy/event.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <string_view>
#include <vector>

namespace shoal::privacy {
namespace {

using Json = nlohmann::ordered_json;

// Deeper trees than this are no plan that Shoal makes; the limit keeps reading free of stack
// overflow.
constexpr int kMaxDepth = 64;

Json write(const Event& event);

template <class Noise>
Json write_noise(const char* name, const char* width_name, double width, const Noise& noise) {
  Json body = {{width_name, width}, {"sensitivity", noise.sensitivity}};
  if (noise.replace_sensitivity) body["replace_sensitivity"] = *noise.replace_sensitivity;
  return {{name, body}};
}

struct Writer {
  Json operator()(const event::DiscreteLaplace& e) const {
    return write_noise("discrete_laplace", "scale", e.scale, e);
  }
  Json operator()(const event::DiscreteGaussian& e) const {
    return write_noise("discrete_gaussian", "sigma", e.sigma, e);
  }
  Json operator()(const event::Laplace& e) const {
    return write_noise("laplace", "scale", e.scale, e);
  }
  Json operator()(const event::Gaussian& e) const {
    return write_noise("gaussian", "sigma", e.sigma, e);
  }
  Json operator()(const event::RandomizedResponse& e) const {
    return {{"randomized_response", {{"epsilon", e.epsilon}, {"categories", e.categories}}}};
  }
  Json operator()(const event::LeakyRandomizedResponse& e) const {
    return {{"leaky_randomized_response", {{"epsilon", e.epsilon}, {"delta", e.delta}}}};
  }
  Json operator()(const event::NameAndShame& e) const {
    return {{"name_and_shame", {{"delta", e.delta}}}};
  }
  Json operator()(const event::Exponential& e) const {
    return {{"exponential", {{"epsilon", e.epsilon}}}};
  }
  Json operator()(const event::Pure& e) const { return {{"pure", {{"epsilon", e.epsilon}}}}; }
  Json operator()(const event::EpsilonDelta& e) const {
    return {{"epsilon_delta", {{"epsilon", e.epsilon}, {"delta", e.delta}}}};
  }
  Json operator()(const event::Zcdp& e) const { return {{"zcdp", {{"rho", e.rho}}}}; }
  Json operator()(const event::Rdp& e) const {
    return {{"rdp", {{"orders", e.orders}, {"epsilons", e.epsilons}}}};
  }
  Json operator()(const event::Gdp& e) const { return {{"gdp", {{"mu", e.mu}}}}; }
  Json operator()(const event::PoissonSampled& e) const {
    return {{"poisson_sampled", {{"rate", e.rate}, {"event", write(e.event)}}}};
  }
  Json operator()(const event::SampledWithoutReplacement& e) const {
    return {{"sampled_without_replacement",
             {{"population", e.population}, {"sample", e.sample}, {"event", write(e.event)}}}};
  }
  Json operator()(const event::Shuffled& e) const {
    return {{"shuffled", {{"epsilon", e.epsilon}, {"users", e.users}}}};
  }
  Json operator()(const event::Group& e) const {
    return {{"group", {{"size", e.size}, {"event", write(e.event)}}}};
  }
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
                    std::initializer_list<const char*> fields, const char* optional = nullptr) {
  if (!body.is_object()) refuse(place, "expected an object");
  for (const char* field : fields) {
    if (!body.contains(field)) refuse(place, fmt::format("\"{}\" is missing", field));
  }
  for (const auto& item : body.items()) {
    bool known = false;
    for (const char* field : fields) known = known || item.key() == field;
    if (optional != nullptr) known = known || item.key() == optional;
    if (!known) refuse(place + "/" + printable(item.key(), 40), "unknown field");
  }
}

double number(const Json& body, const std::string& place, const char* field) {
  if (!body.at(field).is_number()) refuse(place + "/" + field, "expected a number");
  return body.at(field).get<double>();
}

std::vector<double> numbers(const Json& body, const std::string& place, const char* field) {
  const Json& list = body.at(field);
  if (!list.is_array()) refuse(place + "/" + field, "expected a list of numbers");
  std::vector<double> values;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_number()) refuse(fmt::format("{}/{}/{}", place, field, i), "expected a number");
    values.push_back(list[i].get<double>());
  }
  return values;
}

std::int64_t whole(const Json& body, const std::string& place, const char* field) {
  const Json& value = body.at(field);
  // Whole numbers beyond int64 are refused too: reading one would wrap it.
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() &&
       value.get<std::uint64_t>() >
           static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))) {
    refuse(place + "/" + field, "expected a whole number");
  }
  return value.get<std::int64_t>();
}

Event read(const Json& json, const std::string& place, int depth);

// The body of one event and where it stands.
struct Body {
  const Json& json;
  const std::string& place;
  int depth;

  void fields(std::initializer_list<const char*> names, const char* optional = nullptr) const {
    require_fields(json, place, names, optional);
  }
  std::optional<double> optional_number(const char* field) const {
    if (!json.contains(field)) return std::nullopt;
    return privacy::number(json, place, field);
  }
  double number(const char* field) const { return privacy::number(json, place, field); }
  std::int64_t whole(const char* field) const { return privacy::whole(json, place, field); }
};

template <class Noise>
Event read_laplace(const Body& body) {
  body.fields({"scale", "sensitivity"}, "replace_sensitivity");
  return Noise{body.number("scale"), body.number("sensitivity"),
               body.optional_number("replace_sensitivity")};
}

template <class Noise>
Event read_gaussian(const Body& body) {
  body.fields({"sigma", "sensitivity"}, "replace_sensitivity");
  return Noise{body.number("sigma"), body.number("sensitivity"),
               body.optional_number("replace_sensitivity")};
}

template <class Loss>
Event read_epsilon(const Body& body) {
  body.fields({"epsilon"});
  return Loss{body.number("epsilon")};
}

Event read_randomized_response(const Body& body) {
  body.fields({"epsilon", "categories"});
  return event::RandomizedResponse{body.number("epsilon"), body.whole("categories")};
}

template <class Loss>
Event read_epsilon_delta(const Body& body) {
  body.fields({"epsilon", "delta"});
  return Loss{body.number("epsilon"), body.number("delta")};
}

Event read_name_and_shame(const Body& body) {
  body.fields({"delta"});
  return event::NameAndShame{body.number("delta")};
}

Event read_zcdp(const Body& body) {
  body.fields({"rho"});
  return event::Zcdp{body.number("rho")};
}

Event read_rdp(const Body& body) {
  body.fields({"orders", "epsilons"});
  return event::Rdp{numbers(body.json, body.place, "orders"),
                    numbers(body.json, body.place, "epsilons")};
}

Event read_gdp(const Body& body) {
  body.fields({"mu"});
  return event::Gdp{body.number("mu")};
}

Event read_inner(const Body& body) {
  return read(body.json.at("event"), body.place + "/event", body.depth + 1);
}

Event read_poisson_sampled(const Body& body) {
  body.fields({"rate", "event"});
  return event::PoissonSampled{body.number("rate"), read_inner(body)};
}

Event read_sampled_without_replacement(const Body& body) {
  body.fields({"population", "sample", "event"});
  return event::SampledWithoutReplacement{body.whole("population"), body.whole("sample"),
                                          read_inner(body)};
}

Event read_shuffled(const Body& body) {
  body.fields({"epsilon", "users"});
  return event::Shuffled{body.number("epsilon"), body.whole("users")};
}

Event read_group(const Body& body) {
  body.fields({"size", "event"});
  return event::Group{body.whole("size"), read_inner(body)};
}

Event read_repeat(const Body& body) {
  body.fields({"count", "event"});
  return event::Repeat{body.whole("count"), read_inner(body)};
}

Event read_compose(const Body& body) {
  if (!body.json.is_array()) refuse(body.place, "expected a list");
  event::Compose compose;
  for (std::size_t i = 0; i < body.json.size(); ++i) {
    compose.events.push_back(
        read(body.json[i], fmt::format("{}/{}", body.place, i), body.depth + 1));
  }
  return compose;
}

struct Reader {
  std::string_view name;
  Event (*read)(const Body&);
};

constexpr Reader kReaders[] = {
    {"discrete_laplace", read_laplace<event::DiscreteLaplace>},
    {"discrete_gaussian", read_gaussian<event::DiscreteGaussian>},
    {"laplace", read_laplace<event::Laplace>},
    {"gaussian", read_gaussian<event::Gaussian>},
    {"randomized_response", read_randomized_response},
    {"leaky_randomized_response", read_epsilon_delta<event::LeakyRandomizedResponse>},
    {"name_and_shame", read_name_and_shame},
    {"exponential", read_epsilon<event::Exponential>},
    {"pure", read_epsilon<event::Pure>},
    {"epsilon_delta", read_epsilon_delta<event::EpsilonDelta>},
    {"zcdp", read_zcdp},
    {"rdp", read_rdp},
    {"gdp", read_gdp},
    {"poisson_sampled", read_poisson_sampled},
    {"sampled_without_replacement", read_sampled_without_replacement},
    {"shuffled", read_shuffled},
    {"group", read_group},
    {"repeat", read_repeat},
    {"compose", read_compose},
};
static_assert(std::size(kReaders) == std::variant_size_v<Event::Node>);

Event read_named(const std::string& name, const Body& body) {
  std::vector<std::string_view> known;
  for (const Reader& reader : kReaders) {
    if (reader.name == name) return reader.read(body);
    known.push_back(reader.name);
  }
  refuse(body.place, fmt::format("unknown event; known are {}", fmt::join(known, ", ")));
}

Event read(const Json& json, const std::string& place, int depth) {
  if (depth > kMaxDepth) refuse(place, fmt::format("nested deeper than {}", kMaxDepth));
  if (!json.is_object() || json.size() != 1)
    refuse(place, "expected an object with one key, the event's name");
  const std::string name = json.begin().key();
  const std::string inner = place + "/" + printable(name, 40);
  try {
    return read_named(name, Body{json.begin().value(), inner, depth});
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
