// Runs a text test: questions, and what must come of them. Blocks are separated by blank lines:
//
//   # a comment
//   fixture <name>    people (the unit is a row) or hospital (a person); people until said
//   otherwise policy            the lines up to the blank one replace lines of its policy: old =>
//   new plan <options>    a question, then ---- and the lines that the plan's description consists
//   of refuse <code>     a question, then ---- and texts that the message must contain, one a line
//   answer <options>  a question, then ---- and for one row lines of "name exact", for several
//   lines
//                     of "key/key: name exact name exact": each exact value lies in its interval,
//                     and there are no more rows. Noise comes from a fixed seed
//
// Options: epsilon=0.5 delta=1e-6 confidence=0.9 noise=gaussian.
//
// Further arguments of the program say where the tables are and how they are read; what must come
// of a question is the same: engine=postgresql, rows=..., threads=..., memory=...
// (text_setting.hpp).
#include "query/query_fixtures.hpp"
#include "query/text_setting.hpp"
#include "support/seeded_source.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/text.hpp>
#include <shoal/plan/present.hpp>
#include <shoal/session/session.hpp>
#include <shoal/sql/printer.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

namespace shoal {
namespace {

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

std::string noise_text(const mechanism::GroupedNoise& noise, std::size_t index) {
  const auto& statistic = noise.statistics[index];
  if (!statistic.noise) return std::string(mechanism::name(*noise.selection));
  return fmt::format("{} {}", mechanism::name(*statistic.noise),
                     format_rounded(mechanism::noise_scale(*statistic.noise), 6));
}

std::vector<std::string> describe_grouping(const plan::Plan& plan, std::size_t at) {
  static constexpr const char* kKinds[] = {"units",   "rows",    "values",   "sum",
                                           "centred", "squares", "distinct", "leaves"};
  const plan::PlannedGrouping& grouping = plan.groupings[at];
  const mechanism::GroupedNoise& noise = plan.noises[at];
  std::vector<std::string> lines;
  if (!grouping.keys.empty()) {
    std::string line =
        fmt::format("group by {} of at most {}", grouping.keys.size(), noise.max_groups);
    if (noise.selection) {
      line += fmt::format(" hidden {} even at {}", mechanism::name(*noise.selection),
                          mechanism::even_chance_size(*noise.selection));
    } else {
      line += grouping.key_query ? " keys of a table"
                                 : fmt::format(" public {}", grouping.public_keys.size());
    }
    lines.push_back(line);
  }
  for (std::size_t i = 0; i < noise.statistics.size(); ++i) {
    const catalog::Statistic& statistic = plan.statistics[i];
    const bool exchange = noise.single && plan.neighbors == Neighbors::replace_one;
    lines.push_back(
        fmt::format("{}{} sensitivity {} step {} {}", kKinds[static_cast<int>(statistic.kind)],
                    statistic.column.empty() ? "" : " " + statistic.column,
                    exchange ? exchange_reach(noise.statistics[i]) : reach(noise.statistics[i]),
                    format_number(statistic.range.grid.step()), noise_text(noise, i)));
  }
  for (const mechanism::GroupQuantiles& quantiles : noise.quantiles) {
    const auto* tree = std::get_if<mechanism::TreeQuantiles>(&quantiles.method);
    lines.push_back(fmt::format(
        "{} over {} steps",
        tree ? mechanism::describe(tree->tree)
             : mechanism::describe(
                   std::get<std::vector<mechanism::QuantileChoice>>(quantiles.method).front()),
        mechanism::leaf_count(quantiles.range)));
  }
  return lines;
}

std::vector<std::string> describe(const plan::Plan& plan) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < plan.groupings.size(); ++i) {
    for (std::string& line : describe_grouping(plan, i)) lines.push_back(std::move(line));
  }
  for (const plan::PresentedColumn& column : plan::presented_columns(plan)) {
    std::string what = column.is_key ? "key" : "expression";
    if (column.bare) {
      const auto& error = plan.aggregates[column.aggregates.front()].expected_error;
      what = error ? "error " + format_rounded(*error, 4) : "error unknown";
    }
    lines.push_back(fmt::format("output {} {}", column.name, what));
  }
  if (plan.rows.where)
    lines.push_back("filter " + sql::print(*plan.rows.where, sql::Dialect::shoal));
  if (plan.has_unit) lines.push_back(fmt::format("person rows {}", plan.rows_per_group));
  return lines;
}

