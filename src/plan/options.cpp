#include "plan/options.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

namespace shoal::plan {
namespace {

constexpr long long kMostContributions = 1'000'000;

// Hidden groups of a question that does not ask for a delta get this part of what the policy sets
// aside for failures: a hundred such questions fit.
constexpr double kHiddenShare = 0.01;

class OptionReader {
 public:
  OptionReader(const catalog::Policy& policy, std::string_view text)
      : policy_(policy), text_(text) {}

  // Which of two values would hold is not for a reader to guess, least of all of an epsilon.
  void refuse_repeated(const std::vector<sql::QueryOption>& options) const {
    std::set<std::string> seen;
    for (const sql::QueryOption& option : options) {
      if (seen.insert(to_lower(option.name.name)).second) continue;
      refuse(option.name.position, fmt::format("{} is given twice; keep one of the two",
                                               printable(option.name.name, 60)));
    }
  }

  void read(const sql::QueryOption& option, ResolvedOptions& into) const {
    const std::string name = to_lower(option.name.name);
    if (name == "epsilon") {
      into.epsilon = number(option);
      into.has_epsilon = true;
    } else if (name == "delta") {
      into.delta = number(option);
    } else if (name == "confidence") {
      into.confidence = number(option);
    } else if (name == "max_groups_contributed") {
      into.automatic_groups = word(option) == "auto";
      if (!into.automatic_groups) into.max_groups = whole(option);
    } else if (name == "max_rows_per_group") {
      into.rows_per_group = whole(option);
    } else if (name == "max_rows_contributed") {
      into.rows_per_person = whole(option);
    } else if (name == "min_privacy_units_per_group") {
      into.min_units = std::max(policy_.min_units, whole(option));
    } else if (name == "group_selection_strategy") {
      into.selection = selection(option);
    } else if (name == "noise") {
      into.noise = noise(option);
    } else if (name == "consistent") {
      into.consistent = truth(option);
    } else if (name == "privacy_unit_column") {
      check_unit(option);
    } else {
      refuse_name(option);
    }
  }

 private:
  [[noreturn]] void refuse(sql::Position position, const std::string& why,
                           ErrorCode code = ErrorCode::invalid_argument) const {
    throw sql::error_at(code, text_, position, why);
  }

  [[noreturn]] void refuse_name(const sql::QueryOption& option) const {
    static const std::vector<std::string> kNames = {"epsilon",
                                                    "delta",
                                                    "confidence",
                                                    "max_groups_contributed",
                                                    "max_rows_per_group",
                                                    "max_rows_contributed",
                                                    "min_privacy_units_per_group",
                                                    "group_selection_strategy",
                                                    "noise",
                                                    "consistent",
                                                    "privacy_unit_column"};
    const auto meant = nearest_name(to_lower(option.name.name), kNames);
    refuse(option.name.position, fmt::format("{} is no option; {}", printable(option.name.name, 60),
                                             meant ? fmt::format("did you mean {}?", *meant)
                                                   : "there are " + join_names(kNames)));
  }

  double number(const sql::QueryOption& option) const {
    const auto value = literal_number(option.value);
    if (!value) {
      refuse(option.value.position(),
             fmt::format("{} must be a number", printable(option.name.name, 60)));
    }
    return *value;
  }

  long long whole(const sql::QueryOption& option) const {
    const double value = number(option);
    if (!(value >= 1 && value <= static_cast<double>(kMostContributions) &&
          std::floor(value) == value)) {
      refuse(
          option.value.position(),
          fmt::format("{} is {}; it must be a whole number from 1 to {}",
                      printable(option.name.name, 60), format_number(value), kMostContributions));
    }
    return static_cast<long long>(value);
  }

  std::string word(const sql::QueryOption& option) const {
    if (const auto* literal = option.value.get_if<sql::Literal>();
        literal && literal->kind == sql::LiteralKind::string) {
      return to_lower(literal->text);
    }
    if (const auto* reference = option.value.get_if<sql::ColumnReference>();
        reference && !reference->table) {
      return to_lower(reference->column.name);
    }
    return "";
  }

  bool truth(const sql::QueryOption& option) const {
    const auto* literal = option.value.get_if<sql::Literal>();
    if (!literal || literal->kind != sql::LiteralKind::boolean) {
      refuse(option.value.position(),
             fmt::format("{} is TRUE or FALSE", printable(option.name.name, 60)));
    }
    return literal->text == "TRUE";
  }

