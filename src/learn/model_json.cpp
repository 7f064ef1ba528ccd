// The model file. Every number is written so that it reads back exactly.
#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/learn/model.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

namespace shoal::learn {
namespace {

using Json = nlohmann::ordered_json;

// One object of the file, with its place for messages. Unknown keys are refused.
class Reader {
 public:
  Reader(const Json& json, std::string place) : json_(json), place_(std::move(place)) {
    if (!json.is_object()) fail("", "must be an object");
  }

  double number(const std::string& key) {
    const Json& value = at(key);
    if (!value.is_number() || !std::isfinite(value.get<double>())) fail(key, "must be a number");
    return value.get<double>();
  }
  std::string text(const std::string& key) {
    const Json& value = at(key);
    if (!value.is_string()) fail(key, "must be a text");
    return value.get<std::string>();
  }
  std::vector<std::string> texts(const std::string& key) {
    std::vector<std::string> values;
    for (const Json& one : list(key)) {
      if (!one.is_string()) fail(key, "must be a list of texts");
      values.push_back(one.get<std::string>());
    }
    return values;
  }
  std::vector<double> numbers(const std::string& key) {
    std::vector<double> values;
    for (const Json& one : list(key)) {
      if (!one.is_number() || !std::isfinite(one.get<double>()))
        fail(key, "must be a list of numbers");
      values.push_back(one.get<double>());
    }
    return values;
  }
  const Json& list(const std::string& key) {
    const Json& value = at(key);
    if (!value.is_array()) fail(key, "must be a list");
    return value;
  }
  Reader object(const std::string& key) { return Reader(at(key), place_ + "/" + key); }
  bool has(const std::string& key) const { return json_.contains(key); }
  const std::string& place() const { return place_; }

  // After everything was read.
  void finish() const {
    for (const auto& item : json_.items()) {
      if (!seen_.contains(item.key()))
        fail(printable(item.key(), 60), "is unknown; this version knows format 1");
    }
  }

  [[noreturn]] void fail(const std::string& key, std::string_view what) const {
    throw Error(ErrorCode::parse_error,
                fmt::format("the model is malformed at {}{}{}: it {}", place_,
                            key.empty() || place_ == "/" ? "" : "/", key, what));
  }

 private:
  const Json& at(const std::string& key) {
    seen_.insert(key);
    const auto found = json_.find(key);
    if (found == json_.end()) fail(key, "is missing");
    return *found;
  }

