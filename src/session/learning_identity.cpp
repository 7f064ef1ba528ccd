// A problem and a method as canonical JSON: every field under its name.
#include "session/request_identity.hpp"

#include <shoal/base/error.hpp>

#include <nlohmann/json.hpp>

#include <variant>

namespace shoal::session {
namespace {

using Json = nlohmann::ordered_json;

std::string_view to_string(learn::NoiseShape shape) {
  switch (shape) {
    case learn::NoiseShape::gaussian:
      return "gaussian";
    case learn::NoiseShape::norm:
      return "norm";
  }
  SHOAL_CHECK(false);
}

std::string_view to_string(learn::CandidateLoss what) {
  switch (what) {
    case learn::CandidateLoss::loss:
      return "loss";
    case learn::CandidateLoss::mistakes:
      return "mistakes";
  }
  SHOAL_CHECK(false);
}

struct LossFields {
  Json operator()(const learn::Squared&) const { return Json::object(); }
  Json operator()(const learn::Logistic&) const { return Json::object(); }
  Json operator()(const learn::Hinge&) const { return Json::object(); }
  Json operator()(const learn::LogCosh&) const { return Json::object(); }
  Json operator()(const learn::HuberisedHinge& loss) const {
    const auto& [half_width] = loss;
    return {{"half_width", half_width}};
  }
  Json operator()(const learn::Huber& loss) const {
    const auto& [knot] = loss;
    return {{"knot", knot}};
  }
  Json operator()(const learn::Poisson& loss) const {
    const auto& [log_limit, most] = loss;
    return {{"log_limit", log_limit}, {"most", most}};
  }
  Json operator()(const learn::Softmax& loss) const {
    const auto& [classes] = loss;
    return {{"classes", classes}};
  }
};

Json fields_of(const learn::ConvexSet& set);

struct SetFields {
  Json operator()(const learn::WholeSpace&) const { return Json::object(); }
  Json operator()(const learn::L2Ball& set) const {
    const auto& [radius] = set;
    return {{"radius", radius}};
  }
  Json operator()(const learn::L1Ball& set) const {
    const auto& [radius] = set;
    return {{"radius", radius}};
  }
  Json operator()(const learn::Box& set) const {
    const auto& [lower, upper] = set;
    return {{"lower", lower}, {"upper", upper}};
  }
  Json operator()(const learn::Simplex& set) const {
    const auto& [total] = set;
    return {{"total", total}};
  }
  Json operator()(const learn::HalfSpaceCut& set) const {
    const auto& [base, normal, offset] = set;
    return {{"base", fields_of(*base)}, {"normal", normal}, {"offset", offset}};
  }
};

Json fields_of(const learn::ConvexSet& set) {
  return {{"kind", learn::name(set)}, {"fields", std::visit(SetFields{}, set)}};
}

Json fields_of(const learn::OutputNoise& noise) {
  const auto& [shape, exponent, scale] = noise;
  return {{"shape", to_string(shape)}, {"exponent", exponent}, {"scale", scale}};
}

Json fields_of(const learn::GradientNoise& noise) {
  const auto& [clip, exponent, sigma] = noise;
  return {{"clip", clip}, {"exponent", exponent}, {"sigma", sigma}};
}

Json fields_of(const learn::DescentPath& path) {
  const auto& [steps, row_step, momentum, averaged, l2, rows] = path;
  return {{"steps", steps}, {"row_step", row_step}, {"momentum", momentum}, {"averaged", averaged},
          {"l2", l2},       {"rows", rows}};
}

struct MethodFields {
  Json operator()(const learn::ObjectivePerturbation& method) const {
    const auto& [rule, neighbors, shape, epsilon, delta, noise_epsilon, noise_delta, scale, l2,
                 residual, output] = method;
    return {{"rule", learn::to_string(rule)},
            {"neighbors", shoal::to_string(neighbors)},
            {"shape", to_string(shape)},
            {"epsilon", epsilon},
            {"delta", delta},
            {"noise_epsilon", noise_epsilon},
            {"noise_delta", noise_delta},
            {"scale", scale},
            {"l2", l2},
            {"residual", residual},
            {"output", fields_of(output)}};
  }
  Json operator()(const learn::OutputPerturbation& method) const {
    const auto& [neighbors, epsilon, delta, l2, residual, output] = method;
    return {{"neighbors", shoal::to_string(neighbors)},
            {"epsilon", epsilon},
            {"delta", delta},
            {"l2", l2},
            {"residual", residual},
            {"output", fields_of(output)}};
  }
  Json operator()(const learn::MinimaPerturbation& method) const {
    const auto& [rule, neighbors, epsilon, delta, noise_epsilon, sigma, l2, residual, output] =
        method;
    return {{"rule", learn::to_string(rule)},
            {"neighbors", shoal::to_string(neighbors)},
            {"epsilon", epsilon},
            {"delta", delta},
            {"noise_epsilon", noise_epsilon},
            {"sigma", sigma},
            {"l2", l2},
            {"residual", residual},
            {"output", fields_of(output)}};
  }
  Json operator()(const learn::GradientDescent& method) const {
    const auto& [neighbors, epsilon, delta, noise, count_sigma, path] = method;
    return {{"neighbors", shoal::to_string(neighbors)},
            {"epsilon", epsilon},
            {"delta", delta},
            {"noise", fields_of(noise)},
            {"count_sigma", count_sigma},
            {"path", fields_of(path)}};
  }
  Json operator()(const learn::SampledDescent& method) const {
    const auto& [neighbors, epsilon, delta, rate_units, noise, count_sigma, path] = method;
    return {{"neighbors", shoal::to_string(neighbors)},
            {"epsilon", epsilon},
            {"delta", delta},
            {"rate_units", rate_units},
            {"noise", fields_of(noise)},
            {"count_sigma", count_sigma},
            {"path", fields_of(path)}};
  }
  Json operator()(const learn::PrefixDescent& method) const {
    const auto& [neighbors, epsilon, delta, noise, count_sigma, path] = method;
    return {{"neighbors", shoal::to_string(neighbors)},
            {"epsilon", epsilon},
            {"delta", delta},
            {"noise", fields_of(noise)},
            {"count_sigma", count_sigma},
            {"path", fields_of(path)}};
  }
  Json operator()(const learn::BoltOnDescent& method) const {
    const auto& [neighbors, epsilon, delta, passes, batch, l2, error, output] = method;
    return {{"neighbors", shoal::to_string(neighbors)},
            {"epsilon", epsilon},
            {"delta", delta},
            {"passes", passes},
            {"batch", batch},
            {"l2", l2},
            {"error", error},
            {"output", fields_of(output)}};
  }
  Json operator()(const learn::AdaSsp& method) const {
    const auto& [neighbors, epsilon, delta, shape, row_exponent, label_exponent, matrix_sigma,
                 vector_sigma, l2] = method;
    return {{"neighbors", shoal::to_string(neighbors)},
            {"epsilon", epsilon},
            {"delta", delta},
            {"shape", to_string(shape)},
            {"row_exponent", row_exponent},
            {"label_exponent", label_exponent},
            {"matrix_sigma", matrix_sigma},
            {"vector_sigma", vector_sigma},
            {"l2", l2}};
  }
  Json operator()(const learn::ExponentialChoice& method) const {
    const auto& [neighbors, epsilon, what, candidates, range, exponent, scale, l2] = method;
    return {{"neighbors", shoal::to_string(neighbors)},
            {"epsilon", epsilon},
            {"what", to_string(what)},
            {"candidates", candidates},
            {"range", range},
            {"exponent", exponent},
            {"scale", scale},
            {"l2", l2}};
  }
  Json operator()(const learn::FrankWolfe& method) const {
    const auto& [neighbors, epsilon, delta, steps, feature_bound, slope_bound, feature_exponent,
                 slope_exponent, scale, l2] = method;
    return {{"neighbors", shoal::to_string(neighbors)},
            {"epsilon", epsilon},
            {"delta", delta},
            {"steps", steps},
            {"feature_bound", feature_bound},
            {"slope_bound", slope_bound},
            {"feature_exponent", feature_exponent},
            {"slope_exponent", slope_exponent},
            {"scale", scale},
            {"l2", l2}};
  }
};

}  // namespace

Json identity_of(const learn::Problem& problem) {
  const auto& [loss, regulariser, set, dimension, row_norm, label_bound] = problem;
  const auto& [l2, l1] = regulariser;
  return {{"loss", {{"kind", learn::name(loss)}, {"fields", std::visit(LossFields{}, loss)}}},
          {"regulariser", {{"l2", l2}, {"l1", l1}}},
          {"set", fields_of(set)},
          {"dimension", dimension},
          {"row_norm", row_norm},
          {"label_bound", label_bound}};
}

Json identity_of(const learn::Method& method) {
  return {{"kind", learn::name(method)}, {"fields", std::visit(MethodFields{}, method)}};
}

Json identity_of(const learn::HeldOutCounts& counts) {
  const auto& [neighbors, epsilon, scale] = counts;
  return {{"neighbors", shoal::to_string(neighbors)}, {"epsilon", epsilon}, {"scale", scale}};
}

Json identity_of(const learn::PrivateSelection& selection) {
  const auto& [candidates, epsilon, delta, score_scale, run_scale] = selection;
  Json methods = Json::array();
  for (const learn::Method& one : candidates) methods.push_back(identity_of(one));
  return {{"candidates", std::move(methods)},
          {"epsilon", epsilon},
          {"delta", delta},
          {"score_scale", score_scale},
          {"run_scale", run_scale}};
}

}  // namespace shoal::session
