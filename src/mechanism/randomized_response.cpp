#include "mechanism/exact_chance.hpp"
#include "mechanism/noise_spec.hpp"
#include "mechanism/randomizer_spec.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/int128.hpp>
#include <shoal/base/text.hpp>
#include <shoal/mechanism/randomized_response.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace shoal::mechanism {
namespace {

constexpr std::string_view kName = "randomized_response";

const RandomizedResponse& checked(const RandomizedResponse& spec) {
  validate(spec);
  return spec;
}

// (truth + offset) mod k without a branch: which of the two cases holds would tell about the truth.
std::uint64_t shifted(std::uint64_t truth, std::uint64_t offset, std::uint64_t categories) {
  const std::uint64_t sum = truth + offset;
  return sum - (categories & (0 - std::uint64_t{sum >= categories}));
}

}  // namespace

RandomizedResponseSampler::RandomizedResponseSampler(const RandomizedResponse& spec)
    : spec_(checked(spec)),
      keep_(keep_chance(spec.epsilon, spec.categories - 1)),
      others_(spec.categories - 1),
      surplus_((0 - others_) % others_) {}

// Both words are drawn always, so that neither time nor bits tell whether the truth is kept. The
// offset is the high half of word * others; a product whose low half is among the first 2^64 mod
// others is drawn again, and then each offset has equally many words.
Draw RandomizedResponseSampler::draw(std::uint64_t keep_word, std::uint64_t offset_word,
                                     random::BitSource& bits) const {
  const std::uint64_t moved = keep_.decide(keep_word, bits) ? 0 : 1;
  UInt128 product = UInt128{offset_word} * others_;
  while (static_cast<std::uint64_t>(product) < surplus_) {
    product = UInt128{bits.next_u64()} * others_;
  }
  const auto offset = static_cast<std::uint64_t>(product >> 64);
  return {(offset + 1) & (0 - moved)};
}

// With one other category there is no offset to choose.
Draw RandomizedResponseSampler::sample(random::BitSource& bits) const {
  const std::uint64_t keep_word = bits.next_u64();
  return draw(keep_word, others_ > 1 ? bits.next_u64() : 0, bits);
}

std::uint64_t RandomizedResponseSampler::report(std::uint64_t truth,
                                                random::BitSource& bits) const {
  check_truth(truth, spec_.categories);
  return shifted(truth, sample(bits).value, spec_.categories);
}

void RandomizedResponseSampler::report_all(std::span<const std::uint64_t> truths,
                                           std::span<std::uint64_t> reports,
                                           random::BitSource& bits) const {
  if (truths.size() != reports.size()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} truths and room for {} reports; give as much room as truths",
                            truths.size(), reports.size()));
  }
  for (const std::uint64_t truth : truths) check_truth(truth, spec_.categories);
  constexpr std::size_t kBatch = 256;
  std::array<std::uint64_t, 2 * kBatch> words{};
  const std::size_t words_each = others_ > 1 ? 2 : 1;
  for (std::size_t start = 0; start < truths.size(); start += kBatch) {
    const std::size_t count = std::min(kBatch, truths.size() - start);
    const auto used = std::span(words).first(count * words_each);
    bits.fill({reinterpret_cast<unsigned char*>(used.data()), used.size_bytes()});
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t offset_word = words_each == 2 ? words[count + i] : 0;
      const Draw drawn = draw(words[i], offset_word, bits);
      reports[start + i] = shifted(truths[start + i], drawn.value, spec_.categories);
    }
  }
  // Who finds the draws later could undo the reports.
  explicit_bzero(words.data(), sizeof(words));
}

void validate(const RandomizedResponse& spec) {
  check_epsilon(spec.epsilon);
  if (spec.categories < 2 || spec.categories > kMaxCategories) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("categories is {}; it must be from 2 to {}", spec.categories, kMaxCategories));
  }
}

std::uint64_t truth_count(const RandomizedResponse& spec) { return checked(spec).categories; }

std::uint64_t report_count(const RandomizedResponse& spec) { return checked(spec).categories; }

RandomizedResponseSampler prepare(const RandomizedResponse& spec) {
  return RandomizedResponseSampler(spec);
}

Draw sample(const RandomizedResponse& spec, random::BitSource& bits) {
  return prepare(spec).sample(bits);
}

std::uint64_t respond(const RandomizedResponse& spec, std::uint64_t truth, Draw draw) {
  validate(spec);
  check_truth(truth, spec.categories);
  check_draw(draw.value, spec.categories);
  return shifted(truth, draw.value, spec.categories);
}

double log_pmf(const RandomizedResponse& spec, std::uint64_t truth, std::uint64_t report) {
  validate(spec);
  check_truth(truth, spec.categories);
  check_truth(report, spec.categories);
  const double log_keep =
      -std::log1p(static_cast<double>(spec.categories - 1) * std::exp(-spec.epsilon));
  return truth == report ? log_keep : log_keep - spec.epsilon;
}

privacy::Event privacy_event(const RandomizedResponse& spec) {
  validate(spec);
  return privacy::event::RandomizedResponse{spec.epsilon,
                                            static_cast<std::int64_t>(spec.categories)};
}

TruthPair audit_target(const RandomizedResponse& spec) {
  validate(spec);
  return {0, 1};
}

std::string_view name(const RandomizedResponse&) { return kName; }

std::string describe(const RandomizedResponse& spec) {
  return fmt::format("randomized response, epsilon {}, {} categories", format_number(spec.epsilon),
                     spec.categories);
}

std::string to_json(const RandomizedResponse& spec) {
  validate(spec);
  return fmt::format("{{\"{}\": {{\"epsilon\": {}, \"categories\": {}}}}}", kName,
                     format_number(spec.epsilon), spec.categories);
}

void from_json(std::string_view text, RandomizedResponse& spec) {
  const nlohmann::json parameters = randomizer_parameters(text, kName, {"epsilon", "categories"});
  if (!parameters["categories"].is_number_unsigned()) {
    throw Error(ErrorCode::parse_error,
                fmt::format("/{}/categories must be a whole number of at least 2", kName));
  }
  const RandomizedResponse read{parameters["epsilon"].get<double>(),
                                parameters["categories"].get<std::uint64_t>()};
  validate_read(read);
  spec = read;
}

}  // namespace shoal::mechanism
