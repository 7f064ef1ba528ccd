// Error, time and memory of synthetic tables: one line of CSV a run.
//
//   accuracy_synth <table.csv> <domain.json> <method> <epsilon> <delta> <runs> [option=value ...]
//
// Methods: aim, graded, mst. Options: cells (of the model), threads, tolerance (of a fit), w1, w2,
// w3 (shrinkage of main effects, pairs and more, for aim and mst), f1, f2, f3 (the same in the last
// fit alone; 0: as before), prior (variance of effects in place of shrinkage, in all fits; 0:
// none), iterations (of a fit), rows (0: as many as the table), refine (1: refine the records; as
// graded does unless it is 0), ways, steps (1: list what was measured), seed (of noise that is the
// same each time, to compare versions; without it noise is secure).
//
// aim and mst are paid for as zcdp, graded as gdp, each within epsilon and delta.
//
// The table has a header and codes; the domain maps each column to its size. The error is the mean,
// over all marginals of `ways` columns, of the L1 distance of the normalised tables, not halved,
// computed from synthetic records.
#include "support/ledger_requests.hpp"
#include "support/seeded_source.hpp"
#include "support/temporary_folder.hpp"
#include "support/touch.hpp"

#include <shoal/privacy/conversion.hpp>
#include <shoal/random/secure_source.hpp>
#include <shoal/synth/aim.hpp>
#include <shoal/synth/graded.hpp>
#include <shoal/synth/mst.hpp>
#include <shoal/synth/records.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

namespace {

using namespace shoal;

struct Source {
  std::vector<std::uint32_t> sizes;
  synth::CodedRecords columns;
};

Source read(const char* table, const char* domain) {
  std::ifstream sizes_file(domain);
  const nlohmann::json sizes = nlohmann::json::parse(sizes_file);
  std::ifstream file(table);
  std::string line;
  std::getline(file, line);
  Source source;
  std::stringstream header(line);
  for (std::string name; std::getline(header, name, ',');) {
    while (!name.empty() && name.back() == '\r') name.pop_back();
    source.sizes.push_back(sizes.at(name).get<std::uint32_t>());
  }
  source.columns.resize(source.sizes.size());
  while (std::getline(file, line)) {
    const char* at = line.c_str();
    for (auto& column : source.columns) {
      char* end = nullptr;
      column.push_back(static_cast<std::uint16_t>(std::strtoul(at, &end, 10)));
      at = end + 1;
    }
  }
  return source;
}

std::vector<double> shares(const std::vector<std::uint32_t>& sizes,
                           const synth::CodedRecords& columns, data::AttributeSet set) {
  std::vector<double> table(static_cast<std::size_t>(data::cell_count(sizes, set)));
  const std::size_t rows = columns[0].size();
  for (std::size_t i = 0; i < rows; ++i) {
    std::size_t cell = 0;
    for (const std::size_t column : set.members()) cell = cell * sizes[column] + columns[column][i];
    table[cell] += 1.0 / static_cast<double>(rows);
  }
  return table;
}

double l1(const std::vector<double>& a, const std::vector<double>& b, double scale) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i] * scale);
  return sum;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

data::CodedTable coded(const Source& source) {
  data::CodedTable table(source.sizes);
  for (std::size_t j = 0; j < source.columns.size(); ++j) table.append(j, source.columns[j]);
  return table;
}

