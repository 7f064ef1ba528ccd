// What is known of a synthetic table's errors, and of the number of its rows: made of what was
// released alone.
#include "session/synthesis_words.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/session/synthesis.hpp>
#include <shoal/synth/predicted_error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::session {
namespace {

constexpr double kBeta = 0.05;

}  // namespace

std::vector<std::string> value_labels(const synth::DomainColumn& column) {
  std::vector<std::string> labels = column.categories;
  for (std::uint32_t bin = 0; bin < column.bins && column.categories.empty(); ++bin) {
    if (column.type == catalog::ColumnType::integer) {
      const std::int64_t first = data::first_integer(column, bin);
      const std::int64_t last = data::first_integer(column, bin + 1) - 1;
      labels.push_back(first >= last ? std::to_string(first)
                                     : fmt::format("{} to {}", first, last));
    } else {
      const double width = data::bin_width(column);
      labels.push_back(fmt::format("{} to {}", format_rounded(column.bounds.lower + bin * width, 4),
                                   format_rounded(column.bounds.lower + (bin + 1) * width, 4)));
    }
  }
  if (column.nulls) labels.emplace_back("NULL");
  return labels;
}

std::string name_of(const synth::RangeFamily& family, const synth::Domain& domain) {
  return (family.prefixes ? "prefix:" : "ranges:") + domain[family.column].name;
}

std::int64_t range_count(const synth::RangeFamily& family, const synth::Domain& domain) {
  const synth::DomainColumn& column = domain[family.column];
  const std::int64_t values = std::int64_t{column.size()} - (column.nulls ? 1 : 0);
  return (family.prefixes ? values : values * (values + 1) / 2) - (column.nulls ? 0 : 1);
}

std::int64_t query_count(const SynthesisPlan& plan) {
  std::int64_t count = 0;
  for (const synth::WorkloadMarginal& one : plan.workload)
    count += data::cell_count(synth::sizes_of(plan.domain), one.set);
  for (const synth::RangeFamily& family : plan.ranges) count += range_count(family, plan.domain);
  return count;
}

std::vector<std::string> cell_values(data::AttributeSet set, std::int64_t cell,
                                     const synth::Domain& domain) {
  SHOAL_CHECK(cell >= 0 && cell < data::cell_count(synth::sizes_of(domain), set));
  const std::vector<std::size_t> columns = set.members();
  std::vector<std::string> values(columns.size());
  // The last column moves fastest.
  for (std::size_t i = columns.size(); i-- > 0;) {
    const auto size = static_cast<std::int64_t>(domain[columns[i]].size());
    values[i] = value_labels(domain[columns[i]])[static_cast<std::size_t>(cell % size)];
    cell /= size;
  }
  return values;
}

std::vector<MarginalError> marginal_errors(const SyntheticTable& table) {
  std::vector<MarginalError> errors;
  for (const synth::WorkloadMarginal& one : table.plan.workload)
    errors.push_back({one.set, one.weight, std::nullopt, std::nullopt});
  if (table.plan.explicit_universe()) return errors;
  const auto predicted = predicted_errors(table.synthesis, table.plan.workload, kBeta, 1);
  for (std::size_t i = 0; i < errors.size(); ++i) {
    errors[i].predicted = predicted[i].bound;
    if (!table.synthesis.errors) continue;
    errors[i].measured =
        marginal_error(*table.synthesis.errors, i, table.synthesis.model.total(), kBeta);
  }
  return errors;
}

std::int64_t estimated_rows(const SyntheticTable& table) {
  return std::max<std::int64_t>(1, std::llround(table.synthesis.model.total()));
}

std::string rows_note(const SyntheticTable& table) {
  if (table.plan.explicit_universe() || estimated_rows(table) > 1) return "";
  return "the number of rows is estimated as 1, which is the least: there is hardly a row, or the "
         "noise is too large to tell how many there are; give --rows, or a larger epsilon";
}

}  // namespace shoal::session
