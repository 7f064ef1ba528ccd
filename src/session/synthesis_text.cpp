// A synthesis plan in words and in JSON: what is measured, with which noise, at which cost.
#include "session/synthesis_words.hpp"

#include <shoal/base/text.hpp>
#include <shoal/session/session.hpp>
#include <shoal/session/synthesis.hpp>
#include <shoal/synth/blr.hpp>
#include <shoal/synth/mwem.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace shoal::session {
namespace {

constexpr double kBeta = 0.05;
const double kMeanAbsolute = std::sqrt(2 / 3.14159265358979323846);  // of a standard normal number

// What the model may cost.
double rho_of(const SynthesisPlan& plan) {
  if (const auto* gdp = std::get_if<privacy::event::Gdp>(&plan.event.node()))
    return gdp->mu * gdp->mu / 2 * (1 - plan.check_share);
  const auto* zcdp = std::get_if<privacy::event::Zcdp>(&plan.event.node());
  return zcdp ? zcdp->rho * (1 - plan.check_share) : 0;
}

// Of the tables of single columns, which come first.
double first_noise(const SynthesisPlan& plan, const catalog::Policy& policy) {
  const release::MarginalUnit unit{1, policy.neighbors};
  return plan.method == SynthesisMethod::mst
             ? synth::mst_sigma(plan.domain.size(), rho_of(plan), unit)
             : synth::first_sigma(plan.domain.size(), rho_of(plan), unit);
}

std::string columns_text(const SynthesisPlan& plan) {
  std::string text;
  for (const synth::DomainColumn& column : plan.domain) {
    text += fmt::format("{}{} ({}{})", text.empty() ? "" : ", ", column.name, column.size(),
                        column.categories.empty() ? " bins" : "");
  }
  return text;
}

std::string workload_text(const SynthesisPlan& plan) {
  std::vector<std::string> names;
  constexpr std::size_t kShown = 4;
  for (std::size_t i = 0; i < std::min(kShown, plan.workload.size()); ++i)
    names.push_back(name_of(plan.workload[i].set, plan.domain));
  if (plan.workload.size() > kShown) names.emplace_back("...");
  for (const synth::RangeFamily& family : plan.ranges)
    names.push_back(name_of(family, plan.domain));
  return fmt::format("{} marginals{}: {}", plan.workload.size(),
                     plan.ranges.empty() ? "" : " and ranges", fmt::join(names, ", "));
}

std::string noise_lines(const SynthesisPlan& plan, const catalog::Policy& policy) {
  if (plan.explicit_universe()) {
    return fmt::format(
        "universe   {} possible rows, {} queries; the table is padded or cut to {} rows\n{}"
        "error      {}\n",
        synth::universe_size(synth::sizes_of(plan.domain)), query_count(plan), plan.public_rows,
        plan.method == SynthesisMethod::mwem ? fmt::format("rounds     {}\n", plan.rounds)
                                             : fmt::format("draws      {} rows\n", plan.size),
        bound_text(plan));
  }
  const double sigma = first_noise(plan, policy);
  std::uint32_t widest = 0;
  for (const auto& column : plan.domain) widest = std::max(widest, column.size());
  return fmt::format(
      "model      at most {} cells\n"
      "noise      {} Gaussian, sigma {} at first{}\n"
      "error      about {} rows in all, over the {} cells of the widest column\n",
      plan.max_model_cells, plan.method == SynthesisMethod::graded ? "rounded" : "discrete",
      format_rounded(sigma, 4),
      plan.method == SynthesisMethod::mst ? "" : "; halved whenever it tells nothing new",
      format_rounded(kMeanAbsolute * sigma * widest, 3), widest);
}

}  // namespace

