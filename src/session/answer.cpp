#include <shoal/base/error.hpp>
#include <shoal/session/answer.hpp>

#include <nlohmann/json.hpp>

namespace shoal::session {
namespace {

using Json = nlohmann::ordered_json;

Json write(const AnswerNoise& noise) {
  return {{"statistic", noise.statistic},
          {"mechanism", noise.mechanism},
          {"scale", noise.scale},
          {"sensitivity", noise.sensitivity},
          {"step", noise.step}};
}

// Counts are whole numbers and look so.
Json number(double value, bool whole) {
  if (whole && value > -9e15 && value < 9e15) return static_cast<std::int64_t>(value);
  return value;
}

Json write(const AnswerColumn& column) {
  const bool whole = column.aggregate == "count";
  Json json = {{"name", column.name},
               {"aggregate", column.aggregate},
               {"value", number(column.value, whole)},
               {"lower", number(column.lower, whole)},
               {"upper", number(column.upper, whole)}};
  if (column.bounds) json["bounds"] = {column.bounds->lower, column.bounds->upper};
  json["noise"] = Json::array();
  for (const AnswerNoise& noise : column.noise) json["noise"].push_back(write(noise));
  return json;
}

AnswerColumn read_column(const Json& json) {
  AnswerColumn column;
  column.name = json.at("name");
  column.aggregate = json.at("aggregate");
  column.value = json.at("value");
  column.lower = json.at("lower");
  column.upper = json.at("upper");
  if (json.contains("bounds"))
    column.bounds = catalog::Bounds{json["bounds"].at(0), json["bounds"].at(1)};
  for (const Json& noise : json.at("noise")) {
    column.noise.push_back({noise.at("statistic"), noise.at("mechanism"), noise.at("scale"),
                            noise.at("sensitivity"), noise.at("step")});
  }
  return column;
}

Answer read(const Json& json) {
  Answer answer;
  for (const Json& column : json.at("columns")) answer.columns.push_back(read_column(column));
  answer.confidence = json.at("confidence");
  const Json& cost = json.at("cost");
  answer.epsilon = cost.at("epsilon");
  answer.delta = cost.at("delta");
  answer.rho = cost.at("rho");
  const Json& privacy = json.at("privacy");
  answer.unit = privacy.at("unit");
  answer.neighbors = privacy.at("neighbors");
  answer.statement = privacy.at("statement");
  answer.entry = json.at("entry");
  answer.key = json.at("key");
  return answer;
}

}  // namespace

std::string to_json(const Answer& answer) {
  Json json;
  json["columns"] = Json::array();
  for (const AnswerColumn& column : answer.columns) json["columns"].push_back(write(column));
  json["confidence"] = answer.confidence;
  json["cost"] = {{"epsilon", answer.epsilon}, {"delta", answer.delta}, {"rho", answer.rho}};
  json["privacy"] = {
      {"unit", answer.unit}, {"neighbors", answer.neighbors}, {"statement", answer.statement}};
  json["entry"] = answer.entry;
  json["key"] = answer.key;
  return json.dump();
}

std::string failure_json(std::string_view message) {
  return Json{{"failure", std::string(message)}}.dump();
}

Answer answer_from_json(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_object() && json.contains("failure")) {
    throw Error(ErrorCode::internal, json["failure"].get<std::string>());
  }
  try {
    return read(json);
  } catch (const Json::exception&) {
    throw Error(ErrorCode::corrupt,
                "the stored answer cannot be read; restore the ledger from a backup");
  }
}

}  // namespace shoal::session