synth::Synthesis synthesise(const std::string& method, release::MarginalCurator& curator,
                            const synth::Workload& workload, const synth::MethodOptions& options) {
  if (method == "aim") return synth::aim(curator, workload, options);
  if (method == "mst") return synth::mst(curator, options);
  if (method == "graded") return synth::graded(curator, workload, options);
  throw Error(ErrorCode::invalid_argument, "unknown method " + method + ": aim, graded or mst");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) {
    std::fprintf(stderr, "usage: accuracy_synth table.csv domain.json method epsilon delta runs\n");
    return 2;
  }
  const Source source = read(argv[1], argv[2]);
  const std::string method = argv[3];
  const double epsilon = std::strtod(argv[4], nullptr);
  const double delta = std::strtod(argv[5], nullptr);
  const int runs = std::atoi(argv[6]);
  std::map<std::string, double> option{{"cells", 131072},   {"threads", 2},
                                       {"tolerance", 1e-2}, {"w1", 0.002},
                                       {"w2", 0.002},       {"w3", 0.002},
                                       {"rows", 0},         {"ways", 3},
                                       {"steps", 0},        {"refine", method == "graded" ? 1 : 0}};
  for (int i = 7; i < argc; ++i) {
    const std::string text = argv[i];
    const std::size_t equals = text.find('=');
    option[text.substr(0, equals)] = std::strtod(text.c_str() + equals + 1, nullptr);
  }
  const synth::Workload workload =
      synth::all_marginals(source.sizes.size(), static_cast<std::size_t>(option["ways"]));
  std::vector<data::AttributeSet> sets;
  for (const auto& marginal : workload) sets.push_back(marginal.set);
  std::vector<std::vector<double>> truth;
  for (const data::AttributeSet set : sets)
    truth.push_back(shares(source.sizes, source.columns, set));

  random::SecureSource secure;
  test::SeededSource seeded(static_cast<std::uint64_t>(option["seed"]));
  random::BitSource& bits = option["seed"] > 0 ? static_cast<random::BitSource&>(seeded) : secure;
  std::puts(
      "method,epsilon,run,error,model_error,cpu_seconds,wall_seconds,peak_mb,rounds,model_cells");
  for (int run = 0; run < runs; ++run) {
    test::TemporaryFolder folder;
    ledger::Ledger ledger(folder / "ledger");
    ledger.open_account(test::account_of(kMaxEpsilon, 1e-3));
    ledger::Request request = test::request_of("key", 1);
    request.budget = {Epsilon(kMaxEpsilon), Delta(1e-3)};
    if (method == "graded") {
      request.event = privacy::event::Gdp{privacy::mu_within(Epsilon(epsilon), Delta(delta))};
    } else {
      request.event =
          privacy::event::Zcdp{privacy::rho_within(Epsilon(epsilon), Delta(delta)).value()};
    }
    privacy::Reservation reservation = test::reserve(ledger, request);
    test::touch(reservation);

    const double cpu = cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    synth::MethodOptions options;
    options.max_model_cells = static_cast<std::int64_t>(option["cells"]);
    options.threads = static_cast<int>(option["threads"]);
    options.fit.shrinkage = {option["w1"], option["w2"], option["w3"]};
    options.fit.tolerance = option["tolerance"];
    if (option["prior"] > 0) options.fit.prior_variance = option["prior"];
    if (option["iterations"] > 0) {
      options.fit.max_iterations = static_cast<int>(option["iterations"]);
    }
    options.final_fit = options.fit;
    if (option["f1"] > 0) {
      options.final_fit.shrinkage = {option["f1"], option["f2"], option["f3"]};
    }
    release::MarginalCurator curator(std::move(reservation), coded(source),
                                     {1, Neighbors::add_remove}, options.threads, bits);
    const synth::Synthesis result = synthesise(method, curator, workload, options);
    const auto rows = option["rows"] > 0 ? static_cast<std::int64_t>(option["rows"])
                                         : static_cast<std::int64_t>(source.columns[0].size());
    synth::CodedRecords records = synth::generate_records(result.model, rows, bits);
    if (option["refine"] > 0) {
      synth::refine_records(records, result.model, workload, options.threads);
    }
    const double used = cpu_seconds() - cpu;
    const double wall =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double peak = peak_megabytes();
    double error = 0;
    double model_error = 0;
    const auto answers = result.model.marginals(sets, 2);
    for (std::size_t i = 0; i < sets.size(); ++i) {
      error += l1(truth[i], shares(source.sizes, records, sets[i]), 1) /
               static_cast<double>(sets.size());
      model_error +=
          l1(truth[i], answers[i], 1 / result.model.total()) / static_cast<double>(sets.size());
    }
    fmt::print("{},{},{},{:.5f},{:.5f},{:.2f},{:.2f},{:.0f},{},{}\n", method, epsilon, run, error,
               model_error, used, wall, peak, result.steps.size(), result.model.cells());
    if (!result.model.report().converged) fmt::print("#  the last fit did not converge\n");
    std::fflush(stdout);
    if (option["steps"] > 0) {
      for (const auto& step : result.steps) {
        std::string names;
        for (const std::size_t column : step.set.members()) names += fmt::format("{} ", column);
        fmt::print("#  {:<12} sigma {:.1f} iterations {}\n", names, step.sigma,
                   step.fit_iterations);
      }
    }
  }
}
