// shoal reopen: the owner looks at the failures that closed a data set, and opens it again.
#include "commands.hpp"
#include "streams.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/text.hpp>
#include <shoal/session/session.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <deque>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>

namespace shoal::cli {
namespace {

constexpr std::size_t kShownLines = 20;

struct ReopenArguments {
  std::string policy, note;
  bool yes = false;
};

std::string failures_text(const std::vector<ledger::Failure>& failures) {
  std::string text;
  for (const ledger::Failure& failure : failures) {
    text += fmt::format("  entry {}  {}  {}\n", failure.entry, failure.time,
                        printable(failure.description, 200));
  }
  return text;
}

// The end of the owner's log, from the first failure on. Times are written alike, so they compare
// as texts.
std::string log_text(const std::filesystem::path& log, const std::string& since) {
  std::string whole;
  try {
    whole = read_file(log);
  } catch (const Error& error) {
    return fmt::format("the owner's log cannot be read: {}\n", error.what());
  }
  std::deque<std::string> lines;
  std::istringstream stream(whole);
  for (std::string line; std::getline(stream, line);) {
    if (line.substr(0, since.size()) < since) continue;
    lines.push_back(printable(line, 1000));
    if (lines.size() > kShownLines) lines.pop_front();
  }
  std::string text = fmt::format("\nwhat {} says since then:\n", log.string());
  for (const std::string& line : lines) text += "  " + line + "\n";
  if (lines.empty()) text += "  nothing; it may have been moved, or could not be written\n";
  return text;
}

bool confirmed() {
  fmt::print(
      "\nreopen the data set? Whatever made a request fail can make the next one fail. [y/N] ");
  std::fflush(stdout);
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "yes");
}

void reopen(const ReopenArguments& arguments) {
  session::Session session(arguments.policy);
  const std::vector<ledger::Failure> failures = session.failures();
  if (failures.empty()) {
    print_text("no request failed since the data set was last reopened; it is open\n");
    return;
  }
  print_text(fmt::format("{} request{} failed since the data set was last opened:\n{}{}",
                         failures.size(), failures.size() == 1 ? "" : "s", failures_text(failures),
                         log_text(session.policy().owner_log(), failures.front().time)));
  if (!arguments.yes) {
    if (::isatty(STDIN_FILENO) != 1) {
      throw Error(ErrorCode::invalid_argument,
                  "reopening needs a yes: run it in a terminal, or confirm in advance");
    }
    if (!confirmed()) {
      print_text("it stays closed\n");
      return;
    }
  }
  session.reopen(arguments.note);
  print_text("the data set is open again; the ledger has recorded it\n");
}

}  // namespace

void add_reopen(CLI::App& app) {
  auto arguments = std::make_shared<ReopenArguments>();
  CLI::App* command = app.add_subcommand(
      "reopen",
      "open a data set again after a failure\n\nFor the owner. When a request fails after private "
      "data was read, the data set closes to everybody, because a failure can depend on one "
      "person. This command shows what failed and what the owner's log says about it, asks, and "
      "records the reopening in the ledger.\n\n"
      "Example: shoal reopen people.toml");
  command->add_option("policy", arguments->policy, "the policy file")->required();
  command->add_option("--note", arguments->note, "what you found; the ledger keeps it");
  command->add_flag("--yes", arguments->yes, "reopen without asking");
  command->callback([arguments] { reopen(*arguments); });
}

}  // namespace shoal::cli
