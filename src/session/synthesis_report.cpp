// The report of a synthetic table, as HTML: made of what was released alone.
#include "session/synthesis_words.hpp"

#include <shoal/base/text.hpp>
#include <shoal/report/counts.hpp>
#include <shoal/report/page.hpp>
#include <shoal/session/synthesis.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

namespace shoal::session {
namespace {

using data::AttributeSet;

constexpr double kBeta = 0.05;
constexpr std::size_t kMostPairs = 12;
constexpr std::size_t kMostRows = 20;  // of a table that is not folded

// "sex=f, age=20 to 29"; of a range "age from 20 to 29 up to 40 to 49".
std::string cell_name(const synth::SynthesisStep& step, const synth::Domain& domain) {
  if (!step.cell) return "";
  const std::vector<std::string> values = cell_values(step.set, *step.cell, domain);
  const std::vector<std::size_t> columns = step.set.members();
  if (step.last_cell) {
    return fmt::format("{} from {} up to {}", domain[columns[0]].name, values[0],
                       cell_values(step.set, *step.last_cell, domain)[0]);
  }
  std::string name;
  for (std::size_t i = 0; i < columns.size(); ++i)
    name += fmt::format("{}{}={}", i == 0 ? "" : ", ", domain[columns[i]].name, values[i]);
  return name;
}

// A long table is behind a line of text, after its first rows.
void add_table(report::Page& page, std::span<const std::string> header,
               const std::vector<std::vector<std::string>>& rows) {
  page.table(header, std::span(rows).first(std::min(rows.size(), kMostRows)));
  if (rows.size() > kMostRows)
    page.folded_table(fmt::format("all {} of them", rows.size()), header, rows);
}

void add_bound(report::Page& page, const SyntheticTable& table) {
  if (!table.plan.explicit_universe()) return;
  page.paragraph(fmt::format(
      "Error: {}. Queries are the cells of the workload's marginals and its ranges; the "
      "error is of the model, and against the table as it was padded or cut.",
      bound_text(table.plan)));
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
    add_bound(page, table);
    return;
  }
  const std::string shape = plan.method == SynthesisMethod::graded ? "rounded" : "discrete";
  page.paragraph(
      plan.method == SynthesisMethod::mwem
          ? "Each round chose a cell of a marginal, or a range, by the exponential mechanism and "
            "counted it with "
            "discrete Laplace noise, whose standard deviation in rows is given."
          : "Each cell of these marginals was counted with " + shape +
                " Gaussian noise of "
                "its own, whose "
                "standard deviation in rows is given. Those with a scale were chosen by the "
                "exponential "
                "mechanism with that scale, in steps of the weighted score.");
  const bool cells = plan.method == SynthesisMethod::mwem;
  std::vector<std::vector<std::string>> rows;
  for (const synth::SynthesisStep& step : table.synthesis.steps) {
    rows.push_back({std::to_string(rows.size() + 1), name_of(step.set, plan.domain),
                    cells
                        ? cell_name(step, plan.domain)
                        : std::to_string(data::cell_count(synth::sizes_of(plan.domain), step.set)),
                    format_rounded(step.sigma, 4),
                    step.choice_scale > 0 ? format_rounded(step.choice_scale, 4) : "by plan"});
  }
  const std::vector<std::string> header = {"step", "marginal", cells ? "cell" : "cells", "noise",
                                           "chosen"};
  add_table(page, header, rows);
  add_bound(page, table);
}

std::string between(const synth::ErrorInterval& interval) {
  return fmt::format("{} to {}", format_rounded(interval.lower, 3),
                     format_rounded(interval.upper, 3));
}

std::string prediction_words(const SyntheticTable& table,
                             const std::vector<MarginalError>& errors) {
  if (table.synthesis.measurements.empty())
    return "What was measured was too large to be stored, so nothing is predicted.";
  const auto known = std::count_if(errors.begin(), errors.end(),
                                   [](const auto& one) { return one.predicted.has_value(); });
  return fmt::format(
      "Predicted: the L1 distance of the normalised tables (0: the same, 2: nothing in common) "
      "that "
      "is not exceeded, for a marginal fixed beforehand, with probability 0.95. Of {} marginals of "
      "the workload {} lie within a measurement and have a prediction; the others rest on the "
      "model "
      "alone.",
      errors.size(), known);
}

std::string measurement_words(const SyntheticTable& table) {
  const synth::MeasuredErrors& errors = *table.synthesis.errors;
  const double total = table.synthesis.model.total();
  const synth::ErrorInterval mean = mean_error(errors, table.plan.workload, total, kBeta);
  return fmt::format(
      "Measured error: the L1 distance of the model's counts from those of the data, as a share of "
      "the model's {} rows (0: the same, about 2: nothing in common), counted with noise of "
      "standard "
      "deviation {} rows: on average, by the workload's weights, {}, between {} with probability "
      "0.95. An interval below holds its own marginal with that probability, not all of them at "
      "once.",
      format_rounded(total, 6), format_rounded(errors.sigma, 3), format_rounded(mean.value, 3),
      between(mean));
}

// The worst first, by what was measured if anything was; those of which nothing is known last.
void sort_by_error(std::vector<MarginalError>& errors) {
  const auto size = [](const MarginalError& one) {
    return one.measured ? one.measured->value : one.predicted.value_or(-1);
  };
  std::stable_sort(errors.begin(), errors.end(),
                   [&](const auto& a, const auto& b) { return size(a) > size(b); });
}

void add_errors(report::Page& page, const SyntheticTable& table) {
  if (table.plan.explicit_universe()) return;
  std::vector<MarginalError> errors = marginal_errors(table);
  sort_by_error(errors);
  page.heading("Errors of the workload's marginals");
  page.paragraph(
      "All errors are of the model. Records add what rounding to whole rows brings, and what their "
      "number does.");
  page.paragraph(prediction_words(table, errors));
  const bool measured = table.synthesis.errors.has_value();
  if (measured) page.paragraph(measurement_words(table));
  std::vector<std::vector<std::string>> rows;
  for (const MarginalError& one : errors) {
    rows.push_back({name_of(one.set, table.plan.domain), std::to_string(one.weight),
                    one.predicted ? format_rounded(*one.predicted, 3) : "none"});
    if (!measured) continue;
    rows.back().push_back(format_rounded(one.measured->value, 3));
    rows.back().push_back(between(*one.measured));
  }
  std::vector<std::string> header = {"marginal", "weight", "predicted"};
  if (measured) header.insert(header.end(), {"measured", "interval"});
  add_table(page, header, rows);
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
  page.heading("Columns of the model");
  page.paragraph(
      "Expected numbers of rows by the model, in a table as large as it takes the data to be. "
      "Records "
      "are drawn from it.");
  for (std::size_t j = 0; j < domain.size(); ++j) {
    page.picture(
        to_svg(report::CountBars{domain[j].name, value_labels(domain[j]),
                                 table.synthesis.model.marginal(AttributeSet::single(j))}));
  }
  const std::vector<AttributeSet> pairs = pairs_of(table);
  if (pairs.empty()) return;
  page.heading("Pairs of columns of the model");
  page.paragraph(
      fmt::format("Up to {} pairs, those measured first; the darker, the more rows, by "
                  "the square root.",
                  kMostPairs));
  for (const AttributeSet pair : pairs) {
    const std::vector<std::size_t> ends = pair.members();
    page.picture(to_svg(
        report::CountGrid{domain[ends[0]].name, domain[ends[1]].name, value_labels(domain[ends[0]]),
                          value_labels(domain[ends[1]]), table.synthesis.model.marginal(pair)}));
  }
}

}  // namespace

std::string report_html(const SyntheticTable& table) {
  report::Page page("Synthetic table of " + table.plan.table);
  page.paragraph("Privacy: " + table.statement + ".");
  page.paragraph(fmt::format(
      "Method {} ({}). Cost {}. {} Records drawn from the model, this report and whatever else is "
      "made of it cost nothing more.",
      to_string(table.plan.method), table.plan.reason, privacy::to_json(table.plan.event),
      table.plan.explicit_universe()
          ? fmt::format("The table was padded or cut to {} rows, a public number.",
                        table.plan.public_rows)
          : fmt::format("About {} rows are in the data, by the measurements.",
                        estimated_rows(table))));
  if (const std::string note = rows_note(table); !note.empty()) page.paragraph(note + ".");
  add_noise(page, table);
  add_errors(page, table);
  add_pictures(page, table);
  return page.to_html();
}

}  // namespace shoal::session
