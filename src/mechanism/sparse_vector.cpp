#include "mechanism/noise_spec.hpp"
#include "mechanism/parameter_json.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/mechanism/sparse_vector.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/normal.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/random/scale.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <limits>

namespace shoal::mechanism {
namespace {

constexpr std::string_view kName = "sparse_vector";
constexpr std::int64_t kMostQuestions = std::int64_t{1} << 50;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

// How far the excess of one question may move against the threshold: the pairing of the proof moves
// the threshold by one sensitivity and the value by another, unless all values move one way.
double query_steps(const ScoreSensitivity& sensitivity) {
  const double steps = steps_up(sensitivity.steps);
  return sensitivity.change == ScoreChange::two_sided ? 2 * steps : steps;
}

// steps / scale for the threshold, and for one hit.
double threshold_epsilon(const SparseVector& spec, const ScoreSensitivity& sensitivity) {
  return numeric::divide_up(steps_up(sensitivity.steps), spec.threshold_scale);
}

double hit_epsilon(const SparseVector& spec, const ScoreSensitivity& sensitivity) {
  return numeric::divide_up(query_steps(sensitivity), spec.query_scale);
}

// ln of the number of transcripts with at most `hits` hits among `questions`, rounded up.
double log_transcripts_up(std::int64_t questions, std::int64_t hits) {
  constexpr double kLarge = 0x1p512;
  double term = 1;
  double sum = 1;
  double halvings = 0;
  for (std::int64_t j = 1; j <= std::min(hits, questions); ++j) {
    const double ratio =
        numeric::divide_up(static_cast<double>(questions - j + 1), static_cast<double>(j));
    term = numeric::multiply_up(term, ratio);
    sum = numeric::add_up(sum, term);
    if (sum < kLarge) continue;
    term = numeric::multiply_up(term, 1 / kLarge);
    sum = numeric::multiply_up(sum, 1 / kLarge);
    halvings += 512;
  }
  return numeric::add_up(numeric::log_up(sum), numeric::multiply_up(halvings, numeric::log_up(2)));
}

// Orders that matter between epsilon 0.01 and 100.
constexpr std::array kOrders = {1.25, 1.5,  1.75, 2.0,  2.5,  3.0,  4.0,   5.0,   6.0,
                                8.0,  10.0, 12.0, 16.0, 20.0, 24.0, 32.0,  40.0,  48.0,
                                64.0, 80.0, 96.0, 128., 192., 256., 384.0, 512.0, 1024.0};

// One draw of the threshold's noise and `hits` hits among `questions`.
privacy::Event gaussian_run(const SparseVector& spec, const ScoreSensitivity& sensitivity,
                            std::int64_t hits) {
  const double threshold = threshold_epsilon(spec, sensitivity);
  const double query = hit_epsilon(spec, sensitivity);
  const double transcripts = log_transcripts_up(spec.questions, hits);
  const double squares = numeric::add_up(
      numeric::multiply_up(threshold, threshold),
      numeric::multiply_up(static_cast<double>(hits), numeric::multiply_up(query, query)));
  privacy::event::Rdp table;
  for (const double order : kOrders) {
    table.orders.push_back(order);
    table.epsilons.push_back(numeric::add_up(numeric::multiply_up(order / 2, squares),
                                             numeric::divide_up(transcripts, order - 1)));
  }
  return table;
}

privacy::Event repeated(std::int64_t count, privacy::Event once) {
  if (count == 1) return once;
  return privacy::event::Repeat{count, std::move(once)};
}

// Of a run with one threshold and `hits` hits.
double run_epsilon(const SparseVector& spec, const ScoreSensitivity& sensitivity,
                   std::int64_t hits) {
  const double all =
      numeric::multiply_up(static_cast<double>(hits), hit_epsilon(spec, sensitivity));
  return numeric::decimal_at_least(numeric::add_up(threshold_epsilon(spec, sensitivity), all));
}

privacy::Event verdict_event(const SparseVector& spec, const ScoreSensitivity& sensitivity) {
  if (spec.noise == SparseNoise::gaussian) {
    if (spec.redraw) return repeated(spec.hits, gaussian_run(spec, sensitivity, 1));
    return gaussian_run(spec, sensitivity, spec.hits);
  }
  if (spec.redraw) {
    return repeated(spec.hits, privacy::event::Pure{run_epsilon(spec, sensitivity, 1)});
  }
  return privacy::event::Pure{run_epsilon(spec, sensitivity, spec.hits)};
}

// x with P(noise > x) <= tail, the noise of one scale.
double upper_tail(SparseNoise noise, double scale, double tail) {
  if (noise == SparseNoise::gaussian) {
    // P(X >= x) of the discrete law is at most that of the continuous one at x - 1.
    return numeric::add_up(1, numeric::multiply_up(scale, numeric::two_sided_normal_quantile_up(
                                                              std::min(2 * tail, 0.999))));
  }
  const double logarithm = std::max(0.0, -numeric::log_down(std::min(tail, 1.0)));
  return numeric::multiply_up(scale, logarithm);
}

}  // namespace

std::string_view to_string(SparseNoise noise) {
  switch (noise) {
    case SparseNoise::geometric:
      return "geometric";
    case SparseNoise::laplace:
      return "laplace";
    case SparseNoise::gaussian:
      return "gaussian";
  }
  return "";
}

SparseNoise parse_sparse_noise(std::string_view text) {
  for (const SparseNoise noise :
       {SparseNoise::geometric, SparseNoise::laplace, SparseNoise::gaussian}) {
    if (text == to_string(noise)) return noise;
  }
  refuse(fmt::format("the noise is {}; it must be geometric, laplace or gaussian",
                     printable(text, 40)));
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::below:
      return "below";
    case Verdict::above:
      return "above";
    case Verdict::halted:
      return "halted";
  }
  return "";
}

