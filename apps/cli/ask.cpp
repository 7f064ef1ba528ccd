#include "ask.hpp"

#include "answer_file.hpp"
#include "answer_text.hpp"
#include "bars.hpp"
#include "new_file.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace shoal::cli {
namespace {

std::string table_with_cost(const session::Answer& answer, Rows rows,
                            const session::BudgetReport& budget, std::optional<std::size_t> room) {
  std::string text = answer_table(answer, rows, room) + "\n";
  const std::string cost = cost_text(answer.epsilon, answer.delta, answer.rho);
  text += answer.repeated
              ? fmt::format("  cost    nothing: the answer was known, and was paid with {}\n", cost)
              : fmt::format("  cost    {}\n", cost);
  text += fmt::format("  left    one question of epsilon {} (of {} in total)\n",
                      format_rounded(budget.epsilon_left, 6),
                      format_number(budget.total.epsilon.value()));
  return text + fmt::format("  means   this answer is {}\n", answer.statement);
}

bool is_binary(const std::string& format) { return format == "parquet" || format == "arrow"; }

// Before anything is paid: a format that nobody lists here would come out as a table.
void check_output(const AskOptions& options) {
  constexpr std::array<std::string_view, 5> kFormats{"table", "csv", "json", "parquet", "arrow"};
  SHOAL_CHECK(std::find(kFormats.begin(), kFormats.end(), options.format) != kFormats.end());
  if (options.output.empty()) {
    if (!is_binary(options.format)) return;
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("an answer as {0} goes to a file; add --output answer.{0}", options.format));
  }
  check_new_file(options.output);
}

std::string text_of(const session::Session& session, const session::Answer& answer, Rows rows,
                    const AskOptions& options) {
  if (options.format == "csv") return answer_csv(answer, rows);
  const session::BudgetReport budget = session.budget();
  if (options.format == "json") return answer_json(answer, budget);
  const bool bars = !options.no_bars && options.output.empty();
  return table_with_cost(answer, rows, budget, bars ? room_for_bars() : std::nullopt);
}

}  // namespace

plan::QueryOptions AskOptions::query_options() const {
  plan::QueryOptions made;
  made.epsilon = epsilon;
  made.delta = delta;
  made.confidence = confidence;
  SHOAL_CHECK(noise == "laplace" || noise == "gaussian" || noise == "automatic");
  made.noise = noise == "laplace"    ? plan::NoiseChoice::laplace
               : noise == "gaussian" ? plan::NoiseChoice::gaussian
                                     : plan::NoiseChoice::automatic;
  return made;
}

void add_cost_options(CLI::App& command, AskOptions& options) {
  command.add_option("--epsilon", options.epsilon,
                     "what a question may cost; OPTIONS(epsilon = ...) in the question goes before "
                     "it, the policy's default stands behind it");
  command.add_option("--delta", options.delta,
                     "allow gaussian noise, with this delta; where small groups must be hidden "
                     "there is one anyway (default: pure differential privacy)");
  command.add_option("--confidence", options.confidence, "of the error intervals (default: 0.95)");
  command.add_option("--noise", options.noise, "automatic, laplace or gaussian")
      ->check(CLI::IsMember({"automatic", "laplace", "gaussian"}))
      ->capture_default_str();
}

namespace {

std::string plan_text(const session::Session& session, const plan::Plan& plan,
                      const AskOptions& options) {
  return options.format == "json" ? plan_json(plan, session.policy())
                                  : plan_table(plan, session.policy());
}

}  // namespace

std::string explain(const session::Session& session, const std::string& sql,
                    const AskOptions& options) {
  return plan_text(session, session.explain(sql, options.query_options()), options);
}

std::string ask(session::Session& session, const std::string& sql, const AskOptions& options) {
  plan::Plan plan = session.explain(sql, options.query_options());
  if (plan.explain_only) return plan_text(session, plan, options);
  check_output(options);
  const Rows rows = rows_of(plan);
  const session::Answer answer = session.query(std::move(plan), options.key);
  if (options.output.empty()) return text_of(session, answer, rows, options);
  if (options.format == "parquet") {
    write_answer_parquet(options.output, answer);
  } else if (options.format == "arrow") {
    write_file_durably(options.output, answer_arrow(answer), IfExists::refuse);
  } else {
    write_file_durably(options.output, text_of(session, answer, rows, options), IfExists::refuse);
  }
  return fmt::format("wrote {}\n", printable(options.output, 200));
}

}  // namespace shoal::cli