  const Json& json_;
  std::string place_;
  std::set<std::string> seen_;
};

Json parse(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& failure) {
    throw Error(ErrorCode::parse_error,
                fmt::format("the model is no JSON: fault at byte {}", failure.byte));
  }
}

// Text that came from a file may not be UTF-8; what is written always is.
std::string write(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

Json loss_json(const Loss& loss) {
  Json json = {{"name", name(loss)}};
  if (const auto* hinge = std::get_if<HuberisedHinge>(&loss))
    json["half_width"] = hinge->half_width;
  if (const auto* huber = std::get_if<Huber>(&loss)) json["knot"] = huber->knot;
  if (const auto* poisson = std::get_if<Poisson>(&loss)) {
    json["log_limit"] = poisson->log_limit;
    json["most"] = poisson->most;
  }
  if (const auto* softmax = std::get_if<Softmax>(&loss)) json["classes"] = softmax->classes;
  return json;
}

Loss read_loss(Reader reader) {
  const std::string kind = reader.text("name");
  Loss loss = Logistic{};
  if (kind == "squared") {
    loss = Squared{};
  } else if (kind == "huberised_hinge") {
    loss = HuberisedHinge{reader.number("half_width")};
  } else if (kind == "hinge") {
    loss = Hinge{};
  } else if (kind == "huber") {
    loss = Huber{reader.number("knot")};
  } else if (kind == "log_cosh") {
    loss = LogCosh{};
  } else if (kind == "poisson") {
    loss = Poisson{reader.number("log_limit"), reader.number("most")};
  } else if (kind == "softmax") {
    loss = Softmax{static_cast<std::size_t>(std::fmax(0, reader.number("classes")))};
  } else if (kind != "logistic") {
    reader.fail("name", "is no loss that this version knows");
  }
  reader.finish();
  return loss;
}

Json pipeline_json(const Pipeline& pipeline) {
  Json features = Json::array();
  for (const Feature& feature : pipeline.features) {
    if (const auto* numeric = std::get_if<NumericFeature>(&feature)) {
      features.push_back(
          {{"column", numeric->column}, {"lower", numeric->lower}, {"upper", numeric->upper}});
    } else {
      const auto& category = std::get<CategoryFeature>(feature);
      features.push_back({{"column", category.column}, {"categories", category.categories}});
    }
  }
  return {{"features", std::move(features)},
          {"intercept", pipeline.intercept},
          {"row_norm", pipeline.row_norm}};
}

Pipeline read_pipeline(Reader reader) {
  Pipeline pipeline;
  std::size_t index = 0;
  for (const Json& one : reader.list("features")) {
    Reader feature(one, fmt::format("{}/features/{}", reader.place(), index++));
    const std::string column = feature.text("column");
    if (feature.has("categories")) {
      pipeline.features.push_back(CategoryFeature{column, feature.texts("categories")});
    } else {
      const double lower = feature.number("lower");
      pipeline.features.push_back(NumericFeature{column, lower, feature.number("upper")});
    }
    feature.finish();
  }
  pipeline.intercept = reader.number("intercept");
  pipeline.row_norm = reader.number("row_norm");
  reader.finish();
  return pipeline;
}

Json target_json(const Target& target) {
  if (!target.categories.empty())
    return {{"column", target.column}, {"categories", target.categories}};
  return {{"column", target.column}, {"lower", target.lower}, {"upper", target.upper}};
}

Target read_target(Reader reader) {
  Target target{reader.text("column")};
  if (reader.has("categories")) {
    target.categories = reader.texts("categories");
  } else {
    target.lower = reader.number("lower");
    target.upper = reader.number("upper");
  }
  reader.finish();
  return target;
}

Json privacy_json(const ModelPrivacy& privacy) {
  return {{"epsilon", privacy.epsilon},
          {"delta", privacy.delta},
          {"neighbors", to_string(privacy.neighbors)},
          {"unit", privacy.unit},
          {"statement", privacy.statement},
          {"event", Json::parse(privacy.event)}};
}

ModelPrivacy read_privacy(Reader reader, const Json& json) {
  ModelPrivacy privacy;
  privacy.epsilon = reader.number("epsilon");
  privacy.delta = reader.number("delta");
  privacy.neighbors = parse_neighbors(reader.text("neighbors"));
  privacy.unit = reader.text("unit");
  privacy.statement = reader.text("statement");
  reader.object("event");
  privacy.event = json.at("event").dump();
  reader.finish();
  return privacy;
}

Json held_out_json(const HeldOutEstimate& estimate) {
  return {{"wrong", estimate.wrong},
          {"lower", estimate.lower},
          {"upper", estimate.upper},
          {"rows", estimate.rows},
          {"epsilon", estimate.epsilon}};
}

HeldOutEstimate read_held_out(Reader reader) {
  HeldOutEstimate estimate;
  estimate.wrong = reader.number("wrong");
  estimate.lower = reader.number("lower");
  estimate.upper = reader.number("upper");
  estimate.rows = reader.number("rows");
  estimate.epsilon = reader.number("epsilon");
  reader.finish();
  return estimate;
}

// What the parts themselves refuse is a fault of the file here.
template <typename Check>
void check_read(Check&& check) {
  try {
    check();
  } catch (const Error& failure) {
    throw Error(ErrorCode::parse_error, fmt::format("the model is malformed: {}", failure.what()));
  }
}

}  // namespace

std::string to_json(const Pipeline& pipeline) { return write(pipeline_json(pipeline)); }
std::string to_json(const Target& target) { return write(target_json(target)); }

Pipeline pipeline_from_json(std::string_view text) {
  const Json json = parse(text);
  Pipeline pipeline = read_pipeline(Reader(json, ""));
  check_read([&] { validate(pipeline); });
  return pipeline;
}

Target target_from_json(std::string_view text) {
  const Json json = parse(text);
  Target target = read_target(Reader(json, ""));
  check_read([&] { validate(target); });
  return target;
}

std::string to_json(const Model& model) {
  Json json = {{"format", kModelFormat},
               {"shoal_version", model.shoal_version},
               {"method", model.method},
               {"loss", loss_json(model.loss)},
               {"l2", model.l2},
               {"pipeline", pipeline_json(model.pipeline)},
               {"target", target_json(model.target)},
               {"privacy", privacy_json(model.privacy)},
               {"features", feature_names(model.pipeline)},
               {"weights", model.weights}};
  if (model.held_out) json["held_out"] = held_out_json(*model.held_out);
  return write(json) + "\n";
}

Model model_from_json(std::string_view text) {
  const Json json = parse(text);
  Reader reader(json, "");
  const double format = reader.number("format");
  if (format > kModelFormat) {
    throw Error(ErrorCode::unsupported,
                fmt::format("the model has format {}, and this version of shoal knows {}; use a "
                            "newer one",
                            format_number(format), kModelFormat));
  }
  if (format != kModelFormat) reader.fail("format", "must be 1");
  Model model;
  model.shoal_version = reader.text("shoal_version");
  model.method = reader.text("method");
  model.loss = read_loss(reader.object("loss"));
  model.l2 = reader.number("l2");
  model.pipeline = read_pipeline(reader.object("pipeline"));
  model.target = read_target(reader.object("target"));
  check_read([&] { model.privacy = read_privacy(reader.object("privacy"), json.at("privacy")); });
  const std::vector<std::string> names = reader.texts("features");
  model.weights = reader.numbers("weights");
  if (reader.has("held_out")) model.held_out = read_held_out(reader.object("held_out"));
  reader.finish();
  check_read([&] { validate(model); });
  if (names != feature_names(model.pipeline))
    reader.fail("features", "does not name the pipeline's features");
  return model;
}

}  // namespace shoal::learn
