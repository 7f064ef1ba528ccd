// shoal reopen: the owner looks at the failures that closed a data set, and opens it again.
#include "commands.hpp"
#include "streams.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/text.hpp>
#include <shoal/session/adaptive_files.hpp>
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
  std::string policy, state, note;
  bool yes = false, new_witness = false;
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

// Whether it is to be reopened.
bool looked_at(const std::vector<ledger::Failure>& failures, const std::filesystem::path& log,
               bool yes) {
  if (failures.empty()) {
    print_text("no request failed since the data set was last reopened; it is open\n");
    return false;
  }
  print_text(fmt::format("{} request{} failed since the data set was last opened:\n{}{}",
                         failures.size(), failures.size() == 1 ? "" : "s", failures_text(failures),
                         log_text(log, failures.front().time)));
  if (yes) return true;
  if (::isatty(STDIN_FILENO) != 1) {
    throw Error(ErrorCode::invalid_argument,
                "reopening needs a yes: run it in a terminal, or confirm in advance");
  }
  if (confirmed()) return true;
  print_text("it stays closed\n");
  return false;
}

void reopen(const ReopenArguments& arguments) {
  constexpr const char* kReopened = "the data set is open again; the ledger has recorded it\n";
  if (!arguments.state.empty()) {
    const session::ClosedState closed = session::state_failures(arguments.state);
    if (!looked_at(closed.failures, closed.log, arguments.yes)) return;
    session::reopen_state(arguments.state, arguments.note);
    return print_text(kReopened);
  }
  if (arguments.policy.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "name the policy, or, for a stream that no policy names, its --state");
  }
  session::Session session(arguments.policy);
  if (arguments.new_witness) {
    session.renew_witnesses();
    return print_text("the witnesses are there again, and know the ledger as it is now\n");
  }
  if (!looked_at(session.failures(), session.policy().owner_log(), arguments.yes)) return;
  session.reopen(arguments.note);
  print_text(kReopened);
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
  command->add_option("policy", arguments->policy, "the policy file");
  command->add_option("--state", arguments->state,
                      "instead of a policy: the state of a watched stream");
  command->add_option("--note", arguments->note, "what you found; the ledger keeps it");
  command->add_flag("--yes", arguments->yes, "reopen without asking");
  command->add_flag("--new-witness", arguments->new_witness,
                    "make lost or damaged witnesses anew, only if you know that the ledger is the "
                    "newest; reopens nothing");
  command->callback([arguments] { reopen(*arguments); });
}

}  // namespace shoal::cli
