// The specs of key selection: ranges, JSON, words for people.
#include "mechanism/noise_spec.hpp"
#include "mechanism/parameter_json.hpp"
#include "mechanism/randomizer_spec.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/mechanism/key_selection.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace shoal::mechanism {
namespace {

constexpr std::string_view kLaplace = "laplace_threshold";
constexpr std::string_view kGaussian = "gaussian_threshold";
constexpr std::string_view kOptimal = "optimal_selection";

void check_range(std::int64_t value, std::int64_t most, std::string_view what) {
  if (value >= 1 && value <= most) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} is {}; it must be from 1 to {}", what, value, most));
}

void check_range(double value, double least, double most, std::string_view what) {
  if (value >= least && value <= most) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} of a key selection is {}; it must be from {} to {}", what,
                          format_number(value), format_number(least), format_number(most)));
}

struct Validate {
  void operator()(const LaplaceThreshold& spec) const {
    random::check_scale(spec.scale, "scale");
    check_range(spec.threshold, kMaxThreshold, "threshold");
    check_range(spec.min_units, kMaxMinUnits, "min_units");
  }
  void operator()(const GaussianThreshold& spec) const {
    random::check_scale(spec.sigma, "sigma");
    check_range(spec.threshold, kMaxThreshold, "threshold");
    check_range(spec.min_units, kMaxMinUnits, "min_units");
  }
  void operator()(const OptimalSelection& spec) const {
    check_range(spec.epsilon, kMinSelectionEpsilon, kMaxEpsilon, "epsilon");
    check_range(spec.delta, kMinSelectionDelta, numeric::step_down(1), "delta");
    check_range(spec.min_units, kMaxMinUnits, "min_units");
  }
};

struct Name {
  std::string_view operator()(const LaplaceThreshold&) const { return kLaplace; }
  std::string_view operator()(const GaussianThreshold&) const { return kGaussian; }
  std::string_view operator()(const OptimalSelection&) const { return kOptimal; }
};

struct Describe {
  std::string operator()(const LaplaceThreshold& spec) const {
    return thresholded("Laplace", "scale", spec.scale, spec.threshold);
  }
  std::string operator()(const GaussianThreshold& spec) const {
    return thresholded("Gaussian", "sigma", spec.sigma, spec.threshold);
  }
  std::string operator()(const OptimalSelection& spec) const {
    return fmt::format("groups shown by optimal selection, epsilon {} and delta {} each",
                       format_number(spec.epsilon), format_number(spec.delta));
  }

  static std::string thresholded(std::string_view law, std::string_view parameter, double value,
                                 std::int64_t threshold) {
    return fmt::format("groups shown if their units, with discrete {} noise of {} {}, reach {}",
                       law, parameter, format_number(value), threshold);
  }
};

struct ToJson {
  std::string operator()(const LaplaceThreshold& spec) const {
    return fmt::format(R"({{"{}": {{"scale": {}, "threshold": {}, "min_units": {}}}}})", kLaplace,
                       format_number(spec.scale), spec.threshold, spec.min_units);
  }
  std::string operator()(const GaussianThreshold& spec) const {
    return fmt::format(R"({{"{}": {{"sigma": {}, "threshold": {}, "min_units": {}}}}})", kGaussian,
                       format_number(spec.sigma), spec.threshold, spec.min_units);
  }
  std::string operator()(const OptimalSelection& spec) const {
    return fmt::format(R"({{"{}": {{"epsilon": {}, "delta": {}, "min_units": {}}}}})", kOptimal,
                       format_number(spec.epsilon), format_number(spec.delta), spec.min_units);
  }
};

// An integer beyond 64 bits is read as 0, which no field takes.
std::int64_t whole(const nlohmann::json& parameters, const char* field, std::string_view key) {
  const nlohmann::json& value = parameters[field];
  if (!value.is_number_integer()) {
    throw Error(ErrorCode::parse_error, fmt::format("/{}/{} must be an integer", key, field));
  }
  const bool huge = value.is_number_unsigned() && value.get<std::uint64_t>() >> 63 != 0;
  return huge ? 0 : value.get<std::int64_t>();
}

}  // namespace

void validate(const KeySelection& selection) { std::visit(Validate{}, selection); }

std::string_view name(const KeySelection& selection) { return std::visit(Name{}, selection); }

std::string describe(const KeySelection& selection) {
  std::string text = std::visit(Describe{}, selection);
  const std::int64_t least = min_units(selection);
  if (least == 1) return text;
  return fmt::format("{}, counted from the {}. unit on", text, least);
}

std::string to_json(const KeySelection& selection) {
  validate(selection);
  return std::visit(ToJson{}, selection);
}

KeySelection key_selection_from_json(std::string_view text) {
  const std::string key = mechanism_key(text);
  const auto read = [&](const char* first, const char* second) {
    return randomizer_parameters(text, key, {first, second, "min_units"});
  };
  KeySelection selection;
  if (key == kLaplace) {
    const nlohmann::json found = read("scale", "threshold");
    selection = LaplaceThreshold{found["scale"].get<double>(), whole(found, "threshold", key),
                                 whole(found, "min_units", key)};
  } else if (key == kGaussian) {
    const nlohmann::json found = read("sigma", "threshold");
    selection = GaussianThreshold{found["sigma"].get<double>(), whole(found, "threshold", key),
                                  whole(found, "min_units", key)};
  } else if (key == kOptimal) {
    const nlohmann::json found = read("epsilon", "delta");
    selection = OptimalSelection{found["epsilon"].get<double>(), found["delta"].get<double>(),
                                 whole(found, "min_units", key)};
  } else {
    throw Error(ErrorCode::parse_error,
                fmt::format("there is no key selection \"{}\"; there are {}, {} and {}",
                            printable(key, 100), kLaplace, kGaussian, kOptimal));
  }
  validate_read(selection);
  return selection;
}

std::int64_t min_units(const KeySelection& selection) {
  return std::visit([](const auto& spec) { return spec.min_units; }, selection);
}

}  // namespace shoal::mechanism
