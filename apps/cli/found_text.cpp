#include "found_text.hpp"

#include "table.hpp"

#include <shoal/base/text.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/privacy/charge.hpp>

#include <fmt/format.h>

namespace shoal::cli {
namespace {

std::string what(const plan::Search& search) {
  return search.kind == plan::SearchKind::bounds
             ? fmt::format("bounds of {}", search.of)
             : fmt::format("groups of a person by {}", search.of);
}

std::string value_text(const std::optional<catalog::Bounds>& bounds,
                       const std::optional<std::int64_t>& max_groups) {
  if (bounds) {
    return fmt::format("{} to {}", grouped(bounds->lower, 7), grouped(bounds->upper, 7));
  }
  return max_groups ? fmt::format("{}", *max_groups) : "nothing";
}

double epsilon_of(const plan::Search& search) {
  return numeric::decimal_from_units(search.epsilon_units, privacy::kEpsilonDecimals);
}

}  // namespace

std::string found_text(const session::Answer& answer) {
  std::string text;
  for (const session::AnswerFound& one : answer.found) {
    text += fmt::format(
        "  found   {} {}: {}, {}\n", one.bounds ? "bounds of" : "groups of a person by", one.of,
        value_text(one.bounds, one.max_groups),
        one.epsilon > 0 ? fmt::format("for epsilon {} of the cost", format_number(one.epsilon))
                        : "known from before");
  }
  return text;
}

std::string search_text(const plan::Plan& plan) {
  std::string text;
  for (const plan::Automatic& one : plan.automatic) {
    text += one.found ? fmt::format("  found   {}: {}, known from before\n", what(one.search),
                                    value_text(one.found->bounds, one.found->max_groups))
                      : fmt::format("  search  {}: first, for epsilon {} of the cost\n",
                                    what(one.search), format_number(epsilon_of(one.search)));
  }
  return text;
}

nlohmann::ordered_json search_json(const plan::Plan& plan) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const plan::Automatic& one : plan.automatic) {
    auto& json = all.emplace_back(nlohmann::ordered_json{{"what", what(one.search)}});
    if (!one.found) json["epsilon"] = epsilon_of(one.search);
    if (one.found && one.found->bounds) {
      json["bounds"] = {one.found->bounds->lower, one.found->bounds->upper};
    }
    if (one.found && one.found->max_groups) json["max_groups"] = *one.found->max_groups;
  }
  return all;
}

}  // namespace shoal::cli
