#include "session/file_request.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

namespace shoal::session {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

const catalog::Table& named_table(const catalog::Policy& policy, const std::string& name,
                                  const std::string& doing) {
  if (!name.empty()) {
    const catalog::Table* table = policy.find_table(name, false);
    if (!table)
      throw Error(ErrorCode::not_found,
                  fmt::format("the policy has no table {}", printable(name, 60)));
    return *table;
  }
  const catalog::Table* only = nullptr;
  for (const catalog::Table& table : policy.tables) {
    if (table.is_public) continue;
    if (only) refuse("the policy has several private tables; say which with --table");
    only = &table;
  }
  if (!only) refuse(fmt::format("the policy has no private table for {}", doing));
  return *only;
}

}  // namespace

const catalog::Table& file_table(const catalog::Policy& policy, const std::string& name,
                                 const std::string& doing) {
  const catalog::Table& table = named_table(policy, name, doing);
  if (table.is_public)
    refuse(fmt::format("table {} is public: it needs no private {}", table.name, doing));
  if (table.format == catalog::SourceFormat::postgresql) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} reads files; export the table to Parquet first", doing));
  }
  if (policy.unit == catalog::PrivacyUnit::person && table.person_column.empty()) {
    throw Error(ErrorCode::unsupported,
                fmt::format("table {} finds its persons through another table, which {} cannot "
                            "yet; add a person column to it",
                            table.name, doing));
  }
  return table;
}

double asked_epsilon(const catalog::Policy& policy, std::optional<double> asked) {
  const std::optional<double> epsilon = asked ? asked : policy.query.epsilon;
  if (!epsilon) refuse("say how much may leak with --epsilon; the policy has no default");
  if (policy.max_epsilon_per_query && *epsilon > policy.max_epsilon_per_query->value()) {
    throw Error(
        ErrorCode::refused_by_policy,
        fmt::format("epsilon {} is above the policy's {} for one question; ask with less",
                    format_number(*epsilon), format_number(policy.max_epsilon_per_query->value())));
  }
  return *epsilon;
}

double asked_delta(const catalog::Policy& policy, std::optional<double> asked) {
  const double delta = asked.value_or(policy.query.delta.value_or(0));
  if (delta > policy.delta.value()) {
    throw Error(ErrorCode::refused_by_policy,
                fmt::format("delta {} is above the policy's total of {}; ask with less, or with "
                            "--delta 0",
                            format_number(delta), format_number(policy.delta.value())));
  }
  return delta;
}

}  // namespace shoal::session
