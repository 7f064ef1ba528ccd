#include "neighbors/run_side.hpp"

#include "neighbors/scripted_bits.hpp"
#include "neighbors/table_files.hpp"
#include "program.hpp"
#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/session/session.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <pty.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

namespace shoal::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Nothing here takes a second; what takes a minute hangs, and SIGALRM shows it.
constexpr unsigned kSeconds = 120;

std::string read_back(int descriptor) {
  const off_t size = ::lseek(descriptor, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(size), '\0');
  if (::pread(descriptor, text.data(), text.size(), 0) != size) throw std::runtime_error("pread");
  return text;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at))
    text.replace(at, what.size(), by), at += by.size();
  return text;
}

// Ends as a shell would say: 128 and the signal.
int wait_for_status(pid_t child) {
  const ChildEnd end = wait_for_child(child);
  return end.signal == 0 ? end.status : 128 + end.signal;
}

int run_process(const Way& way, std::vector<char*>& arguments) {
  return wait_for_status(start_child([&] {
    ::execv(way.program.c_str(), arguments.data());
    return 127;
  }));
}

// What the terminal shows goes to standard output.
int run_on_terminal(const Way& way, std::vector<char*>& arguments) {
  int terminal = -1;
  winsize size{};
  size.ws_row = 50;
  size.ws_col = 120;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    ::execv(way.program.c_str(), arguments.data());
    ::_exit(127);
  }
  std::array<char, 4096> block{};
  for (ssize_t count = 0; (count = ::read(terminal, block.data(), block.size())) > 0;)
    if (::write(STDOUT_FILENO, block.data(), static_cast<std::size_t>(count)) < 0) break;
  ::close(terminal);
  return wait_for_status(child);
}

int run_words(const Way& way, std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  if (way.terminal) return run_on_terminal(way, arguments);
  if (!way.program.empty()) return run_process(way, arguments);
  const int status = cli::run_program(static_cast<int>(words.size()), arguments.data());
  std::fflush(nullptr);
  return status;
}

// In the analyst's folder, beside the owner's.
StepSeen run_step(const Step& step, const Way& way) {
  const int input = ::memfd_create("in", MFD_CLOEXEC);
  const int output = ::memfd_create("out", MFD_CLOEXEC);
  const int errors = ::memfd_create("err", MFD_CLOEXEC);
  if (::write(input, step.input.data(), step.input.size()) < 0) throw std::runtime_error("write");
  ::lseek(input, 0, SEEK_SET);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  std::vector<std::string> words = {"shoal"};
  for (const std::string& word : step.words) {
    words.push_back(
        replaced(replaced(word, "POLICY", "../owner/people.toml"), "OWNER", "../owner"));
  }
  const std::uint64_t before = scripted_bits::draws();
  StepSeen seen;
  seen.status = run_words(way, words);
  seen.draws = scripted_bits::draws() - before;
  // Each side lies in a folder of its own.
  const std::string folder = fs::canonical("..").string();
  seen.output = replaced(read_back(output), folder, "FOLDER");
  seen.errors = replaced(read_back(errors), folder, "FOLDER");
  for (const int descriptor : {input, output, errors}) ::close(descriptor);
  return seen;
}

std::string charge_text(const ledger::Spend& spend) {
  const privacy::Charge& charge = spend.charge;
  return fmt::format("{} {} {} {} epsilon {} rho {} delta {}", spend.state, spend.request_key,
                     spend.description, privacy::to_json(spend.event),
                     charge.epsilon_units ? std::to_string(*charge.epsilon_units) : "none",
                     charge.rho_units, charge.delta_units);
}

std::vector<std::string> charges_of(const fs::path& policy) {
  std::vector<std::string> charges;
  if (!fs::exists(policy.parent_path() / "people.ledger")) return charges;
  for (const ledger::Spend& spend : session::Session(policy).budget().spends)
    charges.push_back(charge_text(spend));
  return charges;
}

std::map<std::string, std::string> files_of(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    files[fs::relative(entry.path(), folder).string()] =
        std::string(std::istreambuf_iterator<char>(file), {});
  }
  return files;
}

