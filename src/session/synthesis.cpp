// Session::synthesize: reserve -> count -> measure and choose -> settle.
#include "session/answer_clock.hpp"
#include "session/paid_flow.hpp"
#include "session/request_identity.hpp"
#include "session/settled_data.hpp"
#include "session/synthesis_json.hpp"

#include <shoal/base/digest.hpp>
#include <shoal/base/error.hpp>
#include <shoal/base/owner_log.hpp>
#include <shoal/base/text.hpp>
#include <shoal/engine/engine.hpp>
#include <shoal/random/secure_source.hpp>
#include <shoal/release/histogram_curator.hpp>
#include <shoal/session/session.hpp>
#include <shoal/session/synthesis.hpp>
#include <shoal/synth/aim.hpp>
#include <shoal/synth/blr.hpp>
#include <shoal/synth/graded.hpp>
#include <shoal/synth/mst.hpp>
#include <shoal/synth/mwem.hpp>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>
#include <thread>
#include <utility>

namespace shoal::session {
namespace {

using data::AttributeSet;

int threads_of(const catalog::Policy& policy) {
  if (policy.engine.threads > 0) return policy.engine.threads;
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

AttributeSet all_columns(const SynthesisPlan& plan) {
  AttributeSet all;
  for (std::size_t j = 0; j < plan.domain.size(); ++j) all = all | AttributeSet::single(j);
  return all;
}

// A density over the universe as a model with one clique.
synth::GraphicalModel model_of(const SynthesisPlan& plan, std::vector<double> density) {
  for (double& chance : density) chance = std::log(chance);
  return synth::GraphicalModel::from_tables(synth::sizes_of(plan.domain), {all_columns(plan)},
                                            {std::move(density)},
                                            static_cast<double>(plan.public_rows));
}

// Every cell of the workload's marginals and every range, and which cells of which marginal it is.
struct UniverseQueries {
  std::vector<synth::LinearQuery> queries;
  std::vector<synth::SynthesisStep> steps;  // without their noise
};

// In the order of first and last values; NULL, the last code, is in none.
void add_ranges(const SynthesisPlan& plan, const synth::RangeFamily& family, UniverseQueries& all) {
  const synth::DomainColumn& column = plan.domain[family.column];
  const std::uint32_t values = column.size() - (column.nulls ? 1 : 0);
  for (std::uint32_t first = 0; first < (family.prefixes ? 1 : values); ++first) {
    for (std::uint32_t last = first; last < values; ++last) {
      if (!column.nulls && first == 0 && last + 1 == values) continue;  // every row
      all.queries.push_back(
          synth::range_query(synth::sizes_of(plan.domain), family.column, first, last));
      synth::SynthesisStep& step = all.steps.emplace_back();
      step.set = AttributeSet::single(family.column);
      step.cell = first;
      step.last_cell = last;
    }
  }
}

UniverseQueries universe_queries(const SynthesisPlan& plan) {
  UniverseQueries all;
  for (const synth::WorkloadMarginal& one : plan.workload) {
    std::int64_t cell = 0;
    for (synth::LinearQuery& query :
         synth::marginal_queries(synth::sizes_of(plan.domain), one.set)) {
      all.queries.push_back(std::move(query));
      all.steps.emplace_back().set = one.set;
      all.steps.back().cell = cell++;
    }
  }
  for (const synth::RangeFamily& family : plan.ranges) add_ranges(plan, family, all);
  return all;
}

// What a method gave, and the right to settle it.
struct Synthesised {
  synth::Synthesis synthesis;
  privacy::SpentReservation spent;
};

// Runs a method with the curator it asks for.
class Run {
 public:
  Run(const SynthesisPlan& plan, const catalog::Policy& policy, const synth::Progress& progress,
      random::BitSource& bits)
      : plan_(plan), policy_(policy), progress_(progress), bits_(bits) {}

  Synthesised marginals(privacy::Reservation&& reservation, data::CodedTable&& table) {
    const int threads = threads_of(policy_);
    release::MarginalCurator curator(std::move(reservation), std::move(table),
                                     {1, policy_.neighbors}, threads, bits_);
    synth::MethodOptions options;
    options.max_model_cells = plan_.max_model_cells;
    options.threads = threads;
    options.progress = progress_;
    if (plan_.check_share > 0) {
      curator.prepay_distances(static_cast<std::int64_t>(plan_.workload.size()), plan_.check_sigma);
    }
    synth::Synthesis result = plan_.method == SynthesisMethod::mst ? synth::mst(curator, options)
                              : plan_.method == SynthesisMethod::aim
                                  ? synth::aim(curator, plan_.workload, options)
                                  : synth::graded(curator, plan_.workload, options);
    if (plan_.check_share > 0) {
      result.errors =
          synth::measure_errors(curator, result.model, plan_.workload, plan_.check_sigma, threads);
    }
    return {std::move(result), std::move(curator).finish()};
  }

  Synthesised universe(privacy::Reservation&& reservation, const data::CodedTable& table) {
    const UniverseQueries all = universe_queries(plan_);
    std::vector<std::vector<std::int64_t>> steps;
    for (const synth::LinearQuery& query : all.queries) steps.push_back(query.steps);
    release::HistogramCurator curator(std::move(reservation), table, std::move(steps),
                                      synth::kQuerySteps, bits_);
    synth::Synthesis result =
        plan_.method == SynthesisMethod::mwem ? mwem(curator, all) : blr(curator, all);
    return {std::move(result), std::move(curator).finish()};
  }

 private:
  synth::Synthesis mwem(release::HistogramCurator& curator, const UniverseQueries& all) {
    const synth::MwemResult found =
        synth::mwem(curator, all.queries, plan_.rounds, plan_.epsilon, progress_);
    synth::Synthesis result{model_of(plan_, found.density), {}, {}};
    // Laplace noise of 2 T / epsilon rows, and a choice at the same price.
    const double scale = 2 * plan_.rounds / plan_.epsilon;
    for (const std::size_t query : found.queries) {
      synth::SynthesisStep& step = result.steps.emplace_back(all.steps[query]);
      step.sigma = std::sqrt(2.0) * scale;
      step.choice_scale = 2 * scale;
    }
    return result;
  }

  synth::Synthesis blr(release::HistogramCurator& curator, const UniverseQueries& all) {
    const std::vector<std::int64_t> drawn =
        synth::blr(curator, all.queries, plan_.size, plan_.epsilon, bits_);
    return {model_of(plan_, {drawn.begin(), drawn.end()}), {}, {}};
  }

  const SynthesisPlan& plan_;
  const catalog::Policy& policy_;
  const synth::Progress& progress_;
  random::BitSource& bits_;
};

// The policy's columns come by name; a table is to be read as the source is.
std::vector<std::size_t> order_of(const synth::Domain& domain,
                                  const std::vector<std::string>& in_file) {
  std::vector<std::size_t> order;
  for (const std::string& name : in_file) {
    for (std::size_t j = 0; j < domain.size(); ++j) {
      if (domain[j].name == name) order.push_back(j);
    }
  }
  return order;
}

SyntheticTable released(SynthesisPlan plan, const catalog::Policy& policy,
                        const std::vector<std::string>& in_file, const std::string& stored) {
  const std::string statement =
      "this synthetic table is " +
      privacy_statement(plan.epsilon, plan.delta, policy.unit_in_words(), policy.neighbors);
  synth::Synthesis synthesis = synthesis_from_json(stored, synth::sizes_of(plan.domain));
  std::vector<std::size_t> order = order_of(plan.domain, in_file);
  return {std::move(plan), std::move(synthesis), statement, std::move(order)};
}

}  // namespace

SynthesisPlan Session::explain_synthesis(const SynthesisOptions& options) const {
  return plan_synthesis(policy_, options);
}

SyntheticTable Session::synthesize(const SynthesisOptions& options, std::string key,
                                   const synth::Progress& progress) {
  random::SecureSource bits;
  return synthesize(options, std::move(key), progress, bits);
}

SyntheticTable Session::synthesize(const SynthesisOptions& options, std::string key,
                                   const synth::Progress& progress, random::BitSource& bits) {
  const AnswerClock clock(policy_.query.time_steps);
  return synthesize_at(clock, explain_synthesis(options), std::move(key), progress, bits);
}

SyntheticTable Session::synthesize(SynthesisPlan plan, std::string key,
                                   const synth::Progress& progress) {
  const AnswerClock clock(policy_.query.time_steps);
  random::SecureSource bits;
  return synthesize_at(clock, std::move(plan), std::move(key), progress, bits);
}

SyntheticTable Session::synthesize_at(const AnswerClock& clock, SynthesisPlan plan, std::string key,
                                      const synth::Progress& progress, random::BitSource& bits) {
  ledger::Request request = request_of(
      identity_of(plan, policy_), std::move(key),
      fmt::format("synthesize {} with {}", printable(plan.table, 200), to_string(plan.method)),
      plan.event);
  const std::array tables = {policy_.find_table(plan.table, true)};
  const std::unique_ptr<engine::Engine> engine = open_engine(policy_, tables);
  engine::CodeRequest codes{
      plan.domain,
      policy_.unit == catalog::PrivacyUnit::person ? tables[0]->person_column : "",
      {bits.next_u64(), bits.next_u64()}};
  if (plan.explicit_universe()) codes.rows = static_cast<std::size_t>(plan.public_rows);
  AccountLedger account = open_ledger(tables);
  request.budget = account.budget();
  const OwnerLog log(policy_.owner_log());
  std::vector<ledger::Reserved> reserved;
  reserved.push_back(account.ledger().reserve(request));
  PaidFlow flow(account, log, clock, "a synthesis failed", std::move(reserved));
  const ledger::StoredAnswer stored = flow.run(0, [&](privacy::Reservation&& reservation) {
    data::CodedTable table = engine->coded_rows(codes, log);
    Run run(plan, policy_, progress, bits);
    Synthesised done = plan.explicit_universe()
                           ? run.universe(std::move(reservation), table)
                           : run.marginals(std::move(reservation), std::move(table));
    return PaidWork{std::move(done.spent), stored_synthesis(done.synthesis)};
  });
  flow.finish();
  return released(std::move(plan), policy_, engine->column_order(), stored.answer);
}

}  // namespace shoal::session
