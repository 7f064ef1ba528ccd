// Synthesis through the one flow: options and policy make a plan, which needs no data;
// Session::synthesize reserves its event, counts, measures, fits and settles the model. Records are
// drawn from the model afterwards, as many as are wanted: that costs nothing.
#pragma once

#include <shoal/catalog/policy.hpp>
#include <shoal/privacy/event.hpp>
#include <shoal/synth/domain.hpp>
#include <shoal/synth/marginal_methods.hpp>
#include <shoal/synth/workload.hpp>
#include <shoal/synth/workload_text.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::session {

enum class SynthesisMethod { aim, graded, mst, mwem, blr };
std::string_view to_string(SynthesisMethod method);

struct SynthesisOptions {
  std::string table = {};                 // empty: the policy's only private table
  std::vector<std::string> columns = {};  // none: all that may be queried, but for who a row is of
  std::string workload = {};              // workload_text.hpp; empty: all of three columns
  std::string method = "auto";            // auto, aim, graded, mst, mwem, blr
  std::optional<double> epsilon = {};     // none: the policy's default
  std::optional<double> delta = {};       // none: the policy's default, else pure
  std::uint32_t bins = 32;                // of numbers
  double model_megabytes = 1;             // of a graphical model
  // For mwem and blr: a public number of rows, to which the table is padded or cut.
  std::optional<std::int64_t> public_rows = {};
  std::optional<int> rounds = {};         // of mwem; none: where its error bound is least
  std::optional<std::int64_t> size = {};  // rows that blr draws; none: chosen by its error bound
  // The share of the cost that measures, at the end, how far the model is from the data; 0: none.
  double check_share = 0;
};

// What a synthesis will do and cost. The same whatever the rows say.
struct SynthesisPlan {
  std::string table;
  synth::Domain domain;
  synth::Workload workload;
  std::vector<synth::RangeFamily> ranges;  // of mwem and blr; the workload may be empty then
  SynthesisMethod method = SynthesisMethod::graded;
  std::string reason;  // why this method
  double epsilon = 0;
  double delta = 0;
  privacy::Event event;
  std::int64_t max_model_cells = 0;
  // Of mwem and blr; 0 for the others.
  std::int64_t public_rows = 0;
  int rounds = 0;
  std::int64_t size = 0;
  // Of the errors that are measured at the end; 0: none are.
  double check_share = 0;
  double check_sigma = 0;

  bool explicit_universe() const {
    return method == SynthesisMethod::mwem || method == SynthesisMethod::blr;
  }
};

// Throws, before anything is spent, for whatever public facts show to be wrong, naming the value,
// the bound and a remedy.
SynthesisPlan plan_synthesis(const catalog::Policy& policy, const SynthesisOptions& options);

// How far the table may be off in every query of the workload, as a share of the rows, with
// probability 0.95: by the theorem of mwem or blr, of the rows as they are padded or cut. None if
// that is 1 or more, which says nothing, and for the other methods.
std::optional<double> error_bound(const SynthesisPlan& plan);
// The same in words, for mwem and blr.
std::string bound_text(const SynthesisPlan& plan);

// The plan as lines of text: what is measured, with which noise, at which cost.
std::string describe(const SynthesisPlan& plan, const catalog::Policy& policy);
// The same as one line of JSON.
std::string to_json(const SynthesisPlan& plan, const catalog::Policy& policy);

// What came out. Everything in it is public.
struct SyntheticTable {
  SynthesisPlan plan;
  synth::Synthesis synthesis;
  std::string statement;                  // the guarantee in one sentence
  std::vector<std::size_t> column_order;  // of the domain, as the source has them
};

// A set of columns by name: "age*sex".
std::string name_of(data::AttributeSet set, const synth::Domain& domain);

// A cell of a marginal by its values, one a column: "f", "20 to 29", "NULL". Throws internal for a
// cell that the marginal lacks.
std::vector<std::string> cell_values(data::AttributeSet set, std::int64_t cell,
                                     const synth::Domain& domain);

// How far the model is off in a marginal of the workload: what is predicted, if a measurement holds
// it, and what was measured, if that was paid for; each with probability 0.95.
struct MarginalError {
  data::AttributeSet set;
  std::int64_t weight = 1;
  std::optional<double> predicted;
  std::optional<synth::ErrorInterval> measured;
};
// One for each marginal of the workload, in its order. Of mwem and blr neither is known.
std::vector<MarginalError> marginal_errors(const SyntheticTable& table);

// As many records as there are rows, by the measurements, or by the plan of mwem and blr; 1 at
// least.
std::int64_t estimated_rows(const SyntheticTable& table);
// A sentence if the noise drowned the number of rows; empty otherwise.
std::string rows_note(const SyntheticTable& table);

// What was measured with which noise, predicted errors, the privacy statement and pictures of the
// marginals, in one file of HTML. Made of what was released alone.
std::string report_html(const SyntheticTable& table);

// Writes so many records as CSV, with the signs and the column names of the source: a header, then
// a line each. NULL is an empty field, in quotes if the record has one column. Values are written
// as value_of_code does (synth/domain.hpp). Throws invalid_argument for a number of rows that is
// out of range.
void check_synthetic_rows(std::int64_t rows);
void write_records(const SyntheticTable& table, const catalog::CsvFormat& format, std::int64_t rows,
                   const std::function<void(std::string_view)>& write);
// The same with the bits given: for tests.
void write_records(const SyntheticTable& table, const catalog::CsvFormat& format, std::int64_t rows,
                   random::BitSource& bits, const std::function<void(std::string_view)>& write);

}  // namespace shoal::session
