// What an analyst does with a table, and what becomes visible: commands in a row, and for each how
// far two neighbours' outputs must agree.
#pragma once

#include "neighbors/table_pair.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace shoal::test {

// How two outputs are compared. Exit statuses and messages must be equal whatever stands here.
enum class Reading {
  exact,      // to the last byte, but for times of day
  numbers,    // numbers may differ: each counts as one sign
  answer,     // of shoal query --format json: values may differ by their sensitivity
  rows,       // the same where noise decides which rows show: HAVING, hidden groups, LIMIT
  lines,      // so many lines
  table,      // a CSV: the header and the number of lines
  model,      // of shoal train: weights and what was measured may differ
  chosen,     // the same where noise chose among candidates
  synthesis,  // of shoal synthesize: numbers, and what it notes about an estimated number of rows
  anything,   // noise decides it all
};

struct Step {
  std::vector<std::string> words;  // behind the program's name; POLICY and OWNER stand for paths
  Reading output = Reading::exact;
  std::string input = {};  // standard input
  // What an owner runs, who may be told about rows: only that neither side is ended by a signal.
  bool owner = false;
  // Noise decides whether it is answered or refused: where the two differ, nothing is compared.
  bool noise_decides = false;
  // The bits that are drawn must not depend on the rows.
  bool same_draws = false;
};

struct Scenario {
  std::string name;
  std::vector<Step> steps;
  std::map<std::string, std::string> inputs = {};  // public files of the analyst
  // Files in the owner's folder that are made of the rows, such as a stream of counts.
  std::map<std::string, std::string (*)(const Rows&)> derived = {};
  std::map<std::string, Reading> outputs = {};  // files that the steps write
  std::uint64_t seed = 1;                       // of the bits
  std::optional<std::uint64_t> fail_at = {};    // the draw that throws, on the second side alone
  bool may_fail = false;  // a settled failure is no finding: the test makes it happen
};

// One command of one side, as it was seen.
struct StepSeen {
  int status = 0;
  std::string output;
  std::string errors;
  std::uint64_t draws = 0;
};

struct Seen {
  int import_status = 0;  // of the owner's import, before the first question
  int signal = 0;         // that ended the process; 0: it ended by itself
  std::vector<StepSeen> steps;
  std::map<std::string, std::string> files;  // the analyst's folder: name and content
  std::vector<std::string> charges;          // every spend of the ledger, as text
  std::string log = {};                      // the owner's: told with a finding, never compared
};

// The first difference that noise does not explain, in words; none if there is none.
std::optional<std::string> difference(const Scenario& scenario, const TablePair& pair,
                                      const Seen& one, const Seen& other);

// The same where nothing is compared: what no side may show, such as a death or a failure after
// private data was read.
std::optional<std::string> defect(const Scenario& scenario, const Seen& seen);

}  // namespace shoal::test
