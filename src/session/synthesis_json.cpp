#include "session/synthesis_json.hpp"

#include <shoal/base/error.hpp>
#include <shoal/session/answer.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace shoal::session {
namespace {

using data::AttributeSet;
using nlohmann::json;

constexpr double kParts = 1e6;

AttributeSet set_of(const json& columns) {
  AttributeSet set;
  for (const json& column : columns) {
    const auto place = column.get<std::size_t>();
    if (place >= data::kMaxAttributes) throw std::out_of_range("column");
    set = set | AttributeSet::single(place);
  }
  return set;
}

json logarithms(const std::vector<double>& table) {
  const double largest = *std::max_element(table.begin(), table.end());
  json cells = json::array();
  for (const double cell : table) {
    if (std::isfinite(cell)) {
      cells.push_back(std::llround((cell - largest) * kParts));
    } else {
      cells.push_back(nullptr);
    }
  }
  return cells;
}

std::vector<double> from_logarithms(const json& cells) {
  std::vector<double> table;
  for (const json& cell : cells) {
    table.push_back(cell.is_null() ? -std::numeric_limits<double>::infinity()
                                   : static_cast<double>(cell.get<std::int64_t>()) / kParts);
  }
  return table;
}

synth::Synthesis parsed(const json& stored, std::vector<std::uint32_t> sizes) {
  if (stored.at("synthesis") != 1) throw std::out_of_range("synthesis");
  std::vector<AttributeSet> sets;
  std::vector<std::vector<double>> potentials;
  for (const json& table : stored.at("tables")) {
    sets.push_back(set_of(table.at("columns")));
    potentials.push_back(from_logarithms(table.at("logs")));
  }
  synth::Synthesis synthesis{
      synth::GraphicalModel::from_tables(std::move(sizes), std::move(sets), std::move(potentials),
                                         stored.at("total").get<double>()),
      {},
      {}};
  for (const json& step : stored.at("steps")) {
    synthesis.steps.push_back({set_of(step.at("columns")), step.at("sigma").get<double>(),
                               step.at("choice_scale").get<double>(),
                               step.at("iterations").get<int>(), std::nullopt, std::nullopt});
    if (const auto cell = step.find("cell"); cell != step.end())
      synthesis.steps.back().cell = cell->get<std::int64_t>();
    if (const auto cell = step.find("last_cell"); cell != step.end())
      synthesis.steps.back().last_cell = cell->get<std::int64_t>();
  }
  for (const json& one : stored.at("measurements")) {
    synthesis.measurements.push_back({set_of(one.at("columns")), one.at("sigma").get<double>(),
                                      one.at("counts").get<std::vector<double>>()});
  }
  // Not "errors": those were of a model rounded to whole rows, and say nothing of sparse tables.
  if (const auto errors = stored.find("distances"); errors != stored.end()) {
    synthesis.errors = {errors->at("sigma").get<double>(),
                        errors->at("rows").get<std::vector<double>>(),
                        errors->at("rounding").get<std::vector<double>>()};
  }
  return synthesis;
}

}  // namespace

std::string stored_synthesis(const synth::Synthesis& synthesis, std::size_t most_measured) {
  std::size_t measured = 0;
  for (const synth::NoisyMarginal& one : synthesis.measurements) measured += one.counts.size();
  json stored = {{"synthesis", 1},
                 {"total", synthesis.model.total()},
                 {"steps", json::array()},
                 {"measurements", json::array()},
                 {"tables", json::array()}};
  for (const synth::SynthesisStep& step : synthesis.steps) {
    stored["steps"].push_back({{"columns", step.set.members()},
                               {"sigma", step.sigma},
                               {"choice_scale", step.choice_scale},
                               {"iterations", step.fit_iterations}});
    if (step.cell) stored["steps"].back()["cell"] = *step.cell;
    if (step.last_cell) stored["steps"].back()["last_cell"] = *step.last_cell;
  }
  for (const synth::NoisyMarginal& one : synthesis.measurements) {
    if (measured > most_measured) break;
    json counts = json::array();
    for (const double count : one.counts) counts.push_back(std::llround(count));
    stored["measurements"].push_back(
        {{"columns", one.set.members()}, {"sigma", one.sigma}, {"counts", std::move(counts)}});
  }
  for (std::size_t i = 0; i < synthesis.model.sets().size(); ++i) {
    stored["tables"].push_back({{"columns", synthesis.model.sets()[i].members()},
                                {"logs", logarithms(synthesis.model.potentials()[i])}});
  }
  if (synthesis.errors) {
    stored["distances"] = {{"sigma", synthesis.errors->sigma},
                           {"rows", synthesis.errors->rows},
                           {"rounding", synthesis.errors->rounding}};
  }
  return stored.dump();
}

synth::Synthesis synthesis_from_json(std::string_view text, std::vector<std::uint32_t> sizes) {
  if (text.starts_with("{\"failure\"")) answer_from_json(text);
  try {
    return parsed(json::parse(text), std::move(sizes));
  } catch (const std::exception&) {
    throw Error(ErrorCode::corrupt, "what the ledger stores under this key is no synthesis");
  }
}

}  // namespace shoal::session
