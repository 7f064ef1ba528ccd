// shoal holdout and shoal leaderboard: questions about rows that nobody may overfit to. States are
// files, paid for in a ledger when they are made; docs/guide/ask_as_often_as_you_like.md.
#include "commands.hpp"
#include "row_values.hpp"
#include "streams.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/session/adaptive_files.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>

namespace shoal::cli {
namespace {

using Json = nlohmann::ordered_json;

struct StateArguments {
  std::string state, policy, table, data, name, format = "text";
  std::int64_t questions = 0, disagreements = 10, improvements = 10;
  double confidence = 0.95, training_value = 0;
  std::optional<double> epsilon, tolerance, step;
  RowOptions question;
};

session::StateData data_of(const StateArguments& given) {
  if (!given.data.empty()) {
    throw Error(
        ErrorCode::invalid_argument,
        "private rows are read by a policy: run shoal init FILE --neighbors replace_one, and name "
        "the policy with --policy instead of --data");
  }
  if (given.policy.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "name the private rows: --policy and, if it has several tables, --table");
  }
  return {given.policy, given.table};
}

Json interval(double value, double lower, double upper) {
  return {{"value", value}, {"lower", lower}, {"upper", upper}};
}

Json status_json(const session::HoldoutStatus& status) {
  return {{"rows", status.plan.rows},
          {"policy", status.data.policy.string()},
          {"table", status.data.table},
          {"asked", status.asked},
          {"questions_left", status.questions_left},
          {"disagreements_left", status.disagreements_left},
          {"tolerance", status.plan.tolerance},
          {"confidence", status.plan.confidence},
          {"bound", adaptive::to_string(status.plan.bound)},
          {"width_if_it_agrees", status.agreeing_width},
          {"width_if_not", status.own_width},
          {"epsilon", status.epsilon},
          {"neighbors", "replace_one"}};
}

std::string status_text(const session::HoldoutStatus& status) {
  return fmt::format(
      "  left      {} questions, {} disagreements ({} asked)\n"
      "  interval  of the next answer: +-{} if training and holdout agree within {}, else +-{}\n"
      "  valid     all intervals together with {}% confidence, by {}\n"
      "  cost      epsilon {} for all answers together, one of {} rows exchanged\n",
      status.questions_left, status.disagreements_left, status.asked,
      format_rounded(status.agreeing_width, 4), format_rounded(status.plan.tolerance, 4),
      format_rounded(status.own_width, 4), format_rounded(status.plan.confidence * 100, 6),
      adaptive::to_string(status.plan.bound), format_rounded(status.epsilon, 6), status.plan.rows);
}

void show(const StateArguments& given, const Json& json, const std::string& text) {
  print_text(given.format == "json" ? json.dump(2) + "\n" : text);
}

void create_holdout(const StateArguments& given) {
  const adaptive::HoldoutGoal goal{.rows = 0,  // the table's
                                   .questions = given.questions,
                                   .disagreements = given.disagreements,
                                   .confidence = Confidence(given.confidence),
                                   .epsilon = Epsilon(given.epsilon.value_or(0)),
                                   .tolerance = given.tolerance};
  const session::HoldoutStatus status = session::create_holdout(given.state, goal, data_of(given));
  show(given, status_json(status), status_text(status));
}

void ask_holdout(const StateArguments& given) {
  const session::HoldoutReply reply =
      session::ask_holdout(given.state, given.training_value, row_question(given.question));
  const adaptive::HoldoutAnswer& answer = reply.answer;
  Json json = interval(answer.value, answer.lower, answer.upper);
  json["agrees"] = answer.agrees;
  json["status"] = status_json(reply.status);
  show(given, json,
       fmt::format("  {}  from {} to {}  ({})\n{}", format_rounded(answer.value, 4),
                   format_rounded(answer.lower, 4), format_rounded(answer.upper, 4),
                   answer.agrees ? "the training value; the holdout agrees"
                                 : "the holdout's own; it does not agree with the training value",
                   status_text(reply.status)));
}

void holdout_status(const StateArguments& given) {
  const session::HoldoutStatus status = session::holdout_status(given.state);
  show(given, status_json(status), status_text(status));
}

void show_board(const StateArguments& given, const session::Leaderboard& board) {
  Json entries = Json::array();
  std::string text;
  for (const session::LeaderboardEntry& entry : board.entries) {
    entries.push_back({{"name", entry.name}, {"improved", entry.improved}, {"best", entry.best}});
    if (entry.improved) {
      text +=
          fmt::format("  {:<24} {}\n", printable(entry.name, 24), format_rounded(entry.best, 6));
    }
  }
  Json json = interval(board.standing.best, board.standing.lower, board.standing.upper);
  json["improved"] = board.standing.improved;
  json["step"] = board.plan.step;
  json["confidence"] = board.plan.confidence;
  json["private"] = board.plan.noise.has_value();
  json["submissions_left"] = board.submissions_left;
  json["entries"] = entries;
  text += fmt::format(
      "  best loss {}, the smallest true loss so far lies from {} to {} with {}% confidence; steps "
      "of {}, {} submissions left{}\n",
      format_rounded(board.standing.best, 6), format_rounded(board.standing.lower, 4),
      format_rounded(board.standing.upper, 4), format_rounded(board.plan.confidence * 100, 6),
      format_rounded(board.plan.step, 4), board.submissions_left,
      board.plan.noise ? "" : "; without noise: the labels are not protected");
  show(given, json, text);
}

void create_board(const StateArguments& given) {
  adaptive::LadderGoal goal{.rows = 0,  // the table's
                            .submissions = given.questions,
                            .confidence = Confidence(given.confidence)};
  if (given.epsilon) goal.epsilon = Epsilon(*given.epsilon);
  goal.improvements = given.improvements;
  goal.step = given.step;
  show_board(given, session::create_leaderboard(given.state, goal, data_of(given)));
}

void submit(const StateArguments& given) {
  show_board(given, session::submit(given.state, given.name, row_question(given.question)));
}

template <class Run>
std::pair<CLI::App*, std::shared_ptr<StateArguments>> add(CLI::App& parent, const char* name,
                                                          const char* text, Run run) {
  auto arguments = std::make_shared<StateArguments>();
  CLI::App* command = parent.add_subcommand(name, text);
  command->add_option("state", arguments->state, "the state file")->required();
  command->add_option("--format", arguments->format, "how to print")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([arguments, run] { run(*arguments); });
  return {command, arguments};
}

void add_payment(CLI::App& command, StateArguments& arguments, bool needed) {
  command.add_option("--policy", arguments.policy,
                     "the policy of the private rows, whose total it is paid from; it must protect "
                     "rows under replace_one");
  command.add_option("--table", arguments.table, "the policy's table, if it has several");
  command.add_option("--data", arguments.data)->group("");
  CLI::Option* epsilon =
      command.add_option("--epsilon", arguments.epsilon, "what all answers together may cost");
  if (needed) epsilon->required();
  command.add_option("--confidence", arguments.confidence, "that all intervals cover")
      ->capture_default_str();
}

CLI::App* parent_of(CLI::App& app, const char* name, const char* text) {
  CLI::App* parent = app.add_subcommand(name, text);
  parent->require_subcommand(1);
  return parent;
}

}  // namespace

