// shoal watch: which counts of a stream pass a threshold, privately. Values are secret: only
// verdicts are printed, and errors name lines, not what is on them.
#include "commands.hpp"
#include "decimal.hpp"
#include "streams.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/engine/text_rows.hpp>
#include <shoal/mechanism/sparse_calibration.hpp>
#include <shoal/mechanism/threshold_watch.hpp>
#include <shoal/random/scale.hpp>
#include <shoal/random/secure_source.hpp>
#include <shoal/session/adaptive_files.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::cli {
namespace {

using Json = nlohmann::ordered_json;
using mechanism::Verdict;

struct WatchArguments {
  std::string input, threshold, sensitivity, column, noise = "geometric", format = "text";
  std::string state, ledger, lineage;
  std::vector<std::string> range;
  double epsilon = 0, delta = 0, answer_share = 0;
  std::optional<double> budget;
  std::int64_t hits = 1, questions = 0;
  bool monotone = false, gap = false, raw = false;
};

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

Decimal decimal_of(const std::string& text, const char* option) {
  const DecimalOrFault read = read_decimal(text);
  if (read.value) return *read.value;
  refuse(
      fmt::format("{} is {}; it must be a decimal below 10^18 with at most {} digits after the "
                  "point, such as 500 or 0.25",
                  option, printable(text, 40), kMostDecimals));
}

// Decided from public numbers alone, before the stream is read. Steps of 10^-places.
struct Plan {
  mechanism::SparseVector spec;
  mechanism::SparseGoal goal;
  Int128 threshold;
  int places;
};

Decimal sensitivity_of(const WatchArguments& given) {
  if (given.sensitivity.empty()) {
    refuse(
        "--sensitivity is missing: by how much can one person move a value? Without it there is "
        "no guarantee. For counts of people, each of whom is in a count at most once, it is 1");
  }
  const Decimal sensitivity = decimal_of(given.sensitivity, "--sensitivity");
  if (sensitivity.digits <= 0) refuse("--sensitivity must be above 0");
  return sensitivity;
}

Plan plan_of(const WatchArguments& given) {
  const Decimal sensitivity = sensitivity_of(given);
  const Decimal threshold = decimal_of(given.threshold, "--threshold");
  const int least = std::max(sensitivity.decimals, threshold.decimals);
  // As fine a grid as the noise has room for.
  const double width = 8.0 * static_cast<double>(std::max<std::int64_t>(given.hits, 1)) /
                       std::max(given.epsilon, 1e-9);
  int places = kMostDecimals;
  while (places > least &&
         width * static_cast<double>(sensitivity.steps(places)) > random::kMaxScale) {
    --places;
  }
  const auto way =
      given.monotone ? mechanism::ScoreChange::one_sided : mechanism::ScoreChange::two_sided;
  const mechanism::ScoreSensitivity change{
      Sensitivity(static_cast<long long>(sensitivity.steps(places))), way};
  if (!given.range.empty()) {
    const Decimal low = decimal_of(given.range[0], "--range");
    const Decimal high = decimal_of(given.range[1], "--range");
    if (std::max(low.decimals, high.decimals) > places) refuse("--range has too many digits");
    mechanism::require_aggregate(change, low.steps(places), high.steps(places));
  }
  const mechanism::SparseGoal goal{.epsilon = Epsilon(given.epsilon),
                                   .delta = Delta(given.delta),
                                   .hits = given.hits,
                                   .sensitivity = change,
                                   .noise = mechanism::parse_sparse_noise(given.noise),
                                   .gap = given.gap,
                                   .answer_share = given.answer_share,
                                   .questions = given.questions};
  const mechanism::SparseVector spec = mechanism::calibrate_sparse(goal);
  // One-sided noise is not centred; a constant moves the threshold so that it is.
  const Int128 shift = given.raw ? 0 : mechanism::centring_shift(spec);
  return {spec, goal, threshold.steps(places) + shift, places};
}

// A watch in memory, or in a state file under a ledger.
class Watching {
 public:
  Watching(const WatchArguments& given, const Plan& plan) {
    if (given.state.empty()) {
      if (!given.ledger.empty()) refuse("a ledger needs a --state to remember what was paid for");
      memory_.emplace(plan.spec, bits_);
      return;
    }
    if (!std::filesystem::exists(given.state)) create(given, plan);
    file_ = std::make_unique<session::WatchFile>(given.state);
    if (file_->notes() == notes_of(given, plan)) return;
    throw Error(ErrorCode::conflict,
                fmt::format("{} was made with other options: {}; give the same, or another state",
                            printable(given.state, 200), printable(file_->notes(), 400)));
  }
  void run(const std::function<void(mechanism::ThresholdWatch&)>& watching) {
    file_ ? file_->run(watching) : watching(*memory_);
  }