std::optional<double> error_bound(const SynthesisPlan& plan) {
  if (!plan.explicit_universe()) return std::nullopt;
  const std::int64_t universe = synth::universe_size(synth::sizes_of(plan.domain));
  const std::int64_t queries = query_count(plan);
  const double bound =
      plan.method == SynthesisMethod::mwem
          ? synth::mwem_error_bound({universe, queries, plan.public_rows, plan.epsilon},
                                    plan.rounds, kBeta)
          : synth::blr_error_bound({universe, queries, plan.public_rows, plan.epsilon}, plan.size,
                                   kBeta);
  // No answer is further off than 1.
  if (!(bound < 1)) return std::nullopt;
  return bound;
}

std::string bound_text(const SynthesisPlan& plan) {
  const std::optional<double> bound = error_bound(plan);
  if (!bound) return "no useful bound: what the method's theorem promises is above 1";
  return fmt::format(
      "at most {} in every query, as a share of the rows, with probability {}, by the method's "
      "theorem",
      format_rounded(*bound, 3), format_number(1 - kBeta));
}

std::string describe(const SynthesisPlan& plan, const catalog::Policy& policy) {
  std::string text = fmt::format("table      {}, {} columns: {}\n", plan.table, plan.domain.size(),
                                 columns_text(plan));
  if (policy.unit == catalog::PrivacyUnit::person)
    text += "rows       one of each person, chosen by a keyed hash\n";
  text += fmt::format("workload   {}\n", workload_text(plan));
  text += fmt::format("method     {}: {}\n", to_string(plan.method), plan.reason);
  text += noise_lines(plan, policy);
  if (plan.check_share > 0) {
    text += fmt::format(
        "check      {} of the cost: the distance of each marginal within {} rows, their mean "
        "within {}\n",
        format_number(plan.check_share),
        format_rounded(synth::distance_width(plan.check_sigma, kBeta), 3),
        format_rounded(synth::mean_distance_width(plan.check_sigma, plan.workload, kBeta), 3));
  }
  text += fmt::format("cost       {}\n", privacy::to_json(plan.event));
  text += fmt::format(
      "means      the synthetic table is {}\n",
      privacy_statement(plan.epsilon, plan.delta, policy.unit_in_words(), policy.neighbors));
  return text;
}

std::string to_json(const SynthesisPlan& plan, const catalog::Policy& policy) {
  nlohmann::ordered_json json = {{"table", plan.table}, {"columns", nlohmann::json::array()}};
  for (const auto& column : plan.domain) {
    json["columns"].push_back(
        {{"name", column.name}, {"values", column.size()}, {"nulls", column.nulls}});
  }
  json["workload"] = nlohmann::json::array();
  for (const auto& one : plan.workload) {
    json["workload"].push_back(
        {{"marginal", name_of(one.set, plan.domain)}, {"weight", one.weight}});
  }
  for (const auto& family : plan.ranges) json["ranges"].push_back(name_of(family, plan.domain));
  json["method"] = to_string(plan.method);
  if (plan.explicit_universe()) {
    json["public_rows"] = plan.public_rows;
    if (plan.method == SynthesisMethod::mwem) json["rounds"] = plan.rounds;
    if (plan.method == SynthesisMethod::blr) json["size"] = plan.size;
    json["error_bound"] = nullptr;
    if (const auto bound = error_bound(plan)) json["error_bound"] = *bound;
    json["error_probability"] = 1 - kBeta;
  } else {
    json["model_cells"] = plan.max_model_cells;
    json["first_sigma"] = first_noise(plan, policy);
  }
  if (plan.check_share > 0) {
    json["check_share"] = plan.check_share;
    json["check_sigma"] = plan.check_sigma;
  }
  json["epsilon"] = plan.epsilon;
  json["delta"] = plan.delta;
  json["event"] = nlohmann::json::parse(privacy::to_json(plan.event));
  json["unit"] = policy.unit_in_words();
  json["neighbors"] = to_string(policy.neighbors);
  json["statement"] =
      "the synthetic table is " +
      privacy_statement(plan.epsilon, plan.delta, policy.unit_in_words(), policy.neighbors);
  return json.dump();
}

}  // namespace shoal::session
