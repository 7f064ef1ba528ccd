// The report of a synthetic table, as HTML: made of what was released alone.
#include <shoal/base/text.hpp>
#include <shoal/report/counts.hpp>
#include <shoal/report/page.hpp>
#include <shoal/session/synthesis.hpp>
#include <shoal/synth/predicted_error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace shoal::session {
namespace {

using data::AttributeSet;

constexpr double kBeta = 0.05;
constexpr std::size_t kMostPairs = 12;
constexpr std::size_t kMostRows = 50;  // of a table of errors

std::vector<std::string> labels_of(const synth::DomainColumn& column) {
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

void add_noise(report::Page& page, const SyntheticTable& table) {
  page.heading("What was measured");
  const SynthesisPlan& plan = table.plan;
  if (plan.method == SynthesisMethod::blr) {
    page.paragraph(
        fmt::format("Nothing was measured with noise: of all tables of {} rows, one was drawn, the "
                    "likelier the "
                    "better it agrees with the data (exponential mechanism, epsilon {}).",
                    plan.size, format_number(plan.epsilon)));
    return;
  }
  const std::string shape = plan.method == SynthesisMethod::graded ? "rounded" : "discrete";
  page.paragraph(
      plan.method == SynthesisMethod::mwem
          ? "Each round chose a cell of a marginal by the exponential mechanism and "
            "counted it with "
            "discrete Laplace noise, whose standard deviation in rows is given."
          : "Each cell of these marginals was counted with " + shape +
                " Gaussian noise of "
                "its own, whose "
                "standard deviation in rows is given. Those with a scale were chosen by the "
                "exponential "
                "mechanism with that scale, in steps of the weighted score.");
  std::vector<std::vector<std::string>> rows;
  for (const synth::SynthesisStep& step : table.synthesis.steps) {
    rows.push_back({std::to_string(rows.size() + 1), name_of(step.set, plan.domain),
                    std::to_string(data::cell_count(synth::sizes_of(plan.domain), step.set)),
                    format_rounded(step.sigma, 4),
                    step.choice_scale > 0 ? format_rounded(step.choice_scale, 4) : "by plan"});
  }
  const std::vector<std::string> header = {"step", "marginal", "cells", "noise", "chosen"};
  page.table(header, rows);
}

void add_errors(report::Page& page, const SyntheticTable& table) {
  if (table.plan.explicit_universe()) return;
  page.heading("Predicted error");
  page.paragraph(
      "The L1 distance of the normalised tables (0: the same, 2: nothing in common) that is not "
      "exceeded, for a marginal fixed beforehand, with probability 0.95. A marginal that no "
      "measurement holds rests on the model alone, and nothing is predicted for it.");
  auto found = predicted_errors(table.synthesis, table.plan.workload, kBeta, 1);
  const auto known = std::count_if(found.begin(), found.end(),
                                   [](const auto& one) { return one.bound.has_value(); });
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.bound.value_or(3) < b.bound.value_or(3);
  });
  page.paragraph(
      fmt::format("Of {} marginals of the workload, {} have a prediction, and {} rest on "
                  "the model{}.",
                  found.size(), known, static_cast<std::ptrdiff_t>(found.size()) - known,
                  known > static_cast<std::ptrdiff_t>(kMostRows)
                      ? fmt::format("; the first {} are listed", kMostRows)
                      : ""));
  std::vector<std::vector<std::string>> rows;
  for (const synth::PredictedError& one : found) {
    if (rows.size() == kMostRows || !one.bound) break;
    rows.push_back({name_of(one.set, table.plan.domain), format_rounded(*one.bound, 3)});
  }
  const std::vector<std::string> header = {"marginal", "error"};
  if (!rows.empty()) page.table(header, rows);
}

std::string between(const synth::ErrorInterval& interval) {
  return fmt::format("{} to {}", format_rounded(interval.lower, 3),
                     format_rounded(interval.upper, 3));
}

