// Answers: values with their error intervals, what they cost and what that protects. Never a bare
// number.
#pragma once

#include <shoal/catalog/grid.hpp>
#include <shoal/plan/present.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::session {

// The noise in one of the integers behind a value.
struct AnswerNoise {
  std::string statistic;  // "rows", "values of age", "sum of age", "centred sum of age"
  std::string mechanism;  // its JSON name
  double scale = 0;       // in 1 of the integer
  double sensitivity = 0;
  double step = 1;  // what 1 of the integer is worth: a grid step, or the square of one
  bool operator==(const AnswerNoise&) const = default;
};

struct AnswerColumn {
  std::string name;
  std::string aggregate;  // "count", "sum", "average", ...; "key"; "expression"
  std::string type = "real";
  std::optional<catalog::Bounds> bounds = std::nullopt;  // values were clamped to them
  std::vector<AnswerNoise> noise = {};
  bool operator==(const AnswerColumn&) const = default;
};

using AnswerRow = std::vector<plan::Cell>;

// That groups may be missing, where their keys are not public.
struct HiddenGroups {
  double even_chance = 0;      // a group of so many units shows as often as not
  long long min_units = 1;     // smaller ones never show
  std::string selection = {};  // its JSON name
  bool operator==(const HiddenGroups&) const = default;
};

// Something that the question left to be found.
struct AnswerFound {
  std::string of;                                        // a value, or keys
  std::optional<catalog::Bounds> bounds = std::nullopt;  // either of the two
  std::optional<std::int64_t> max_groups = std::nullopt;
  double epsilon = 0;  // part of this answer's cost; 0 if it had been found before
  bool operator==(const AnswerFound&) const = default;
};

struct Answer {
  std::vector<AnswerColumn> columns;
  std::vector<AnswerRow> rows;  // one cell a column
  std::optional<HiddenGroups> hidden;
  std::vector<AnswerFound> found = {};
  double confidence = 0.95;
  double epsilon = 0;  // of this answer
  double delta = 0;
  double rho = 0;
  std::string unit;        // what is protected, in words
  std::string neighbors;   // the neighbouring relation
  std::string statement;   // the guarantee in one sentence
  std::int64_t entry = 0;  // in the ledger
  std::string key;         // asking again with it gives this answer again, unpaid
  // It was given before, and nothing was spent on it now. Not stored: each door says it.
  bool repeated = false;
  bool operator==(const Answer&) const = default;
};

// Of a cell that is a number; throws invalid_argument for another.
double number(const plan::Cell& cell);

// The text that the ledger stores and every door sends: one line of JSON.
std::string to_json(const Answer& answer);

// Throws corrupt if the text is no answer. The stored failure of a question throws internal again.
Answer answer_from_json(std::string_view text);

// What is stored, and thrown again at each retry, for a question that failed after data was
// touched.
std::string failure_json(std::string_view message);

}  // namespace shoal::session