 private:
  static std::string notes_of(const WatchArguments& given, const Plan& plan) {
    return Json{{"epsilon", given.epsilon},
                {"delta", given.delta},
                {"sensitivity", given.sensitivity},
                {"monotone", given.monotone},
                {"mechanism", Json::parse(mechanism::to_json(plan.spec))}}
        .dump();
  }
  static void create(const WatchArguments& given, const Plan& plan) {
    if (given.lineage.empty() && given.input == "-") {
      refuse("standard input has no name; give the --lineage of its budget");
    }
    const privacy::Budget budget{Epsilon(given.budget.value_or(given.epsilon)), Delta(given.delta),
                                 Delta(given.delta)};
    const std::string new_ledger = given.state + ".ledger";
    // A lineage that is named is a stream's, of which the file is but a part.
    const session::StreamPayment payment =
        given.lineage.empty()
            ? session::file_payment(given.input, given.ledger, "", budget, new_ledger)
            : session::StreamPayment{given.ledger.empty() ? new_ledger : given.ledger,
                                     given.lineage, budget};
    session::WatchFile::create(given.state, plan.spec, plan.goal, notes_of(given, plan), payment);
  }

  random::SecureSource bits_;
  std::optional<mechanism::ThresholdWatch> memory_;
  std::unique_ptr<session::WatchFile> file_;
};

double unscaled(Int128 steps, int places) {
  return static_cast<double>(steps) / std::pow(10, places);
}

std::string line_of(const WatchArguments& given, const Plan& plan, std::int64_t number,
                    const mechanism::SparseReply& reply) {
  if (given.format == "json") {
    Json json = {{"row", number}, {"verdict", mechanism::to_string(reply.verdict)}};
    if (reply.gap) json["gap"] = unscaled(*reply.gap, plan.places);
    if (reply.value) json["value"] = unscaled(*reply.value, plan.places);
    return json.dump() + "\n";
  }
  std::string text = fmt::format("{}\t{}", number, mechanism::to_string(reply.verdict));
  if (reply.gap)
    text += fmt::format("\tgap {}", format_rounded(unscaled(*reply.gap, plan.places), 8));
  if (reply.value) {
    text += fmt::format("\tvalue {}", format_rounded(unscaled(*reply.value, plan.places), 8));
  }
  return text + "\n";
}

std::string last_line(const WatchArguments& given, const Plan& plan,
                      const mechanism::ThresholdWatch& watch) {
  const std::string means = fmt::format(
      "all verdicts together are ({}, {})-differentially private, if one person moves no value by "
      "more than {}{}",
      format_number(given.epsilon), format_number(given.delta), given.sensitivity,
      given.monotone ? " and all that move, move the same way" : "");
  if (given.format == "json") {
    return Json{{"hits_left", watch.hits_left()},
                {"asked", watch.asked()},
                {"epsilon", given.epsilon},
                {"delta", given.delta},
                {"deviation",
                 mechanism::comparison_deviation(plan.spec) / std::pow(10, plan.places)},
                {"mechanism", Json::parse(mechanism::to_json(plan.spec))},
                {"event",
                 Json::parse(privacy::to_json(privacy_event(plan.spec, plan.goal.sensitivity)))},
                {"statement", means},
                {"ledger", given.state.empty() ? Json() : Json(given.state)}}
               .dump() +
           "\n";
  }
  return fmt::format("# {} hits left after {} questions; {}{}\n", watch.hits_left(), watch.asked(),
                     means, given.state.empty() ? "; no ledger is kept: count it" : "");
}

// Rows of a line each: an answer leaves as its line comes.
class CsvReader {
 public:
  explicit CsvReader(LineReader& lines) : lines_(&lines) {}

  bool next() {
    std::optional<std::string_view> line = lines_->next();
    if (!line) return false;
    if (lines_->line() == 1 && line->starts_with(kByteOrderMark))
      line->remove_prefix(kByteOrderMark.size());
    fields_ = split_.split(*line);
    return true;
  }
  std::span<const std::string_view> fields() const { return fields_; }
  std::int64_t line() const { return lines_->line(); }

 private:
  static constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

