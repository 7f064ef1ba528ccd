// shoal shell: one question after the other. On a terminal with a prompt, history and completion;
// otherwise it reads statements from standard input and prints their answers.
//
// An error ends a statement, never the shell. It has no privacy logic: each statement is asked as
// `shoal query` would ask it.
#include "ask.hpp"
#include "budget_text.hpp"
#include "commands.hpp"
#include "failures.hpp"
#include "line_editor.hpp"
#include "policy_words.hpp"
#include "statements.hpp"
#include "streams.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <memory>

namespace shoal::cli {
namespace {

constexpr const char* kHelp = R"(Questions end with a semicolon and may go over several lines:
  SELECT state, COUNT(*) FROM people GROUP BY state;

  \cost <question>    what it would cost and how far off it may be; reads no data, spends nothing
  \budget             what was spent and what is left
  \schema [table]     the tables, or the columns of one
  \epsilon [number]   what each question from now on may cost, unless it says so itself
  \help               this text
  \quit               leave; so does Ctrl-D

The same question again gives the same answer and costs nothing. Ctrl-C gives up what is typed; while
a question runs it ends the program, and the question is spent.
)";

const std::vector<std::string> kCommands = {"\\cost",    "\\budget", "\\schema",
                                            "\\epsilon", "\\help",   "\\quit"};

struct ShellArguments {
  std::string policy;
  AskOptions options;
  bool no_history = false;
};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

class Shell {
 public:
  explicit Shell(const ShellArguments& arguments)
      : session_(arguments.policy), options_(arguments.options) {}

  const catalog::Policy& policy() const { return session_.policy(); }
  bool done() const { return done_; }
  // The exit status of the first error; 0 if there was none.
  int status() const { return status_; }

  void take_line(std::string_view line) {
    if (buffer_.idle() && trimmed(line).starts_with('\\')) {
      return guarded([&] { command(trimmed(line)); });
    }
    buffer_.add_line(line);
    while (const auto statement = buffer_.next()) run(*statement);
  }

  void finish() {
    if (const auto statement = buffer_.rest()) run(*statement);
  }

  void give_up() { buffer_.clear(); }

  std::string prompt() const {
    return buffer_.idle() ? "shoal> " : fmt::format("    {}> ", buffer_.open_mark());
  }

 private:
  template <typename Action>
  void guarded(const Action& action) {
    try {
      action();
    } catch (const EndWith&) {
      throw;
    } catch (const ReaderGone&) {
      throw;
    } catch (...) {
      const int status = report_failure();
      if (status_ == 0) status_ = status;
    }
  }

  void run(const std::string& statement) {
    // A free line after each table: answers follow upon each other.
    guarded([&] {
      print_text(ask(session_, statement, options_) + (options_.format == "table" ? "\n" : ""));
    });
  }

  void command(std::string_view line) {
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    const std::string name(line.substr(0, end));
    std::string_view rest = trimmed(line.substr(end));
    if (name == "\\cost") return cost(rest);
    if (rest.ends_with(';')) rest = trimmed(rest.substr(0, rest.size() - 1));
    if (name == "\\budget") return print_text(budget_table(session_.budget()));
    if (name == "\\schema") {
      return print_text(rest.empty() ? schema_text(policy()) : schema_text(policy(), rest));
    }
    if (name == "\\epsilon") return set_epsilon(rest);
    if (name == "\\help") return print_text(kHelp);
    if (name == "\\quit") {
      done_ = true;
      return;
    }
    const auto meant = nearest_name(name, kCommands);
    throw Error(ErrorCode::invalid_argument,
                fmt::format("there is no command {}; {}", printable(name, 40),
                            meant ? fmt::format("did you mean {}?", *meant)
                                  : "\\help lists what there is"));
  }

  void cost(std::string_view sql) {
    if (sql.empty()) {
      throw Error(ErrorCode::invalid_argument,
                  "\\cost needs a question on the same line, such as \\cost SELECT COUNT(*) FROM "
                  "people");
    }
    print_text(explain(session_, std::string(sql), options_));
  }

  void set_epsilon(std::string_view text) {
    if (!text.empty()) {
      double value = 0;
      const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || stop != text.data() + text.size() ||
          !(value > 0 && value <= 1000)) {
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("epsilon is {}; it must be a number above 0 and at most 1000",
                                printable(text, 40)));
      }
      options_.epsilon = value;
    }
    const auto shown = options_.epsilon ? options_.epsilon : policy().query.epsilon;
    print_text(shown ? fmt::format("each question may cost epsilon {}\n", format_number(*shown))
                     : "each question has to say its epsilon; \\epsilon 0.1 sets one for all\n");
  }

  session::Session session_;
  AskOptions options_;
  StatementBuffer buffer_;
  bool done_ = false;
  int status_ = 0;
};

void talk(Shell& shell, const ShellArguments& arguments) {
  const PolicyWords words(shell.policy(), kCommands);
  LineEditor editor(arguments.no_history ? std::filesystem::path() : history_file(),
                    [&words](std::string_view before) { return words.complete(before); });
  print_text(fmt::format("shoal " SHOAL_VERSION ", {}. \\help lists the commands, \\quit leaves.\n",
                         printable(shell.policy().name, 60)));
  std::string line;
  while (!shell.done()) {
    const LineEditor::Outcome outcome = editor.read(shell.prompt(), line);
    if (outcome == LineEditor::Outcome::ended) return print_text("\n");
    if (outcome == LineEditor::Outcome::cancelled) {
      shell.give_up();
    } else {
      shell.take_line(line);
    }
  }
}

void work_through(Shell& shell) {
  LineReader lines("-", "questions", Printing::as_it_goes);
  while (!shell.done()) {
    const auto line = lines.next();
    if (!line) return shell.finish();
    shell.take_line(*line);
  }
}

void run(const ShellArguments& arguments) {
  Shell shell(arguments);
  if (::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1) return talk(shell, arguments);
  work_through(shell);
  if (shell.status() != 0) throw EndWith{shell.status()};
}

}  // namespace

void add_shell(CLI::App& app) {
  auto arguments = std::make_shared<ShellArguments>();
  CLI::App* command = app.add_subcommand(
      "shell",
      "ask one question after the other\n\nA prompt with history and completion; \\help there "
      "lists "
      "the commands. If standard input or output is no terminal, it reads questions, each ended by "
      "a semicolon, and prints their answers; an error does not stop it, and its exit status is "
      "that of the first.\n\n"
      "Example: shoal shell people.toml --epsilon 0.1");
  command->add_option("policy", arguments->policy, "the policy file")->required();
  add_cost_options(*command, arguments->options);
  command->add_option("--format", arguments->options.format, "how to print answers")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->capture_default_str();
  command->add_flag("--no-bars", arguments->options.no_bars,
                    "no pictures of intervals on a terminal");
  command->add_flag("--no-history", arguments->no_history, "neither read nor keep a history");
  command->callback([arguments] { run(*arguments); });
}

}  // namespace shoal::cli
