#include "session/request_identity.hpp"

#include <shoal/learn/features.hpp>

#include <nlohmann/json.hpp>

#include <utility>
#include <variant>

namespace shoal::session {
namespace {

using Json = nlohmann::ordered_json;

// Names of columns and categories come from the policy, which is UTF-8.
std::string written(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json event_json(const privacy::Event& event) { return Json::parse(privacy::to_json(event)); }

Json optional_number(const std::optional<double>& number) {
  return number ? Json(*number) : Json(nullptr);
}

Json names_of(data::AttributeSet set, const synth::Domain& domain) {
  Json names = Json::array();
  for (const std::size_t column : set.members()) names.push_back(domain.at(column).name);
  return names;
}

struct FeatureFields {
  Json operator()(const learn::NumericFeature& feature) const {
    const auto& [column, lower, upper] = feature;
    return {{"column", column}, {"lower", lower}, {"upper", upper}};
  }
  Json operator()(const learn::CategoryFeature& feature) const {
    const auto& [column, categories] = feature;
    return {{"column", column}, {"categories", categories}};
  }
};

Json fields_of(const learn::Pipeline& pipeline) {
  const auto& [features, intercept, row_norm] = pipeline;
  Json list = Json::array();
  for (const learn::Feature& one : features) list.push_back(std::visit(FeatureFields{}, one));
  return {{"features", std::move(list)}, {"intercept", intercept}, {"row_norm", row_norm}};
}

Json fields_of(const learn::Target& target) {
  const auto& [column, categories, lower, upper] = target;
  return {{"column", column}, {"categories", categories}, {"lower", lower}, {"upper", upper}};
}

Json fields_of(const data::CodedColumn& column) {
  const auto& [name, type, categories, bounds, bins, nulls] = column;
  return {{"name", name},
          {"type", catalog::to_string(type)},
          {"categories", categories},
          {"bounds", {{"lower", bounds.lower}, {"upper", bounds.upper}}},
          {"bins", bins},
          {"nulls", nulls}};
}

}  // namespace

// The printed query is the question itself, with its options. What was found meanwhile changes the
// noise of an automatic question, and not the question: it is known by what was asked.
std::string identity_of(const plan::Plan& plan, const catalog::Policy& policy) {
  Json json = {{"request", "query"}, {"query", plan.canonical}, {"policy", policy.digest}};
  if (plan.automatic.empty()) {
    json["epsilon"] = plan.epsilon.value();
    json["delta"] = plan.delta.value();
    json["confidence"] = plan.confidence.value();
    json["event"] = event_json(plan.event);
  } else {
    const auto& [epsilon, delta, confidence, noise] = plan.asked;
    json["asked"] = {{"epsilon", epsilon},
                     {"delta", optional_number(delta)},
                     {"confidence", confidence},
                     {"noise", plan::to_string(noise)}};
  }
  return written(json);
}

// `reason` says in words how the method was chosen; the method itself is here.
std::string identity_of(const TrainingPlan& plan, const catalog::Policy& policy) {
  const auto& [table, model, pipeline, target, problem, method, counts, selection, tried_l2, reason,
               weight_norm, epsilon, delta, event] = plan;
  static_cast<void>(reason);
  return written({{"request", "train"},
                  {"table", table},
                  {"model", model},
                  {"pipeline", fields_of(pipeline)},
                  {"target", fields_of(target)},
                  {"problem", identity_of(problem)},
                  {"method", identity_of(method)},
                  {"counts", counts ? identity_of(*counts) : Json(nullptr)},
                  {"selection", selection ? identity_of(*selection) : Json(nullptr)},
                  {"tried_l2", tried_l2},
                  {"weight_norm", weight_norm},
                  {"epsilon", epsilon},
                  {"delta", delta},
                  {"event", event_json(event)},
                  {"policy", policy.digest}});
}

std::string identity_of(const SynthesisPlan& plan, const catalog::Policy& policy) {
  const auto& [table, domain, workload, ranges, method, reason, epsilon, delta, event,
               max_model_cells, public_rows, rounds, size, check_share, check_sigma] = plan;
  static_cast<void>(reason);
  Json columns = Json::array();
  for (const data::CodedColumn& one : domain) columns.push_back(fields_of(one));
  Json marginals = Json::array();
  for (const synth::WorkloadMarginal& one : workload) {
    const auto& [set, weight] = one;
    marginals.push_back({{"columns", names_of(set, domain)}, {"weight", weight}});
  }
  Json families = Json::array();
  for (const synth::RangeFamily& one : ranges) {
    const auto& [column, prefixes] = one;
    families.push_back({{"column", domain[column].name}, {"prefixes", prefixes}});
  }
  return written({{"request", "synthesize"},
                  {"table", table},
                  {"columns", std::move(columns)},
                  {"workload", std::move(marginals)},
                  {"ranges", std::move(families)},
                  {"method", to_string(method)},
                  {"epsilon", epsilon},
                  {"delta", delta},
                  {"event", event_json(event)},
                  {"max_model_cells", max_model_cells},
                  {"public_rows", public_rows},
                  {"rounds", rounds},
                  {"size", size},
                  {"check_share", check_share},
                  {"check_sigma", check_sigma},
                  {"policy", policy.digest}});
}

}  // namespace shoal::session