  LineReader* lines_;
  engine::LineFields split_;
  std::span<const std::string_view> fields_;
};

std::size_t column_of(CsvReader& csv, const std::string& name) {
  if (!csv.next()) {
    throw Error(ErrorCode::parse_error, "the stream is empty; it needs a header line");
  }
  const auto header = csv.fields();
  if (name.empty()) return header.size() - 1;
  const auto found = std::find(header.begin(), header.end(), name);
  if (found != header.end()) return static_cast<std::size_t>(found - header.begin());
  throw Error(ErrorCode::not_found,
              fmt::format("the header has no column {}; correct --column", printable(name, 40)));
}

// A value of the stream in steps. No value can end the watch: that would tell that it is there.
Int128 steps_of(const CsvReader& csv, std::size_t column, int places) {
  const auto fields = csv.fields();
  return column < fields.size() ? steps_of_any(fields[column], places) : 0;
}

// Where verdicts go. That nobody reads them any more, or that a disk is full, says nothing of the
// stream: it ends the watch, and what is left of it stays.
class Verdicts {
 public:
  void write(const std::string& line, bool now) {
    try {
      output_.write(line);
      if (now) output_.flush();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  bool failed() const { return failure_ != nullptr; }
  void finish(const std::string& last) {
    if (failure_) std::rethrow_exception(failure_);
    output_.write(last);
    output_.flush();
  }

 private:
  Output output_;
  std::exception_ptr failure_;
};

void answer(const WatchArguments& given, const Plan& plan, CsvReader& csv, LineReader& lines,
            std::size_t column, mechanism::ThresholdWatch& watch, Verdicts& verdicts) {
  std::int64_t number = 0;
  while (!verdicts.failed() && csv.next()) {
    const Int128 value = steps_of(csv, column, plan.places);
    const mechanism::SparseReply reply = watch.ask(value, plan.threshold);
    verdicts.write(line_of(given, plan, ++number, reply), lines.must_wait());
    if (reply.verdict == Verdict::halted) break;
  }
}

void run(const WatchArguments& given) {
  const Plan plan = plan_of(given);
  LineReader lines(given.input, "questions", Printing::as_it_goes);
  CsvReader csv(lines);
  const std::size_t column = column_of(csv, given.column);
  Watching watching(given, plan);
  Verdicts verdicts;
  std::string last;
  try {
    watching.run([&](mechanism::ThresholdWatch& watch) {
      answer(given, plan, csv, lines, column, watch, verdicts);
      last = last_line(given, plan, watch);
    });
  } catch (...) {
    // What was answered before a failure leaves, as it would have had nobody failed.
    verdicts.write("", true);
    throw;
  }
  lines.finish();
  verdicts.finish(last);
}

}  // namespace

void add_watch(CLI::App& app) {
  auto arguments = std::make_shared<WatchArguments>();
  CLI::App* command = app.add_subcommand(
      "watch",
      "say which values of a stream pass a threshold\n\nReads a CSV of counts, one question a row, "
      "and prints above, below or halted as they come. Only what is above costs anything: it stops "
      "after --hits of them, and until then any number of rows may be below. With a --state the "
      "cost is paid in a ledger when it is made, and the next run goes on where this one "
      "stopped.\n\n"
      "Example: shoal watch stream.csv --threshold 5000 --hits 10 --epsilon 1 --sensitivity 1");
  command->add_option("stream", arguments->input, "a CSV with a header line; - is standard input")
      ->required();
  command->add_option("--threshold", arguments->threshold, "what a value is compared with")
      ->required();
  command->add_option("--epsilon", arguments->epsilon, "what all answers together may cost")
      ->required();
  command->add_option("--delta", arguments->delta, "the delta of it")->capture_default_str();
  command->add_option("--hits", arguments->hits, "stop after so many above")->capture_default_str();
  command->add_option("--sensitivity", arguments->sensitivity,
                      "by how much one person can move a value; required");
  command
      ->add_option("--range", arguments->range,
                   "the lowest and the highest value there can be: a sensitivity as large is "
                   "refused, since it is a question about one person")
      ->expected(2);
  command->add_flag("--monotone", arguments->monotone,
                    "one person moves all values the same way, as counts: half the noise");
  command->add_option("--column", arguments->column, "the values' column (default: the last)");
  command->add_option("--noise", arguments->noise, "geometric, laplace or gaussian")
      ->check(CLI::IsMember({"geometric", "laplace", "gaussian"}))
      ->capture_default_str();
  command->add_option("--questions", arguments->questions,
                      "stop after so many rows; gaussian noise needs it");
  command->add_flag("--gap", arguments->gap, "tell by how much a value is above: costs nothing");
  command->add_option("--answer-share", arguments->answer_share,
                      "tell values above, with noise that has this share of epsilon");
  command->add_flag(
      "--raw-threshold", arguments->raw,
      "compare with the threshold as it is; one-sided noise then says above too often");
  command->add_option("--state", arguments->state, "keep the state in this file, paid in a ledger");
  command->add_option("--ledger", arguments->ledger, "where (default: <state>.ledger)");
  command->add_option(
      "--lineage", arguments->lineage,
      "the name of the stream's budget (default: the file's own, or else a new one)");
  command->add_option("--budget", arguments->budget, "its total (default: --epsilon)");
  command->add_option("--format", arguments->format, "how to print")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([arguments] { run(*arguments); });
}

}  // namespace shoal::cli
