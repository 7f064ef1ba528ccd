// Runs a text test: questions, and what must come of them. Format, blocks separated by blank lines:
//
//   # a comment
//   policy            the lines up to the blank one replace lines of the fixture's policy: old =>
//   new plan <options>    a question, then ---- and lines that the plan's description must consist
//   of refuse <code>     a question, then ---- and texts that the message must contain, one a line
//   answer <options>  a question, then ---- and "name exact": the exact value lies in the interval,
//   and the value is not
//                     further from it than half the interval. Noise comes from a fixed seed
//
// Options: epsilon=0.5 delta=1e-6 confidence=0.9 noise=gaussian. The fixture is written below.
#include "support/seeded_source.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/text.hpp>
#include <shoal/session/session.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

namespace shoal {
namespace {

constexpr const char* kPolicy = R"([dataset]
name = "people"
lineage = "people-test"
[privacy]
unit = "row"
neighbors = "add_remove"
[budget]
epsilon = 1000
delta = 1e-3
ledger = "people.ledger"
[table.people]
source = "people.csv"
format = "csv"
[table.people.column.id]
type = "integer"
[table.people.column.state]
type = "text"
categories = ["TX", "CA"]
[table.people.column.age]
type = "integer"
bounds = [0, 100]
[table.people.column.height]
type = "real"
bounds = [0, 2.5]
nulls = false
[table.people.column.wage]
type = "real"
[table.people.column.active]
type = "boolean"
[table.people.column.born]
type = "date"
[table.people.column.seen]
type = "timestamp"
[table.people.column.secret]
type = "text"
queryable = false
)";

// 1,000 rows by a rule: 10 people with 100 rows each, ages 0 to 99, every seventh age empty.
std::string people() {
  std::string text = "id,state,age,height,wage,active,born,seen,secret\n";
  for (int i = 0; i < 1000; ++i) {
    text +=
        fmt::format("{},{},{},{},{},{},19{:02}-01-15,2024-03-{:02} 08:30:00,s{}\n", i % 10,
                    i % 4 == 0 ? "TX" : "CA", i % 7 == 0 ? "" : std::to_string(i / 10),
                    1.0 + (i % 3) * 0.25, i, i % 2 == 0 ? "true" : "false", i % 100, 1 + i % 28, i);
  }
  return text;
}

struct Block {
  int line = 0;
  std::string command;
  std::vector<std::string> options;
  std::string question;
  std::vector<std::string> expected;
};

std::vector<Block> read_blocks(const std::string& path) {
  std::istringstream file(read_file(path));
  std::vector<Block> blocks;
  bool inside = false;
  bool behind_dashes = false;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.starts_with('#')) continue;
    if (line.empty()) {
      inside = behind_dashes = false;
    } else if (!inside) {
      std::istringstream words(line);
      Block& block = blocks.emplace_back();
      block.line = number;
      words >> block.command;
      for (std::string word; words >> word;) block.options.push_back(word);
      inside = true;
    } else if (line == "----") {
      behind_dashes = true;
    } else if (behind_dashes || blocks.back().command == "policy") {
      blocks.back().expected.push_back(line);
    } else {
      blocks.back().question += (blocks.back().question.empty() ? "" : "\n") + line;
    }
  }
  return blocks;
}

plan::QueryOptions read_options(const std::vector<std::string>& words) {
  plan::QueryOptions options;
  options.epsilon = 1;
  for (const std::string& word : words) {
    const std::size_t at = word.find('=');
    if (at == std::string::npos) continue;
    const std::string name = word.substr(0, at);
    const std::string value = word.substr(at + 1);
    if (name == "epsilon") options.epsilon = std::stod(value);
    if (name == "delta") options.delta = std::stod(value);
    if (name == "confidence") options.confidence = std::stod(value);
    if (name == "noise") {
      options.noise = value == "gaussian"  ? plan::NoiseChoice::gaussian
                      : value == "laplace" ? plan::NoiseChoice::laplace
                                           : plan::NoiseChoice::automatic;
    }
  }
  return options;
}

std::vector<std::string> describe(const plan::Plan& plan) {
  static constexpr const char* kKinds[] = {"rows", "values", "sum", "centred"};
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < plan.statistics.size(); ++i) {
    lines.push_back(fmt::format(
        "{}{} sensitivity {} step {} {} {}", kKinds[static_cast<int>(plan.statistics[i].kind)],
        plan.statistics[i].column.empty() ? "" : " " + plan.statistics[i].column,
        plan.noises[i].sensitivity.steps(), format_number(plan.statistics[i].range.grid.step()),
        mechanism::name(plan.noises[i].mechanism),
        format_rounded(mechanism::noise_scale(plan.noises[i].mechanism), 6)));
  }
  for (const plan::PlannedOutput& output : plan.outputs) {
    lines.push_back(
        fmt::format("output {} error {}", output.name, format_rounded(output.expected_error, 4)));
  }
  if (plan.filter) lines.push_back("filter " + sql::print(*plan.filter, sql::Dialect::duckdb));
  if (!plan.person_column.empty())
    lines.push_back(fmt::format("person {} rows {}", plan.person_column, plan.rows_per_unit));
  return lines;
}

