#include <shoal/base/error.hpp>
#include <shoal/session/answer.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

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

// Whole numbers look so.
Json number_json(double value, bool whole) {
  if (whole && value > -9e15 && value < 9e15) return static_cast<std::int64_t>(value);
  return value;
}

void write(const plan::Cell& cell, bool whole, Json& json) {
  if (const auto* flag = std::get_if<bool>(&cell.value)) {
    json["value"] = *flag;
  } else if (const auto* text = std::get_if<std::string>(&cell.value)) {
    json["value"] = *text;
  } else if (const auto* value = std::get_if<double>(&cell.value)) {
    json["value"] = number_json(*value, whole);
  } else {
    json["value"] = nullptr;
  }
  if (cell.lower) json["lower"] = number_json(*cell.lower, whole);
  if (cell.upper) json["upper"] = number_json(*cell.upper, whole);
}

// An answer of one row that has no key shows its values with the columns.
Json write(const AnswerColumn& column, const plan::Cell* only) {
  Json json = {{"name", column.name}, {"aggregate", column.aggregate}};
  if (only) write(*only, column.type == "integer", json);
  json["type"] = column.type;
  if (column.bounds) json["bounds"] = {column.bounds->lower, column.bounds->upper};
  json["noise"] = Json::array();
  for (const AnswerNoise& noise : column.noise) json["noise"].push_back(write(noise));
  return json;
}

AnswerColumn read_column(const Json& json) {
  AnswerColumn column;
  column.name = json.at("name");
  column.aggregate = json.at("aggregate");
  column.type = json.value("type", column.aggregate == "count" ? "integer" : "real");
  if (json.contains("bounds"))
    column.bounds = catalog::Bounds{json["bounds"].at(0), json["bounds"].at(1)};
  for (const Json& noise : json.at("noise")) {
    column.noise.push_back({noise.at("statistic"), noise.at("mechanism"), noise.at("scale"),
                            noise.at("sensitivity"), noise.at("step")});
  }
  return column;
}

plan::Cell read_cell(const Json& json) {
  plan::Cell cell;
  const Json& value = json.at("value");
  if (value.is_boolean()) cell.value = value.get<bool>();
  if (value.is_number()) cell.value = value.get<double>();
  if (value.is_string()) cell.value = value.get<std::string>();
  if (json.contains("lower")) cell.lower = json["lower"].get<double>();
  if (json.contains("upper")) cell.upper = json["upper"].get<double>();
  return cell;
}

// Answers of the first version have their values with the columns alone.
std::vector<AnswerRow> read_rows(const Json& json) {
  std::vector<AnswerRow> rows;
  if (!json.contains("rows")) {
    AnswerRow& only = rows.emplace_back();
    for (const Json& column : json.at("columns")) only.push_back(read_cell(column));
    return rows;
  }
  for (const Json& row : json["rows"]) {
    AnswerRow& made = rows.emplace_back();
    for (const Json& cell : row) made.push_back(read_cell(cell));
  }
  return rows;
}

bool is_single(const Answer& answer) {
  return answer.rows.size() == 1 &&
         std::none_of(answer.columns.begin(), answer.columns.end(),
                      [](const AnswerColumn& column) { return column.aggregate == "key"; });
}

Json write(const AnswerFound& found) {
  Json json = {{"of", found.of}};
  if (found.bounds) json["bounds"] = {found.bounds->lower, found.bounds->upper};
  if (found.max_groups) json["max_groups"] = *found.max_groups;
  json["epsilon"] = found.epsilon;
  return json;
}

AnswerFound read_found(const Json& json) {
  AnswerFound found;
  found.of = json.at("of");
  if (json.contains("bounds"))
    found.bounds = catalog::Bounds{json["bounds"].at(0), json["bounds"].at(1)};
  if (json.contains("max_groups")) found.max_groups = json["max_groups"].get<std::int64_t>();
  found.epsilon = json.at("epsilon");
  return found;
}

Answer read(const Json& json) {
  Answer answer;
  for (const Json& column : json.at("columns")) answer.columns.push_back(read_column(column));
  answer.rows = read_rows(json);
  if (json.contains("hidden_groups")) {
    const Json& hidden = json["hidden_groups"];
    answer.hidden =
        HiddenGroups{hidden.at("even_chance"), hidden.at("min_units"), hidden.at("selection")};
  }
  if (json.contains("found")) {
    for (const Json& one : json["found"]) answer.found.push_back(read_found(one));
  }
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

double number(const plan::Cell& cell) {
  if (const auto* value = std::get_if<double>(&cell.value)) return *value;
  throw Error(ErrorCode::invalid_argument, "the cell is no number; ask for its text");
}

std::string to_json(const Answer& answer) {
  Json json;
  json["columns"] = Json::array();
  const bool single = is_single(answer);
  for (std::size_t i = 0; i < answer.columns.size(); ++i) {
    json["columns"].push_back(write(answer.columns[i], single ? &answer.rows[0][i] : nullptr));
  }
  json["rows"] = Json::array();
  for (const AnswerRow& row : answer.rows) {
    Json& cells = json["rows"].emplace_back(Json::array());
    for (std::size_t i = 0; i < row.size(); ++i) {
      Json cell = Json::object();
      write(row[i], answer.columns[i].type == "integer", cell);
      cells.push_back(std::move(cell));
    }
  }
  if (answer.hidden) {
    json["hidden_groups"] = {{"even_chance", answer.hidden->even_chance},
                             {"min_units", answer.hidden->min_units},
                             {"selection", answer.hidden->selection}};
  }
  if (!answer.found.empty()) {
    json["found"] = Json::array();
    for (const AnswerFound& one : answer.found) json["found"].push_back(write(one));
  }
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