void validate(const SparseVector& spec) {
  random::check_scale(spec.threshold_scale, "threshold_scale");
  random::check_scale(spec.query_scale, "query_scale");
  if (spec.answer_scale != 0) random::check_scale(spec.answer_scale, "answer_scale");
  if (spec.hits < 1 || spec.hits > kMaxChoices) {
    refuse(fmt::format("hits is {}; it must be from 1 to {}", spec.hits, kMaxChoices));
  }
  if (spec.questions < 0 || spec.questions > kMostQuestions) {
    refuse(fmt::format("questions is {}; it must be from 0, which means no limit, to {}",
                       spec.questions, kMostQuestions));
  }
  if (spec.noise != SparseNoise::gaussian) return;
  if (spec.questions == 0) {
    refuse("gaussian noise pays for the number of questions; set questions to at least 1");
  }
  if (spec.gap) refuse("the gap is free with geometric or laplace noise only; choose one of them");
}

privacy::Event privacy_event(const SparseVector& spec, ScoreSensitivity sensitivity) {
  validate(spec);
  privacy::Event verdicts = verdict_event(spec, sensitivity);
  if (spec.answer_scale == 0) return verdicts;
  // The sensitivity is stated for the relation in force, whichever it is.
  const double steps = steps_up(sensitivity.steps);
  const privacy::Event answer = privacy::event::DiscreteLaplace{spec.answer_scale, steps, steps};
  return privacy::event::Compose{{std::move(verdicts), repeated(spec.hits, answer)}};
}

double sparse_epsilon(const SparseVector& spec, const ScoreSensitivity& sensitivity) {
  validate(spec);
  if (spec.noise == SparseNoise::gaussian) return std::numeric_limits<double>::infinity();
  const auto hits = static_cast<double>(spec.hits);
  double sum = spec.redraw ? numeric::multiply_up(hits, run_epsilon(spec, sensitivity, 1))
                           : run_epsilon(spec, sensitivity, spec.hits);
  if (spec.answer_scale != 0) {
    const double answer = numeric::divide_up(steps_up(sensitivity.steps), spec.answer_scale);
    sum = numeric::add_up(sum, numeric::multiply_up(hits, answer));
  }
  return numeric::decimal_at_least(sum);
}

SparseError error_bounds(const SparseVector& spec, std::int64_t questions, Confidence confidence) {
  validate(spec);
  if (questions < 1) refuse(fmt::format("questions is {}; it must be at least 1", questions));
  const auto count = static_cast<double>(questions);
  const double draws = spec.redraw ? static_cast<double>(spec.hits) : 1;
  // Half of the chance to miss for the threshold, half for the questions.
  const double half = alpha_down(confidence) / 2;
  const double threshold =
      upper_tail(spec.noise, spec.threshold_scale, numeric::divide_down(half, draws));
  const double query = upper_tail(spec.noise, spec.query_scale, numeric::divide_down(half, count));
  // One-sided noise of a question can only hide that it is below, that of the threshold only that
  // it is above.
  if (spec.noise == SparseNoise::geometric) return {query, threshold};
  const double both = numeric::add_up(threshold, query);
  return {both, both};
}