void add_measured(report::Page& page, const SyntheticTable& table) {
  if (!table.synthesis.errors) return;
  const synth::MeasuredErrors& errors = *table.synthesis.errors;
  const double total = table.synthesis.model.total();
  const synth::ErrorInterval mean = mean_error(errors, table.plan.workload, total, kBeta);
  page.heading("Measured error");
  page.paragraph(fmt::format(
      "The L1 distance of the model's counts from those of the data, as a share of the model's {} "
      "rows (0: the same, about 2: nothing in common), counted with noise of standard deviation {} "
      "rows: on average, by the workload's weights, {}, between {} with probability 0.95. An "
      "interval below holds its own marginal with that probability, not all of them at once.",
      format_rounded(total, 6), format_rounded(errors.sigma, 3), format_rounded(mean.value, 3),
      between(mean)));
  std::vector<std::size_t> order(errors.rows.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return errors.rows[a] > errors.rows[b]; });
  if (order.size() > kMostRows) {
    page.paragraph(fmt::format("The {} largest of {}:", kMostRows, order.size()));
    order.resize(kMostRows);
  }
  std::vector<std::vector<std::string>> rows;
  for (const std::size_t i : order) {
    const synth::ErrorInterval one = marginal_error(errors, i, total, kBeta);
    rows.push_back({name_of(table.plan.workload[i].set, table.plan.domain),
                    format_rounded(one.value, 3), between(one)});
  }
  const std::vector<std::string> header = {"marginal", "error", "interval"};
  page.table(header, rows);
}

// Those that were measured first, then those of the workload.
std::vector<AttributeSet> pairs_of(const SyntheticTable& table) {
  std::vector<AttributeSet> sets;
  for (const synth::SynthesisStep& step : table.synthesis.steps) sets.push_back(step.set);
  for (const synth::WorkloadMarginal& one : table.plan.workload) sets.push_back(one.set);
  std::vector<AttributeSet> pairs;
  std::set<AttributeSet> seen;
  for (const AttributeSet set : sets) {
    const std::vector<std::size_t> members = set.members();
    for (std::size_t a = 0; a < members.size(); ++a) {
      for (std::size_t b = a + 1; b < members.size(); ++b) {
        const AttributeSet pair = AttributeSet::of({members[a], members[b]});
        if (pairs.size() < kMostPairs && seen.insert(pair).second) pairs.push_back(pair);
      }
    }
  }
  return pairs;
}

void add_pictures(report::Page& page, const SyntheticTable& table) {
  const synth::Domain& domain = table.plan.domain;
  page.heading("Columns of the synthetic table");
  page.paragraph("Expected numbers of rows, in a table as large as the data is estimated to be.");
  for (std::size_t j = 0; j < domain.size(); ++j) {
    page.picture(
        to_svg(report::CountBars{domain[j].name, labels_of(domain[j]),
                                 table.synthesis.model.marginal(AttributeSet::single(j))}));
  }
  const std::vector<AttributeSet> pairs = pairs_of(table);
  if (pairs.empty()) return;
  page.heading("Pairs of columns");
  page.paragraph(
      fmt::format("Up to {} pairs, those measured first; the darker, the more rows, by "
                  "the square root.",
                  kMostPairs));
  for (const AttributeSet pair : pairs) {
    const std::vector<std::size_t> ends = pair.members();
    page.picture(to_svg(report::CountGrid{domain[ends[0]].name, domain[ends[1]].name,
                                          labels_of(domain[ends[0]]), labels_of(domain[ends[1]]),
                                          table.synthesis.model.marginal(pair)}));
  }
}

}  // namespace

std::string report_html(const SyntheticTable& table) {
  report::Page page("Synthetic table of " + table.plan.table);
  page.paragraph("Privacy: " + table.statement + ".");
  page.paragraph(fmt::format(
      "Method {} ({}). Cost {}. About {} rows are in the data, by the measurements. Records drawn "
      "from the model, this report and whatever else is made of it cost nothing more.",
      to_string(table.plan.method), table.plan.reason, privacy::to_json(table.plan.event),
      format_rounded(std::round(table.synthesis.model.total()), 12)));
  add_noise(page, table);
  add_measured(page, table);
  add_errors(page, table);
  add_pictures(page, table);
  return page.to_html();
}

}  // namespace shoal::session
