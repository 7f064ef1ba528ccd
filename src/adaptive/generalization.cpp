#include "adaptive/gaussian_widths.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/numeric/directed.hpp>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>

namespace shoal::adaptive {
namespace {

using namespace numeric;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMost = 1e15;

struct Entry {
  Bound bound;
  const char* name;
  const char* words;
  bool adaptive;
  bool noise;
};

constexpr std::array<Entry, 9> kEntries = {{
    {Bound::hoeffding, "hoeffding", "one question, fixed in advance (Hoeffding 1963)", false,
     false},
    {Bound::union_bound, "union", "all questions fixed in advance", false, false},
    {Bound::splitting, "splitting", "each question on its own part of the sample", true, false},
    {Bound::dfhprr, "dfhprr", "Dwork et al. 2015, with Gaussian noise", true, true},
    {Bound::bnsssu, "bnsssu", "Bassily et al. 2016, with Gaussian noise", true, true},
    {Bound::jlnrss, "jlnrss", "Jung et al. 2019, with Gaussian noise, exactly accounted", true,
     true},
    {Bound::rogers, "rogers", "Rogers et al. 2019, theorem 2.1, with Gaussian noise", true, true},
    {Bound::tanh_posterior, "tanh_posterior",
     "the posterior of a row from (epsilon, delta), with Gaussian noise", true, true},
    {Bound::kl_posterior, "kl_posterior",
     "the posterior of a row from mutual information, with Gaussian noise", true, true},
}};

const Entry& entry_of(Bound bound) {
  for (const Entry& entry : kEntries) {
    if (entry.bound == bound) return entry;
  }
  throw Error(ErrorCode::internal, "there is no such bound");
}

void check(const char* what, double value) {
  if (value >= 1 && value <= kMost) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} is {}; it must be from 1 to 1e15", what, format_number(value)));
}

void check(const Sample& sample) {
  check("the number of rows", sample.rows);
  check("the number of questions", sample.questions);
}

void check_width(double width) {
  if (width > 0 && width < 1) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("the width is {}; it must be above 0 and below 1", format_number(width)));
}

// sqrt(ln(2 count / beta) / (2 rows)).
Width hoeffding_width(double rows, double count, Confidence confidence) {
  if (rows < 1) return {.width = kInfinity};
  const double beta = subtract_down(1, confidence.value());
  const double logarithm = log_up(divide_up(2 * count, beta));
  return {.width = sqrt_up(divide_up(logarithm, 2 * rows))};
}

// The whole number where `fits` changes, between one that does and one that does not.
template <class Fits>
double last_whole(double does, double does_not, Fits fits) {
  while (std::abs(does - does_not) > std::max(1.0, 1e-9 * std::abs(does))) {
    const double middle = std::floor((does + does_not) / 2);
    if (middle == does || middle == does_not) break;
    (fits(middle) ? does : does_not) = middle;
  }
  return does;
}

}  // namespace

std::span<const Bound> all_bounds() {
  static const std::array<Bound, 9> bounds = [] {
    std::array<Bound, 9> list{};
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = kEntries[i].bound;
    return list;
  }();
  return bounds;
}

std::string_view to_string(Bound bound) { return entry_of(bound).name; }
std::string_view describe(Bound bound) { return entry_of(bound).words; }
bool is_adaptive(Bound bound) { return entry_of(bound).adaptive; }
bool has_noise(Bound bound) { return entry_of(bound).noise; }

Bound parse_bound(std::string_view name) {
  std::vector<std::string> names;
  for (const Entry& entry : kEntries) {
    if (name == entry.name) return entry.bound;
    names.emplace_back(entry.name);
  }
  throw Error(ErrorCode::invalid_argument, fmt::format("there is no bound {}; there are {}",
                                                       printable(name, 40), join_names(names)));
}

Width width_of(Bound bound, const Sample& sample) {
  check(sample);
  switch (bound) {
    case Bound::hoeffding:
      return hoeffding_width(sample.rows, 1, sample.confidence);
    case Bound::union_bound:
      return hoeffding_width(sample.rows, sample.questions, sample.confidence);
    case Bound::splitting:
      return hoeffding_width(std::floor(sample.rows / sample.questions), sample.questions,
                             sample.confidence);
    case Bound::dfhprr:
      return dfhprr_width(sample);
    case Bound::bnsssu:
      return bnsssu_width(sample);
    case Bound::jlnrss:
      return transfer_width(sample, true);
    case Bound::rogers:
      return rogers_width(sample);
    case Bound::tanh_posterior:
      return transfer_width(sample, false);
    case Bound::kl_posterior:
      return kl_width(sample);
  }
  throw Error(ErrorCode::internal, "there is no such bound");
}

double rows_for(Bound bound, double width, double questions, Confidence confidence) {
  check_width(width);
  const auto fits = [&](double rows) {
    return width_of(bound, {rows, questions, confidence}).width <= width;
  };
  double rows = 1;
  while (!fits(rows)) {
    if (rows >= kMost) return kInfinity;
    rows = std::min(2 * rows, kMost);
  }
  if (rows == 1) return 1;
  return last_whole(rows, std::floor(rows / 2), fits);
}

double questions_for(Bound bound, double width, double rows, Confidence confidence) {
  check_width(width);
  const auto fits = [&](double questions) {
    return width_of(bound, {rows, questions, confidence}).width <= width;
  };
  if (!fits(1)) return 0;
  double questions = 1;
  while (fits(2 * questions)) {
    questions *= 2;
    if (2 * questions > kMost) return kMost;
  }
  return last_whole(questions, 2 * questions, fits);
}

double confidence_for(Bound bound, double width, double rows, double questions) {
  check_width(width);
  // Confidences next to 1 are told apart by the chance to miss.
  const auto fits = [&](double log_miss) {
    return width_of(bound, {rows, questions, Confidence(1 - std::exp(log_miss))}).width <= width;
  };
  double does = std::log(0.999);
  if (!fits(does)) return 0;
  double does_not = std::log(1e-15);
  if (fits(does_not)) return 1 - 1e-15;
  while (does - does_not > 1e-7) {
    const double middle = (does + does_not) / 2;
    (fits(middle) ? does : does_not) = middle;
  }
  return 1 - std::exp(does);
}

std::vector<NamedWidth> all_widths(const Sample& sample) {
  std::vector<NamedWidth> widths;
  for (const Bound bound : all_bounds()) widths.push_back({bound, width_of(bound, sample)});
  return widths;
}

NamedWidth best_adaptive(const Sample& sample) {
  NamedWidth best{Bound::splitting, {.width = kInfinity}};
  for (const NamedWidth& named : all_widths(sample)) {
    if (is_adaptive(named.bound) && named.width.width < best.width.width) best = named;
  }
  return best;
}

NamedWidth width_at_sigma(const Sample& sample, double sigma) {
  check(sample);
  if (!(sigma > 0 && std::isfinite(sigma))) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("sigma is {}; it must be above 0 and finite", format_number(sigma)));
  }
  const Width tanh = transfer_width_at(sample, false, sigma);
  const Width kl = kl_width_at(sample, sigma);
  if (kl.width < tanh.width) return {Bound::kl_posterior, kl};
  return {Bound::tanh_posterior, tanh};
}

}  // namespace shoal::adaptive
