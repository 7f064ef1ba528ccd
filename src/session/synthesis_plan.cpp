#include "session/file_request.hpp"
#include "session/synthesis_words.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/numeric/directed.hpp>
#include <shoal/numeric/units.hpp>
#include <shoal/privacy/charge.hpp>
#include <shoal/privacy/conversion.hpp>
#include <shoal/session/session.hpp>
#include <shoal/session/synthesis.hpp>
#include <shoal/synth/blr.hpp>
#include <shoal/synth/mst.hpp>
#include <shoal/synth/mwem.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace shoal::session {
namespace {

using data::AttributeSet;

constexpr std::array kMethods = {SynthesisMethod::aim, SynthesisMethod::graded,
                                 SynthesisMethod::mst, SynthesisMethod::mwem, SynthesisMethod::blr};
constexpr double kCellsPerMegabyte = 131'072;
// What the ledger stores of a larger model would not fit in a row of SQLite, a billion bytes.
constexpr double kMaxMegabytes = 256;
// Of what is compared with the data at the end: at 24 bytes a cell, three gigabytes.
constexpr double kMaxComparedCells = 0x1p27;
constexpr std::int64_t kMaxPublicRows = 100'000'000;  // padding takes memory
constexpr double kBeta = 0.05;
constexpr double kMaxCheckShare = 0.5;

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

std::vector<std::string> names_of(const synth::Domain& domain) {
  std::vector<std::string> names;
  for (const synth::DomainColumn& column : domain) names.push_back(column.name);
  return names;
}

// Who a row is of is never synthesised: it would be a list of persons.
synth::Domain domain_of(const catalog::Policy& policy, const catalog::Table& table,
                        const SynthesisOptions& options) {
  std::vector<std::string> columns = options.columns;
  for (const std::string& name : columns) {
    if (!policy.tells_people_apart(table, name)) continue;
    refuse(fmt::format("column {} tells whose a row is, and is not synthesised; leave it out",
                       printable(name, 60)));
  }
  if (columns.empty()) {
    for (const catalog::Column& column : table.columns) {
      if (column.queryable && !policy.tells_people_apart(table, column.name))
        columns.push_back(column.name);
    }
    if (columns.empty()) refuse(fmt::format("table {} has no column to synthesise", table.name));
  }
  return synth::make_domain(table, columns, options.bins);
}

void check_covered(const SynthesisPlan& plan) {
  AttributeSet covered;
  for (const synth::WorkloadMarginal& one : plan.workload) covered = covered | one.set;
  for (const synth::RangeFamily& family : plan.ranges)
    covered = covered | AttributeSet::single(family.column);
  for (std::size_t j = 0; j < plan.domain.size(); ++j) {
    if (covered.contains(j)) continue;
    refuse(
        fmt::format("no marginal of the workload has column {}, so it would be made up; add one, "
                    "or leave the column out with --columns",
                    plan.domain[j].name));
  }
}

void plan_workload(const SynthesisOptions& options, SynthesisPlan& plan) {
  const std::string text =
      options.workload.empty()
          ? fmt::format("all-{}way", std::min<std::size_t>(3, plan.domain.size()))
          : options.workload;
  synth::WorkloadRequest request = synth::parse_request(text, names_of(plan.domain));
  plan.workload = std::move(request.marginals);
  plan.ranges = std::move(request.ranges);
  if (plan.ranges.empty() || !plan.workload.empty())
    validate(plan.workload, synth::sizes_of(plan.domain));
  for (const synth::RangeFamily& family : plan.ranges) {
    const std::string name = name_of(family, plan.domain);
    if (!plan.explicit_universe()) {
      refuse(
          fmt::format("{} measures marginals, and {} is for mwem and blr: name a marginal, or "
                      "choose another --method",
                      to_string(plan.method), name));
    }
    if (range_count(family, plan.domain) < 1)
      refuse(fmt::format("{} asks nothing: the column has one value; leave it out", name));
  }
  for (const synth::WorkloadMarginal& one : plan.workload) {
    if (one.weight == 1 || !plan.explicit_universe()) continue;
    refuse(
        fmt::format("{} takes no weights, and {} has one of {}: leave it out, or choose method "
                    "aim or graded",
                    to_string(plan.method), name_of(one.set, plan.domain), one.weight));
  }
  check_covered(plan);
}

SynthesisMethod method_of(const SynthesisOptions& options, double delta) {
  if (options.method == "auto") {
    if (delta > 0) return SynthesisMethod::graded;
    if (options.public_rows) return SynthesisMethod::mwem;
    refuse(
        "delta is 0, and without it only mwem and blr work, on small domains: give a --delta, or "
        "--public-rows with the number of rows");
  }
  for (const SynthesisMethod method : kMethods) {
    if (options.method == to_string(method)) return method;
  }
  refuse(fmt::format("there is no method {}; methods are auto, aim, graded, mst, mwem and blr",
                     printable(options.method, 40)));
}

std::string reason_of(const SynthesisOptions& options, SynthesisMethod method) {
  if (options.method != "auto") return "as asked";
  if (method == SynthesisMethod::mwem) return "there is no delta, and the number of rows is public";
  return "there is a delta; it adapts to the data, and erred least on most tables measured";
}

// An option that a method would ignore is a mistake.
void check_taken(const SynthesisOptions& options, const SynthesisPlan& plan) {
  const auto check = [&](bool given, bool taken, const char* option, const char* methods) {
    if (!given || taken) return;
    refuse(fmt::format("{} takes no {}, which is for {}: leave it out, or choose another --method",
                       to_string(plan.method), option, methods));
  };
  check(options.public_rows.has_value(), plan.explicit_universe(), "--public-rows", "mwem and blr");
  check(options.rounds.has_value(), plan.method == SynthesisMethod::mwem, "--rounds", "mwem");
  check(options.size.has_value(), plan.method == SynthesisMethod::blr, "--size", "blr");
  check(options.model_megabytes != SynthesisOptions().model_megabytes, !plan.explicit_universe(),
        "--model-megabytes", "aim, graded and mst");
}

// The largest table that can be drawn, unless the error bound is least before.
std::int64_t blr_size(const synth::BlrProblem& problem) {
  return synth::blr_largest_size(problem, synth::blr_best_size(problem, kBeta));
}

void plan_universe(const SynthesisOptions& options, SynthesisPlan& plan) {
  const std::string method(to_string(plan.method));
  if (!options.public_rows) {
    refuse(
        fmt::format("{} works on a public number of rows, to which the table is padded or cut: "
                    "give --public-rows, or use method aim",
                    method));
  }
  if (*options.public_rows < 1 || *options.public_rows > kMaxPublicRows) {
    refuse(fmt::format("{} public rows are out of range: give 1 to {}", *options.public_rows,
                       kMaxPublicRows));
  }
  if (options.check_share > 0) {
    refuse(fmt::format(
        "{} measures no errors at the end: its theorem bounds them; leave --check out", method));
  }
  plan.public_rows = *options.public_rows;
  const std::int64_t universe = synth::universe_size(synth::sizes_of(plan.domain));
  const std::int64_t queries = query_count(plan);
  if (queries > synth::kMaxUniverse / universe) {
    refuse(
        fmt::format("{} would hold {} queries over {} possible rows, more than {} values: use "
                    "fewer columns, wider bins, a smaller workload, or method aim",
                    method, queries, universe, synth::kMaxUniverse));
  }
  if (plan.method == SynthesisMethod::mwem) {
    plan.rounds = options.rounds.value_or(
        synth::mwem_best_rounds({universe, queries, plan.public_rows, plan.epsilon}, kBeta));
    if (plan.rounds < 1 || plan.rounds > synth::kMaxMwemRounds) {
      refuse(fmt::format("{} rounds are out of range: give 1 to {}", plan.rounds,
                         synth::kMaxMwemRounds));
    }
  } else {
    const synth::BlrProblem problem{universe, queries, plan.public_rows, plan.epsilon};
    plan.size = options.size.value_or(blr_size(problem));
    // Rejection takes a time that depends on the rows.
    if (plan.size < 1 || !synth::blr_enumerable(problem, plan.size)) {
      refuse(
          fmt::format("blr cannot go through all tables of {} rows over {} possible rows; the "
                      "most that it can draw is {}: use --size, fewer columns, or method mwem",
                      plan.size, universe, synth::blr_largest_size(problem, synth::kMaxBlrSize)));
    }
  }
  plan.delta = 0;
  plan.event = privacy::event::Pure{plan.epsilon};
}

// The mu of a table of that epsilon and delta. The policy's total is counted by zCDP, which asks a
// little more of a Gaussian than it costs: who wants all of the total gets what it holds.
double gaussian_mu(const catalog::Policy& policy, const SynthesisPlan& plan) {
  const Delta rest(
      std::max(0.0, numeric::subtract_down(policy.delta.value(), policy.failures_share().value())));
  const std::int64_t units = numeric::decimal_units_down(
      privacy::rho_within(policy.epsilon, rest).value(), privacy::kRhoDecimals);
  const double held =
      numeric::sqrt_down(2 * numeric::from_units_down(units, privacy::kRhoDecimals));
  return std::min(held, privacy::mu_within(Epsilon(plan.epsilon), Delta(plan.delta)));
}

void plan_marginals(const catalog::Policy& policy, const SynthesisOptions& options,
                    SynthesisPlan& plan) {
  if (plan.delta <= 0) {
    refuse(fmt::format("{} needs a delta above 0: give --delta, or use method mwem",
                       to_string(plan.method)));
  }
  if (!(options.model_megabytes > 0 && options.model_megabytes <= kMaxMegabytes)) {
    refuse(fmt::format("a model of {} megabytes is out of range: give more than 0 and at most {}",
                       format_number(options.model_megabytes), format_number(kMaxMegabytes)));
  }
  plan.max_model_cells =
      static_cast<std::int64_t>(std::floor(options.model_megabytes * kCellsPerMegabyte));
  double rho = privacy::rho_within(Epsilon(plan.epsilon), Delta(plan.delta)).value();
  plan.event = privacy::event::Zcdp{rho};
  if (plan.method == SynthesisMethod::graded) {
    const double mu = gaussian_mu(policy, plan);
    rho = mu * mu / 2;
    plan.event = privacy::event::Gdp{mu};
  }
  if (options.check_share > 0) {
    double cells = 0;
    for (const synth::WorkloadMarginal& one : plan.workload)
      cells += static_cast<double>(data::cell_count(synth::sizes_of(plan.domain), one.set));
    if (cells > kMaxComparedCells) {
      refuse(
          fmt::format("measuring the errors of {} cells in all is beyond the limit of {}: use "
                      "fewer columns, fewer ways or wider bins, or leave --check out",
                      format_rounded(cells, 3), format_rounded(kMaxComparedCells, 12)));
    }
    const release::MarginalUnit unit{1, policy.neighbors};
    plan.check_share = options.check_share;
    plan.check_sigma = synth::distance_sigma(plan.workload.size(), options.check_share * rho, unit);
    rho *= 1 - options.check_share;
  }
  synth::MethodOptions limits;
  limits.max_model_cells = plan.max_model_cells;
  if (plan.method == SynthesisMethod::mst) {
    synth::check_mst(synth::sizes_of(plan.domain), limits, rho);
  } else {
    synth::check_rounds(synth::sizes_of(plan.domain), plan.workload, limits, rho);
  }
}

}  // namespace