  SelectionChoice selection(const sql::QueryOption& option) const {
    const std::string said = word(option);
    if (said == "laplace_threshold") return SelectionChoice::laplace;
    if (said == "gaussian_threshold") return SelectionChoice::gaussian;
    if (said == "optimal") return SelectionChoice::optimal;
    if (said == "public_groups") return SelectionChoice::public_groups;
    refuse(option.value.position(),
           "group_selection_strategy is LAPLACE_THRESHOLD, GAUSSIAN_THRESHOLD, OPTIMAL or "
           "PUBLIC_GROUPS; leave it out for the best of them");
  }

  NoiseChoice noise(const sql::QueryOption& option) const {
    const std::string said = word(option);
    if (said == "laplace") return NoiseChoice::laplace;
    if (said == "gaussian") return NoiseChoice::gaussian;
    refuse(option.value.position(),
           "noise is LAPLACE or GAUSSIAN; leave it out for the one that answers better");
  }

  void check_unit(const sql::QueryOption& option) const {
    const std::string said = word(option);
    for (const catalog::Table& table : policy_.tables) {
      if (!table.person_column.empty() && to_lower(table.person_column) == said) return;
    }
    refuse(
        option.value.position(),
        fmt::format("what is protected is the policy's to say: {}; leave privacy_unit_column out",
                    policy_.unit_in_words()),
        ErrorCode::refused_by_policy);
  }

  const catalog::Policy& policy_;
  std::string_view text_;
};

void check_limits(const ResolvedOptions& options, const catalog::Policy& policy) {
  if (policy.max_epsilon_per_query && options.epsilon > policy.max_epsilon_per_query->value()) {
    throw Error(ErrorCode::refused_by_policy,
                fmt::format("epsilon {} is above the policy's {} for one question; ask with less",
                            format_number(options.epsilon),
                            format_number(policy.max_epsilon_per_query->value())));
  }
  if (options.delta && *options.delta > policy.delta.value()) {
    throw Error(
        ErrorCode::refused_by_policy,
        fmt::format("delta {} is above the policy's total of {}; ask with less, or without --delta",
                    format_number(*options.delta), format_number(policy.delta.value())));
  }
}

}  // namespace

std::optional<double> literal_number(const sql::Expression& expression) {
  if (const auto* unary = expression.get_if<sql::Unary>();
      unary && unary->operation != sql::UnaryOperator::logical_not) {
    const auto value = literal_number(unary->operand);
    if (!value) return std::nullopt;
    return unary->operation == sql::UnaryOperator::minus ? -*value : *value;
  }
  const auto* literal = expression.get_if<sql::Literal>();
  if (!literal ||
      (literal->kind != sql::LiteralKind::integer && literal->kind != sql::LiteralKind::decimal)) {
    return std::nullopt;
  }
  const double value = std::strtod(literal->text.c_str(), nullptr);
  return std::isfinite(value) ? std::optional<double>(value) : std::nullopt;
}

std::string_view to_string(NoiseChoice choice) {
  switch (choice) {
    case NoiseChoice::automatic:
      return "automatic";
    case NoiseChoice::laplace:
      return "laplace";
    case NoiseChoice::gaussian:
      return "gaussian";
  }
  SHOAL_CHECK(false);
}

ResolvedOptions resolve_options(const sql::Query& query, const QueryOptions& asked,
                                const catalog::Policy& policy, std::string_view text) {
  ResolvedOptions options;
  options.noise = asked.noise;
  options.min_units = policy.min_units;
  options.confidence =
      asked.confidence.value_or(policy.query.confidence.value_or(options.confidence));
  options.delta = asked.delta ? asked.delta : policy.query.delta;
  options.hidden_delta = policy.failures_share().value() * kHiddenShare;
  const auto epsilon = asked.epsilon ? asked.epsilon : policy.query.epsilon;
  options.epsilon = epsilon.value_or(0);
  options.has_epsilon = epsilon.has_value();
  if (query.privacy) {
    const OptionReader reader(policy, text);
    reader.refuse_repeated(query.privacy->options);
    for (const sql::QueryOption& option : query.privacy->options) reader.read(option, options);
  }
  if (!options.has_epsilon) {
    throw Error(ErrorCode::invalid_argument,
                "the question does not say how much it may spend; add --epsilon 0.1, or write "
                "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.1), or let the owner set "
                "epsilon in the policy's [query]");
  }
  check_limits(options, policy);
  return options;
}

}  // namespace shoal::plan