// What the child has seen goes to a file that outlives it, after every step.
void write_seen(int descriptor, const Seen& seen) {
  Json json = {{"import_status", seen.import_status},
               {"charges", seen.charges},
               {"files", seen.files},
               {"log", seen.log},
               {"steps", Json::array()}};
  for (const StepSeen& step : seen.steps)
    json["steps"].push_back({step.status, step.output, step.errors, step.draws});
  const std::vector<std::uint8_t> bytes = Json::to_msgpack(json);
  if (::ftruncate(descriptor, 0) != 0 ||
      ::pwrite(descriptor, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("cannot write what was seen");
}

Seen read_seen(int descriptor) {
  const std::string bytes = read_back(descriptor);
  Seen seen;
  if (bytes.empty()) return seen;
  const Json json = Json::from_msgpack(bytes);
  seen.charges = json.at("charges").get<std::vector<std::string>>();
  seen.files = json.at("files").get<std::map<std::string, std::string>>();
  seen.import_status = json.at("import_status").get<int>();
  seen.log = json.at("log").get<std::string>();
  for (const Json& step : json.at("steps"))
    seen.steps.push_back({step[0].get<int>(), step[1].get<std::string>(),
                          step[2].get<std::string>(), step[3].get<std::uint64_t>()});
  return seen;
}

void write_inputs(const Scenario& scenario, const fs::path& folder) {
  for (const auto& [name, text] : scenario.inputs)
    std::ofstream(folder / name, std::ios::binary) << text;
}

// What an owner does once before the first question: the rows are settled. What it says is for the
// owner alone. Where nothing needs it, it is refused.
const Step kOwnersImport = {.words = {"import", "POLICY"}, .owner = true};

// The child's standard error is a command's; this one's is the test's.
int report_to(int errors, const std::exception& error) {
  ::dup2(errors, STDERR_FILENO);
  fmt::print(stderr, "a side failed: {}\n", error.what());
  return 1;
}

int run_in_folder(const Scenario& scenario, const TablePair& pair, bool second, const Way& way,
                  const fs::path& folder, int report) {
  ::alarm(kSeconds);
  if (pair.setting.format != catalog::SourceFormat::postgresql)
    write_table_file(pair.setting, pair.side(second), folder / "owner");
  for (const auto& [name, make] : scenario.derived)
    std::ofstream(folder / "owner" / name, std::ios::binary) << make(pair.side(second));
  if (::chdir((folder / "analyst").c_str()) != 0) return 1;
  const int imported = run_step(kOwnersImport, {.program = way.program}).status;
  ::setenv("SHOAL_SCRIPT_SEED", std::to_string(scenario.seed).c_str(), 1);
  scripted_bits::begin(scenario.seed, second ? scenario.fail_at : std::nullopt);
  Seen seen;
  seen.import_status = imported;
  for (const Step& step : scenario.steps) {
    seen.steps.push_back(run_step(step, way));
    write_seen(report, seen);
  }
  seen.charges = charges_of("../owner/people.toml");
  seen.files = files_of(".");
  for (const auto& [name, text] : files_of("../owner")) {
    if (name.ends_with(".log")) seen.log += text;
  }
  write_seen(report, seen);
  return 0;
}

}  // namespace

Seen run_side(const Scenario& scenario, const TablePair& pair, bool second, const Way& way) {
  const TemporaryFolder folder(Place::memory);
  fs::create_directory(folder / "owner");
  fs::create_directory(folder / "analyst");
  write_policy(pair.setting, folder / "owner");
  write_inputs(scenario, folder / "analyst");
  if (pair.setting.format == catalog::SourceFormat::postgresql)
    fill_server_table(pair.setting, pair.side(second));
  const int report = ::memfd_create("seen", 0);
  const ChildEnd end = run_in_child([&] {
    const int errors = ::dup(STDERR_FILENO);
    try {
      return run_in_folder(scenario, pair, second, way, folder.path(), report);
    } catch (const std::exception& error) {
      return report_to(errors, error);
    }
  });
  Seen seen = read_seen(report);
  ::close(report);
  seen.signal = end.signal;
  // The test itself failed, not the program.
  if (end.signal == 0 && end.status != 0)
    throw std::runtime_error(fmt::format("a side of {} could not be run", scenario.name));
  return seen;
}

std::optional<std::string> finding(const Scenario& scenario, const TablePair& pair,
                                   const Way& way) {
  const Seen one = run_side(scenario, pair, false, way);
  const Seen other = run_side(scenario, pair, true, way);
  if (auto found = difference(scenario, pair, one, other)) {
    const std::string log = one.log + other.log;
    return *found + (log.empty() ? "" : "\nthe owner's log: " + log);
  }
  if (auto found = defect(scenario, one)) return found;
  return defect(scenario, other);
}

}  // namespace shoal::test
