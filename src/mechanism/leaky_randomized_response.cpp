#include "mechanism/exact_chance.hpp"
#include "mechanism/noise_spec.hpp"
#include "mechanism/randomizer_spec.hpp"

#include <shoal/base/text.hpp>
#include <shoal/mechanism/leaky_randomized_response.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace shoal::mechanism {
namespace {

constexpr std::string_view kName = "leaky_randomized_response";
constexpr std::uint64_t kTruths = 2;
constexpr std::uint64_t kReports = 4;
constexpr std::uint64_t kDraws = 3;

const LeakyRandomizedResponse& checked(const LeakyRandomizedResponse& spec) {
  validate(spec);
  return spec;
}

}  // namespace

LeakyRandomizedResponseSampler::LeakyRandomizedResponseSampler(const LeakyRandomizedResponse& spec)
    : leak_(exact_chance(checked(spec).delta)), keep_(keep_chance(spec.epsilon, 1)) {}

// Both coins are tossed always, so that neither time nor bits tell what was drawn.
Draw LeakyRandomizedResponseSampler::sample(random::BitSource& bits) const {
  const std::uint64_t leak = leak_.toss(bits) ? 1 : 0;
  const std::uint64_t flip = keep_.toss(bits) ? 0 : 1;
  return {(leak << 1) | (flip & ~leak)};
}

void validate(const LeakyRandomizedResponse& spec) {
  check_epsilon(spec.epsilon);
  check_delta(spec.delta);
}

std::uint64_t truth_count(const LeakyRandomizedResponse& spec) {
  validate(spec);
  return kTruths;
}

std::uint64_t report_count(const LeakyRandomizedResponse& spec) {
  validate(spec);
  return kReports;
}

LeakyRandomizedResponseSampler prepare(const LeakyRandomizedResponse& spec) {
  return LeakyRandomizedResponseSampler(spec);
}

Draw sample(const LeakyRandomizedResponse& spec, random::BitSource& bits) {
  return prepare(spec).sample(bits);
}

std::uint64_t respond(const LeakyRandomizedResponse& spec, std::uint64_t truth, Draw draw) {
  validate(spec);
  check_truth(truth, kTruths);
  check_draw(draw.value, kDraws);
  return (draw.value & 2) | (truth ^ (draw.value & 1));
}

double log_pmf(const LeakyRandomizedResponse& spec, std::uint64_t truth, std::uint64_t report) {
  validate(spec);
  check_truth(truth, kTruths);
  check_truth(report, kReports);
  if (report >= kTruths) {
    return report - kTruths == truth ? std::log(spec.delta)
                                     : -std::numeric_limits<double>::infinity();
  }
  const double log_keep = std::log1p(-spec.delta) - std::log1p(std::exp(-spec.epsilon));
  return report == truth ? log_keep : log_keep - spec.epsilon;
}

privacy::Event privacy_event(const LeakyRandomizedResponse& spec) {
  validate(spec);
  return privacy::event::LeakyRandomizedResponse{spec.epsilon, spec.delta};
}

TruthPair audit_target(const LeakyRandomizedResponse& spec) {
  validate(spec);
  return {0, 1};
}

std::string_view name(const LeakyRandomizedResponse&) { return kName; }

std::string describe(const LeakyRandomizedResponse& spec) {
  return fmt::format("leaky randomized response, epsilon {}, delta {}", format_number(spec.epsilon),
                     format_number(spec.delta));
}

std::string to_json(const LeakyRandomizedResponse& spec) {
  validate(spec);
  return fmt::format("{{\"{}\": {{\"epsilon\": {}, \"delta\": {}}}}}", kName,
                     format_number(spec.epsilon), format_number(spec.delta));
}

void from_json(std::string_view text, LeakyRandomizedResponse& spec) {
  const nlohmann::json parameters = randomizer_parameters(text, kName, {"epsilon", "delta"});
  const LeakyRandomizedResponse read{parameters["epsilon"].get<double>(),
                                     parameters["delta"].get<double>()};
  validate_read(read);
  spec = read;
}

}  // namespace shoal::mechanism