void add_holdout(CLI::App& app) {
  CLI::App* holdout = parent_of(
      app, "holdout",
      "a holdout that can be asked thousands of times\n\nGive the value that a question has on "
      "your "
      "training data; the holdout says whether it agrees, and tells its own, with noise, where it "
      "does not. Every answer has an interval for the population that stays valid although you "
      "choose questions by earlier answers, and the rows are protected.\n\n"
      "Example: shoal holdout create h.state --policy holdout.toml --questions 1000 --epsilon 1");
  const auto [create, made] = add(*holdout, "create",
                                  "make a holdout of a file, and pay for it\n\n"
                                  "Example: shoal holdout create h.state --policy holdout.toml "
                                  "--questions 1000 --disagreements 20 --epsilon 1",
                                  create_holdout);
  add_payment(*create, *made, true);
  create->add_option("--questions", made->questions, "at most so many")->required();
  create->add_option("--disagreements", made->disagreements, "answers of its own, at most")
      ->capture_default_str();
  create->add_option("--tolerance", made->tolerance,
                     "how far apart training and holdout may be and agree (default: as near as the "
                     "noise allows)");
  const auto [ask, asked] = add(*holdout, "ask",
                                "ask for the mean of a function of a row\n\n"
                                "Example: shoal holdout ask h.state --train-value 0.91 "
                                "--predictions model.csv --label y",
                                ask_holdout);
  ask->add_option("--train-value", asked->training_value,
                  "the same mean over your training data, from 0 to 1")
      ->required();
  add_row_options(*ask, asked->question);
  add(*holdout, "status",
      "how many questions are left, and how wide the next interval is\n\n"
      "Example: shoal holdout status h.state",
      holdout_status);
}

void add_leaderboard(CLI::App& app) {
  CLI::App* board = parent_of(
      app, "leaderboard",
      "a leaderboard that does not climb by luck\n\nThe Ladder: it shows the best loss, in steps, "
      "and moves only for a submission that is better by more than a step.\n\n"
      "Example: shoal leaderboard submit board.state --predictions mine.csv --label y --name me");
  const auto [create, made] =
      add(*board, "create",
          "make a leaderboard over a file of labels\n\n"
          "Example: shoal leaderboard create board.state --policy labels.toml "
          "--submissions 1000 --epsilon 2",
          create_board);
  add_payment(*create, *made, false);
  create->add_option("--submissions", made->questions, "at most so many")->required();
  create->add_option("--improvements", made->improvements, "with --epsilon: told at most so often")
      ->capture_default_str();
  create->add_option("--step", made->step, "of the losses shown (default: the best)");
  const auto [submission, given] = add(*board, "submit",
                                       "submit predictions or losses\n\n"
                                       "Example: shoal leaderboard submit board.state "
                                       "--predictions mine.csv --label y --name me",
                                       submit);
  submission->add_option("--name", given->name, "of the submission")->required();
  add_row_options(*submission, given->question);
  add(*board, "show", "the leaderboard\n\nExample: shoal leaderboard show board.state",
      [](const StateArguments& shown) {
        show_board(shown, session::read_leaderboard(shown.state));
      });
}

}  // namespace shoal::cli
