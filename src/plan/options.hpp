// What a question asks for beside its columns: from OPTIONS in its text, else from the door, else
// from the policy.
#pragma once

#include <shoal/catalog/policy.hpp>
#include <shoal/plan/plan.hpp>
#include <shoal/sql/query.hpp>

#include <optional>
#include <string_view>

namespace shoal::plan {

enum class SelectionChoice { automatic, laplace, gaussian, optimal, public_groups };

struct ResolvedOptions {
  double epsilon = 0;
  bool has_epsilon = false;
  std::optional<double> delta;  // as asked; where groups are hidden there is always one
  double hidden_delta = 0;      // what hidden groups get if delta is not asked
  double confidence = 0.95;
  NoiseChoice noise = NoiseChoice::automatic;
  SelectionChoice selection = SelectionChoice::automatic;
  std::optional<long long> max_groups;
  bool automatic_groups = false;  // to be found
  bool consistent = false;
  std::optional<long long> rows_per_group;
  std::optional<long long> rows_per_person;
  long long min_units = 1;
};

// Throws invalid_argument, refused_by_policy or unsupported, with the position where there is one.
ResolvedOptions resolve_options(const sql::Query& query, const QueryOptions& asked,
                                const catalog::Policy& policy, std::string_view text);

// A number written as a literal, with or without a sign; none for anything else.
std::optional<double> literal_number(const sql::Expression& expression);

}  // namespace shoal::plan