class Runner {
 public:
  explicit Runner(std::string path) : path_(std::move(path)) {
    write_file_durably(folder_ / "people.csv", people(), IfExists::refuse);
  }

  int run() {
    for (const Block& block : read_blocks(path_)) run_block(block);
    if (blocks_ == 0) fail({}, "the file has no blocks");
    fmt::print("{} blocks, {} failures\n", blocks_, failures_);
    return failures_ == 0 ? 0 : 1;
  }

 private:
  void fail(const Block& block, const std::string& why) {
    ++failures_;
    fmt::print("{}:{}: {}\n  {}\n", path_, block.line, block.question, why);
  }

  // Every question gets a fresh budget, so that tests do not depend on each other.
  session::Session fresh_session() {
    for (const char* name :
         {"people.ledger", "people.ledger-wal", "people.ledger-shm", "people.csv.shoal"}) {
      std::filesystem::remove(folder_ / name);
    }
    write_file_durably(folder_ / "people.toml", policy_, IfExists::replace);
    return session::Session(folder_ / "people.toml");
  }

  void run_block(const Block& block) {
    ++blocks_;
    try {
      if (block.command == "policy") return change_policy(block);
      if (block.command == "refuse") return run_refusal(block);
      if (block.command == "plan") return run_plan(block);
      if (block.command == "answer") return run_answer(block);
      fail(block, "unknown command " + block.command);
    } catch (const Error& error) {
      fail(block, fmt::format("{}: {}", error_door(error.code()).name, error.what()));
    }
  }

  void change_policy(const Block& block) {
    policy_ = kPolicy;
    for (const std::string& change : block.expected) {
      const std::size_t arrow = change.find(" => ");
      const std::string from = change.substr(0, arrow);
      std::string to = arrow == std::string::npos ? "" : change.substr(arrow + 4);
      for (std::size_t at = to.find("\\n"); at != std::string::npos; at = to.find("\\n"))
        to.replace(at, 2, "\n");
      const std::size_t found = policy_.find(from);
      if (arrow == std::string::npos || found == std::string::npos)
        return fail(block, "no such line: " + change);
      policy_.replace(found, from.size(), to);
    }
    fresh_session();  // must parse
  }

  void run_refusal(const Block& block) {
    try {
      fresh_session().explain(block.question, read_options(block.options));
      fail(block, "was not refused");
    } catch (const Error& error) {
      if (block.options.empty() || error_door(error.code()).name != block.options[0]) {
        fail(block,
             fmt::format("was refused with {}: {}", error_door(error.code()).name, error.what()));
      }
      for (const std::string& text : block.expected) {
        if (std::string(error.what()).find(text) == std::string::npos) {
          fail(block, fmt::format("expected \"{}\" in: {}", text, error.what()));
        }
      }
      if (block.expected.empty()) fail(block, "says nothing that the message must contain");
    }
  }

  void run_plan(const Block& block) {
    const std::vector<std::string> lines =
        describe(fresh_session().explain(block.question, read_options(block.options)));
    if (lines == block.expected) return;
    std::string text = "gave:";
    for (const std::string& line : lines) text += "\n" + line;
    fail(block, text);
  }

  void run_answer(const Block& block) {
    test::SeededSource bits(7);
    const session::Answer answer =
        fresh_session().query(block.question, read_options(block.options), "key", bits);
    if (answer.columns.size() != block.expected.size())
      return fail(block, "another number of columns");
    for (std::size_t i = 0; i < answer.columns.size(); ++i) {
      const session::AnswerColumn& column = answer.columns[i];
      std::istringstream words(block.expected[i]);
      std::string name;
      double exact = 0;
      words >> name >> exact;
      // The exact value is of real data; the grid may round each row by half a step.
      const double slack = column.noise[0].step * 1000;
      if (column.name != name || column.lower > exact + slack || column.upper < exact - slack ||
          column.value < column.lower || column.value > column.upper) {
        fail(block, fmt::format("{} is {} in [{}, {}], expected {}", column.name, column.value,
                                column.lower, column.upper, block.expected[i]));
      }
    }
  }

  std::string path_;
  std::string policy_ = kPolicy;
  test::TemporaryFolder folder_;
  int blocks_ = 0;
  int failures_ = 0;
};

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  return shoal::Runner(argv[1]).run();
}
