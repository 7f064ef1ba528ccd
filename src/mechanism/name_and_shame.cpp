#include "mechanism/exact_chance.hpp"
#include "mechanism/noise_spec.hpp"
#include "mechanism/randomizer_spec.hpp"

#include <shoal/base/text.hpp>
#include <shoal/mechanism/name_and_shame.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace shoal::mechanism {
namespace {

constexpr std::string_view kName = "name_and_shame";
constexpr std::uint64_t kTruths = std::uint64_t{1} << 63;
constexpr std::uint64_t kDraws = 2;

const NameAndShame& checked(const NameAndShame& spec) {
  validate(spec);
  return spec;
}

}  // namespace

NameAndShameSampler::NameAndShameSampler(const NameAndShame& spec)
    : publish_(exact_chance(checked(spec).delta)) {}

Draw NameAndShameSampler::sample(random::BitSource& bits) const {
  return {publish_.toss(bits) ? std::uint64_t{1} : std::uint64_t{0}};
}

void validate(const NameAndShame& spec) { check_delta(spec.delta); }

std::uint64_t truth_count(const NameAndShame& spec) {
  validate(spec);
  return kTruths;
}

std::uint64_t report_count(const NameAndShame& spec) {
  validate(spec);
  return kTruths + 1;
}

NameAndShameSampler prepare(const NameAndShame& spec) { return NameAndShameSampler(spec); }

Draw sample(const NameAndShame& spec, random::BitSource& bits) {
  return prepare(spec).sample(bits);
}

std::uint64_t respond(const NameAndShame& spec, std::uint64_t truth, Draw draw) {
  validate(spec);
  check_truth(truth, kTruths);
  check_draw(draw.value, kDraws);
  return (truth + 1) & (0 - draw.value);
}

double log_pmf(const NameAndShame& spec, std::uint64_t truth, std::uint64_t report) {
  validate(spec);
  check_truth(truth, kTruths);
  check_truth(report, kTruths + 1);
  if (report == 0) return std::log1p(-spec.delta);
  return report == truth + 1 ? std::log(spec.delta) : -std::numeric_limits<double>::infinity();
}

privacy::Event privacy_event(const NameAndShame& spec) {
  validate(spec);
  return privacy::event::NameAndShame{spec.delta};
}

TruthPair audit_target(const NameAndShame& spec) {
  validate(spec);
  return {0, 1};
}

std::string_view name(const NameAndShame&) { return kName; }

std::string describe(const NameAndShame& spec) {
  return fmt::format("name and shame, delta {}", format_number(spec.delta));
}

std::string to_json(const NameAndShame& spec) {
  validate(spec);
  return fmt::format("{{\"{}\": {{\"delta\": {}}}}}", kName, format_number(spec.delta));
}

void from_json(std::string_view text, NameAndShame& spec) {
  const nlohmann::json parameters = randomizer_parameters(text, kName, {"delta"});
  const NameAndShame read{parameters["delta"].get<double>()};
  validate_read(read);
  spec = read;
}

}  // namespace shoal::mechanism