Int128 centring_shift(const SparseVector& spec) {
  validate(spec);
  if (spec.noise != SparseNoise::geometric) return 0;
  const auto mean = [](double scale) { return 1 / std::expm1(1 / scale); };
  return static_cast<Int128>(std::llround(mean(spec.query_scale) - mean(spec.threshold_scale)));
}

SparseTarget audit_target(const SparseVector& spec, ScoreSensitivity sensitivity) {
  validate(spec);
  const Int128 steps = sensitivity.steps.steps();
  // Questions that stay below push the threshold's noise up; then each hit is as telling as it can
  // be. One-sided values can only all rise.
  const bool two_sided = sensitivity.change == ScoreChange::two_sided;
  constexpr int kBelow = 6;
  SparseTarget target;
  for (int i = 0; i < kBelow; ++i) {
    target.first.push_back(0);
    target.second.push_back(steps);
    target.verdicts.push_back(Verdict::below);
  }
  for (std::int64_t i = 0; i < std::min<std::int64_t>(spec.hits, 4); ++i) {
    target.first.push_back(0);
    target.second.push_back(two_sided ? -steps : 0);
    target.verdicts.push_back(Verdict::above);
  }
  return target;
}

void require_aggregate(const ScoreSensitivity& sensitivity, Int128 lowest, Int128 highest) {
  if (lowest >= highest) {
    refuse("the lowest possible value is not below the highest; state the range of the value");
  }
  if (highest - lowest > sensitivity.steps.steps()) return;
  refuse(
      "one person can move this value over the whole of its range: it is a question about one "
      "person, such as a salary, and noise that hides a person leaves nothing of it; ask for an "
      "aggregate of many people, such as how many earn more than the threshold");
}

std::string_view name(const SparseVector&) { return kName; }

std::string describe(const SparseVector& spec) {
  std::string text = fmt::format(
      "sparse vector with {} noise, scale {} for the threshold ({}) and {} for each question, {} "
      "hit{}",
      to_string(spec.noise), format_number(spec.threshold_scale),
      spec.redraw ? "drawn anew after each hit" : "drawn once", format_number(spec.query_scale),
      spec.hits, spec.hits == 1 ? "" : "s");
  if (spec.gap) text += ", gaps told";
  if (spec.answer_scale != 0) {
    text += fmt::format(", answers with discrete Laplace noise of scale {}",
                        format_number(spec.answer_scale));
  }
  if (spec.questions != 0) text += fmt::format(", at most {} questions", spec.questions);
  return text;
}

std::string to_json(const SparseVector& spec) {
  validate(spec);
  return fmt::format(
      "{{\"{}\": {{\"noise\": \"{}\", \"threshold_scale\": {}, \"query_scale\": {}, \"hits\": {}, "
      "\"redraw\": {}, \"gap\": {}, \"answer_scale\": {}, \"questions\": {}}}}}",
      kName, to_string(spec.noise), format_number(spec.threshold_scale),
      format_number(spec.query_scale), spec.hits, spec.redraw, spec.gap,
      format_number(spec.answer_scale), spec.questions);
}

void from_json(std::string_view text, SparseVector& spec) {
  const std::string key = mechanism_key(text);
  if (key != kName) {
    throw Error(ErrorCode::parse_error, fmt::format("the mechanism is \"{}\"; expected \"{}\"",
                                                    printable(key, 100), kName));
  }
  const nlohmann::json json = nlohmann::json::parse(text);
  const nlohmann::json& fields = json.begin().value();
  SparseVector read;
  try {
    if (fields.size() != 8) throw Error(ErrorCode::parse_error, "it has not eight fields");
    const auto whole = [&](const char* field) {
      // An integer beyond 64 bits must not wrap into the range.
      const nlohmann::json& value = fields.at(field);
      if (!value.is_number_integer()) throw Error(ErrorCode::parse_error, "a count is not whole");
      if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{1} << 62) {
        throw Error(ErrorCode::parse_error, "a count is too large");
      }
      return value.get<std::int64_t>();
    };
    read.noise = parse_sparse_noise(fields.at("noise").get<std::string>());
    read.threshold_scale = fields.at("threshold_scale").get<double>();
    read.query_scale = fields.at("query_scale").get<double>();
    read.hits = whole("hits");
    read.redraw = fields.at("redraw").get<bool>();
    read.gap = fields.at("gap").get<bool>();
    read.answer_scale = fields.at("answer_scale").get<double>();
    read.questions = whole("questions");
  } catch (const std::exception& error) {
    throw Error(ErrorCode::parse_error, fmt::format("/{}: {}", kName, error.what()));
  }
  validate_read(read);
  spec = read;
}

}  // namespace shoal::mechanism
