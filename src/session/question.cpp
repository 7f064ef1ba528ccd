#include "session/question.hpp"

#include <shoal/base/error.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/plan/present.hpp>
#include <shoal/session/session.hpp>

#include <algorithm>

namespace shoal::session {
namespace {

engine::KeyType key_type(catalog::ColumnType type) {
  switch (type) {
    case catalog::ColumnType::integer:
      return engine::KeyType::integer;
    case catalog::ColumnType::real:
      return engine::KeyType::real;
    case catalog::ColumnType::boolean:
      return engine::KeyType::boolean;
    case catalog::ColumnType::date:
      return engine::KeyType::date;
    case catalog::ColumnType::timestamp:
      return engine::KeyType::timestamp;
    case catalog::ColumnType::text:
    case catalog::ColumnType::other:
      break;
  }
  return engine::KeyType::text;
}

std::string statistic_in_words(const catalog::Statistic& statistic) {
  switch (statistic.kind) {
    case catalog::StatisticKind::units:
      return "units";
    case catalog::StatisticKind::rows:
      return "rows";
    case catalog::StatisticKind::values:
      return "values of " + statistic.column;
    case catalog::StatisticKind::plain_sum:
      return "sum of " + statistic.column;
    case catalog::StatisticKind::centred_sum:
      return "centred sum of " + statistic.column;
    case catalog::StatisticKind::centred_squares:
      return "centred squares of " + statistic.column;
    case catalog::StatisticKind::distinct:
      return "different values of " + statistic.column;
    case catalog::StatisticKind::leaves:
      break;
  }
  return "histogram of " + statistic.column;
}

// Of the first grouping, which is the finest.
AnswerNoise describe_noise(const plan::Plan& plan, std::size_t index) {
  const mechanism::GroupedNoise& grouping = plan.noises.front();
  const mechanism::GroupStatistic& statistic = grouping.statistics[index];
  const catalog::Statistic& described = plan.statistics[index];
  AnswerNoise noise;
  noise.statistic = statistic_in_words(described);
  noise.step = described.unit_size();
  const bool exchange = plan.neighbors == Neighbors::replace_one && grouping.single;
  noise.sensitivity = static_cast<double>(exchange ? mechanism::exchange_reach(statistic)
                                                   : mechanism::reach(statistic));
  if (statistic.noise) {
    noise.mechanism = mechanism::name(*statistic.noise);
    noise.scale = mechanism::noise_scale(*statistic.noise);
  } else {
    noise.mechanism = mechanism::name(*grouping.selection);
    const auto* laplace = std::get_if<mechanism::LaplaceThreshold>(&*grouping.selection);
    noise.scale = laplace ? laplace->scale
                          : std::get<mechanism::GaussianThreshold>(*grouping.selection).sigma;
  }
  return noise;
}

// The scale is in values: how many a rank may be off.
AnswerNoise describe_quantile(const plan::Plan& plan, const plan::PlannedAggregate& aggregate) {
  const mechanism::GroupedNoise& grouping = plan.noises.front();
  const std::size_t histogram = aggregate.statistic - grouping.statistics.size();
  const mechanism::GroupQuantiles& quantiles = grouping.quantiles.at(histogram);
  const catalog::Statistic& described = plan.statistics[aggregate.statistic];
  AnswerNoise noise;
  noise.statistic = statistic_in_words(described);
  noise.step = described.unit_size();
  noise.sensitivity = static_cast<double>(quantiles.values_per_unit);
  if (const auto* tree = std::get_if<mechanism::TreeQuantiles>(&quantiles.method)) {
    noise.mechanism = mechanism::name(tree->tree);
    noise.scale =
        std::visit([](const auto& one) { return mechanism::noise_scale(one); }, tree->tree.noise);
  } else {
    const auto& choices = std::get<std::vector<mechanism::QuantileChoice>>(quantiles.method);
    noise.mechanism = mechanism::name(choices.front());
    noise.scale = choices.front().scale;
  }
  return noise;
}

AnswerColumn make_column(const plan::Plan& plan, const plan::PresentedColumn& presented) {
  AnswerColumn column;
  column.name = presented.name;
  column.type = to_string(presented.type);
  column.aggregate = presented.is_key ? "key" : "expression";
  if (presented.bare) {
    const plan::PlannedAggregate& aggregate = plan.aggregates[presented.aggregates.front()];
    column.aggregate = to_string(aggregate.kind);
    column.bounds = aggregate.bounds;
    const bool whole = aggregate.kind == plan::AggregateKind::count ||
                       aggregate.kind == plan::AggregateKind::units ||
                       aggregate.kind == plan::AggregateKind::distinct;
    if (whole) column.type = "integer";
  }
  std::vector<std::size_t> statistics;
  for (const std::size_t at : presented.aggregates) {
    const plan::PlannedAggregate& aggregate = plan.aggregates[at];
    if (aggregate.quantile) {
      column.noise.push_back(describe_quantile(plan, aggregate));
      continue;
    }
    for (const auto& index :
         {std::optional(aggregate.statistic), aggregate.denominator, aggregate.squares}) {
      if (index && std::find(statistics.begin(), statistics.end(), *index) == statistics.end()) {
        statistics.push_back(*index);
      }
    }
  }
  for (const std::size_t index : statistics) column.noise.push_back(describe_noise(plan, index));
  return column;
}

std::optional<HiddenGroups> hidden_groups(const plan::Plan& plan) {
  for (const mechanism::GroupedNoise& noise : plan.noises) {
    if (!noise.selection) continue;
    return HiddenGroups{static_cast<double>(mechanism::even_chance_size(*noise.selection)),
                        mechanism::min_units(*noise.selection),
                        std::string(mechanism::name(*noise.selection))};
  }
  return std::nullopt;
}

}  // namespace

engine::GroupedRequest engine_request(const plan::Plan& plan,
                                      const std::array<std::uint64_t, 2>& hash_key) {
  engine::GroupedRequest request;
  request.rows = plan.rows;
  request.has_unit = plan.has_unit;
  for (const plan::PlannedKey& key : plan.keys) request.keys.push_back(key_type(key.type));
  for (const plan::PlannedValue& value : plan.values) {
    request.values.push_back({value.identity ? engine::ValueUse::identity : engine::ValueUse::steps,
                              value.whole, value.range, value.nulls, key_type(value.type)});
  }
  for (std::size_t i = 0; i < plan.groupings.size(); ++i) {
    request.sets.push_back({plan.groupings[i].keys, plan.noises[i].max_groups});
  }
  request.statistics = plan.statistics;
  request.rows_per_group = plan.rows_per_group;
  request.distinct_per_group = plan.distinct_per_group;
  request.hash_key = hash_key;
  request.clustered = plan.clustered;
  return request;
}

double epsilon_of(const plan::Plan& plan) {
  return plan.charge.epsilon_units
             ? numeric::decimal_from_units(*plan.charge.epsilon_units, privacy::kEpsilonDecimals)
             : plan.epsilon.value();
}

Answer make_answer(const plan::Plan& plan, const plan::Plan& asked, const catalog::Policy& policy,
                   std::span<const std::vector<catalog::ReleasedGroup>> released) {
  Answer answer;
  for (const plan::PresentedColumn& column : plan::presented_columns(plan)) {
    answer.columns.push_back(make_column(plan, column));
  }
  answer.rows = plan::present(plan, released);
  answer.hidden = hidden_groups(plan);
  answer.confidence = plan.confidence.value();
  answer.epsilon = epsilon_of(asked);
  answer.delta = asked.delta.value();
  answer.rho = numeric::from_units_up(asked.charge.rho_units, privacy::kRhoDecimals);
  answer.unit = policy.unit_in_words();
  answer.neighbors = to_string(policy.neighbors);
  answer.statement = privacy_statement(answer.epsilon, answer.delta, answer.unit, policy.neighbors);
  return answer;
}

}  // namespace shoal::session