std::string_view to_string(SynthesisMethod method) {
  switch (method) {
    case SynthesisMethod::aim:
      return "aim";
    case SynthesisMethod::graded:
      return "graded";
    case SynthesisMethod::mst:
      return "mst";
    case SynthesisMethod::mwem:
      return "mwem";
    case SynthesisMethod::blr:
      return "blr";
  }
  return "";
}

std::string name_of(AttributeSet set, const synth::Domain& domain) {
  std::string name;
  for (const std::size_t column : set.members())
    name += (name.empty() ? "" : "*") + domain[column].name;
  return name;
}

SynthesisPlan plan_synthesis(const catalog::Policy& policy, const SynthesisOptions& options) {
  const catalog::Table& table = file_table(policy, options.table, "synthesis");
  SynthesisPlan plan{.table = table.name,
                     .domain = domain_of(policy, table, options),
                     .workload = {},
                     .ranges = {},
                     .method = {},
                     .reason = {},
                     .epsilon = asked_epsilon(policy, options.epsilon),
                     .delta = asked_delta(policy, options.delta),
                     .event = privacy::event::Compose{}};
  if (!(options.check_share >= 0 && options.check_share <= kMaxCheckShare)) {
    refuse(fmt::format("a share of {} for measuring errors is out of range: give 0 to {}",
                       format_number(options.check_share), format_number(kMaxCheckShare)));
  }
  if (!(Epsilon(plan.epsilon).value() > 0)) refuse("epsilon is 0; nothing can be learnt with it");
  plan.method = method_of(options, Delta(plan.delta).value());
  plan.reason = reason_of(options, plan.method);
  check_taken(options, plan);
  plan_workload(options, plan);
  if (plan.explicit_universe()) {
    plan_universe(options, plan);
  } else {
    plan_marginals(policy, options, plan);
  }
  return plan;
}

}  // namespace shoal::session