class Runner {
 public:
  Runner(std::string path, test::TextSetting setting)
      : path_(std::move(path)), setting_(std::move(setting)) {
    use(test::people_fixture());
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

  void use(test::QueryFixture fixture) {
    fixture_ = std::move(fixture);
    policy_ = fixture_.policy;
    setting_.place_tables(fixture_, folder_.path());
  }

  // Every question gets a fresh budget, so that tests do not depend on each other.
  session::Session fresh_session() {
    for (const char* ending : {".ledger", ".ledger-wal", ".ledger-shm"}) {
      std::filesystem::remove(folder_ / (fixture_.name + ending));
    }
    for (const auto& file : fixture_.files) {
      std::filesystem::remove(folder_ / (file.first + ".shoal"));
    }
    const std::filesystem::path path = folder_ / (fixture_.name + ".toml");
    write_file_durably(path, setting_.apply(policy_), IfExists::replace);
    return session::Session(path);
  }

  void run_block(const Block& block) {
    ++blocks_;
    try {
      if (block.command == "fixture") return change_fixture(block);
      if (block.command == "policy") return change_policy(block);
      if (block.command == "refuse") return run_refusal(block);
      if (block.command == "plan") return run_plan(block);
      if (block.command == "answer") return run_answer(block);
      fail(block, "unknown command " + block.command);
    } catch (const Error& error) {
      fail(block, fmt::format("{}: {}", error_door(error.code()).name, error.what()));
      if (error.code() == ErrorCode::internal) show_owners_log();
    }
  }

  // The rows are the test's own, so why a question failed is no secret here.
  void show_owners_log() const {
    for (const auto& file : std::filesystem::directory_iterator(folder_.path())) {
      if (file.path().extension() == ".log") fmt::print(stderr, "  {}\n", read_file(file.path()));
    }
  }

  void change_fixture(const Block& block) {
    if (block.options == std::vector<std::string>{"hospital"}) return use(test::hospital_fixture());
    if (block.options == std::vector<std::string>{"people"}) return use(test::people_fixture());
    fail(block, "no such fixture");
  }

  void change_policy(const Block& block) {
    policy_ = fixture_.policy;
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
    session::Session session = fresh_session();
    try {
      const plan::QueryOptions options = read_options(block.options);
      session.explain(block.question, options);
      // What public tables say against it comes to light when they are read.
      session.query(block.question, options, "refused");
      fail(block, "was not refused");
    } catch (const Error& error) {
      if (!session.budget().spends.empty()) fail(block, "was charged");
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
    const bool grouped = std::any_of(answer.columns.begin(), answer.columns.end(), is_key);
    if (!grouped && answer.columns.size() != block.expected.size()) {
      return fail(block, "another number of columns");
    }
    if (!grouped) {
      for (std::size_t i = 0; i < answer.columns.size(); ++i) {
        std::istringstream words(block.expected[i]);
        check_cell(block, answer.columns[i], answer.rows.at(0)[i], words);
      }
      return;
    }
    if (answer.rows.size() != block.expected.size()) {
      fail(block, fmt::format("has {} rows", answer.rows.size()));
    }
    for (const std::string& line : block.expected) check_row(block, answer, line);
  }

  static bool is_key(const session::AnswerColumn& column) { return column.aggregate == "key"; }

  static std::string key_text(const session::Answer& answer, const session::AnswerRow& row) {
    std::string text;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!is_key(answer.columns[i])) continue;
      if (!text.empty()) text += "/";
      if (const auto* word = std::get_if<std::string>(&row[i].value)) text += *word;
      if (const auto* value = std::get_if<double>(&row[i].value)) text += format_number(*value);
      if (const auto* flag = std::get_if<bool>(&row[i].value)) text += *flag ? "true" : "false";
      if (std::holds_alternative<std::monostate>(row[i].value)) text += "NULL";
    }
    return text;
  }

  void check_row(const Block& block, const session::Answer& answer, const std::string& line) {
    const std::size_t colon = line.find(": ");
    for (const session::AnswerRow& row : answer.rows) {
      if (key_text(answer, row) != line.substr(0, colon)) continue;
      std::istringstream words(line.substr(colon + 2));
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (!is_key(answer.columns[i])) check_cell(block, answer.columns[i], row[i], words);
      }
      return;
    }
    fail(block, "has no row " + line);
  }

  void check_cell(const Block& block, const session::AnswerColumn& column, const plan::Cell& cell,
                  std::istringstream& words) {
    std::string name;
    double exact = 0;
    words >> name >> exact;
    // The exact value is of real data; the grid may round each row by half a step.
    const double slack = column.noise.at(0).step * 1000;
    const double value = session::number(cell);
    if (column.name != name || !cell.lower || !cell.upper || *cell.lower > exact + slack ||
        *cell.upper < exact - slack) {
      fail(block, fmt::format("{} is {} in [{}, {}], expected {} {}", column.name, value,
                              cell.lower.value_or(NAN), cell.upper.value_or(NAN), name, exact));
    }
  }

  std::string path_;
  test::TextSetting setting_;
  test::QueryFixture fixture_;
  std::string policy_;
  test::TemporaryFolder folder_;
  int blocks_ = 0;
  int failures_ = 0;
};

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  shoal::test::TextSetting setting;
  for (int i = 2; i < argc; ++i) {
    if (!setting.read(argv[i])) return 2;
  }
  return shoal::Runner(argv[1], setting).run();
}
