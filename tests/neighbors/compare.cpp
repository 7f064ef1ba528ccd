// What two neighbours' outputs may differ in.
#include "neighbors/scenario.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <regex>
#include <set>

namespace shoal::test {
namespace {

using Json = nlohmann::json;
using Found = std::optional<std::string>;

Found differ(const std::string& what, const std::string& one, const std::string& other) {
  if (one == other) return std::nullopt;
  std::size_t at = 0;
  while (at < one.size() && at < other.size() && one[at] == other[at]) ++at;
  const std::size_t from = at > 60 ? at - 60 : 0;
  return fmt::format("{} differs:\n  one:   ...{}\n  other: ...{}", what,
                     printable(one.substr(from), 300), printable(other.substr(from), 300));
}

// When something was asked is no secret.
std::string without_times(const std::string& text) {
  static const std::regex time(R"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?)");
  return std::regex_replace(text, time, "TIME");
}

// Each number is one sign, and columns that are padded to the widest are not.
std::string without_numbers(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const auto digit = [&](std::size_t i) {
      return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0;
    };
    const bool is_signed = text[at] == '-' && digit(at + 1);
    if (digit(at) || is_signed) {
      if (is_signed) ++at;
      while (digit(at) ||
             (at < text.size() && std::string_view(".,").find(text[at]) != std::string_view::npos &&
              digit(at + 1)) ||
             (at < text.size() && text[at] == 'e' && (digit(at + 1) || digit(at + 2)))) {
        ++at;
        if (text[at - 1] == 'e' && at < text.size() && !digit(at)) ++at;
      }
      result += '#';
    } else if (text[at] == ' ' && !result.empty() && result.back() == ' ') {
      ++at;
    } else {
      result += text[at++];
    }
  }
  return result;
}

// Which number of rows is estimated follows from what was released.
std::string without_estimate(const std::string& text) {
  static const std::regex note(R"( *note +the number of rows is estimated as[^\n]*\n)");
  return std::regex_replace(text, note, "");
}

double number_or(const Json& json, double otherwise) {
  return json.is_number() ? json.get<double>() : otherwise;
}

// The most by which neighbours' values of a column can differ under equal noise; none where that is
// no sum of its integers.
std::optional<double> most_change(const Json& column) {
  const std::string aggregate = column.at("aggregate");
  if (aggregate != "count" && aggregate != "sum" && aggregate != "units") return std::nullopt;
  double most = 0;
  for (const Json& noise : column.at("noise")) {
    const std::string mechanism = noise.at("mechanism");
    if (mechanism != "discrete_laplace" && mechanism != "discrete_gaussian") return std::nullopt;
    const std::string of = noise.at("statistic");
    double worth = noise.at("step").get<double>();
    if (aggregate == "sum" && (of == "rows" || of.starts_with("values"))) {
      const Json& bounds = column.at("bounds");
      worth *= std::fabs((bounds[0].get<double>() + bounds[1].get<double>()) / 2);
    }
    most += noise.at("sensitivity").get<double>() * worth;
    // Bounds are widened to whole steps.
    if (aggregate == "sum") most += 4 * noise.at("step").get<double>();
  }
  return most + 1e-9;
}

Found differ_cells(const Json& column, const Json& one, const Json& other) {
  const std::string what = "a cell of " + column.at("name").get<std::string>();
  if (column.at("aggregate") == "key") return differ(what, one.dump(), other.dump());
  if (one.type() != other.type() && !(one.is_number() && other.is_number()))
    return differ(what, one.dump(), other.dump());
  if (!one.is_object()) return std::nullopt;
  const auto most = most_change(column);
  if (!most) return std::nullopt;
  const double change = std::fabs(number_or(one.at("value"), 0) - number_or(other.at("value"), 0));
  if (change <= *most) return std::nullopt;
  return fmt::format("{} moved by {}, and its sensitivity is {}: {} and {}", what, change, *most,
                     one.dump(), other.dump());
}

Found differ_answers(const std::string& what, const std::string& one, const std::string& other,
                     bool same_rows) {
  Json a = Json::parse(one, nullptr, false);
  Json b = Json::parse(other, nullptr, false);
  if (a.is_discarded() || b.is_discarded() || !a.contains("rows") || !b.contains("rows"))
    return differ(what, one, other);
  const Json rows_a = a["rows"], rows_b = b["rows"];
  a.erase("rows"), b.erase("rows");
  // An answer of one row has it once more beside its columns.
  for (Json* json : {&a, &b}) {
    for (Json& column : (*json)["columns"]) {
      for (const char* name : {"value", "lower", "upper"}) column.erase(name);
    }
  }
  if (a.contains("found") && b.contains("found") && a["found"] != b["found"]) {
    // Noise found other bounds: what follows from them is another question's.
    for (Json* json : {&a, &b}) {
      for (Json& found : (*json)["found"]) found = {found.at("of"), found.at("epsilon")};
      for (Json& column : (*json)["columns"]) column = {column.at("name"), column.at("aggregate")};
    }
    same_rows = false;
  }
  if (auto found = differ(what + " without its rows", a.dump(), b.dump())) return found;
  if (!same_rows) return std::nullopt;
  if (rows_a.size() != rows_b.size())
    return fmt::format("{} has {} rows and {}", what, rows_a.size(), rows_b.size());
  for (std::size_t row = 0; row < rows_a.size(); ++row) {
    for (std::size_t i = 0; i < a["columns"].size(); ++i) {
      if (auto found = differ_cells(a["columns"][i], rows_a[row].at(i), rows_b[row].at(i)))
        return what + ", row " + std::to_string(row + 1) + ": " + *found;
    }
  }
  return std::nullopt;
}

std::string model_shape(const std::string& text, bool chosen) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return text;
  json["weights"] = json["weights"].size();
  if (chosen) json.erase("l2");
  if (json.contains("held_out")) {
    Json names = Json::array();
    for (const auto& [name, value] : json["held_out"].items()) names.push_back(name);
    json["held_out"] = names;
  }
  return json.dump();
}

std::string line_count(const std::string& text) {
  return std::to_string(std::count(text.begin(), text.end(), '\n'));
}

std::string table_shape(const std::string& text) {
  return text.substr(0, text.find('\n') + 1) + line_count(text);
}

Found differ_as(Reading reading, const std::string& what, const std::string& one,
                const std::string& other) {
  switch (reading) {
    case Reading::exact:
      return differ(what, without_times(one), without_times(other));
    case Reading::numbers:
      return differ(what, without_numbers(one), without_numbers(other));
    case Reading::synthesis:
      return differ(what, without_numbers(without_estimate(one)),
                    without_numbers(without_estimate(other)));
    case Reading::answer:
    case Reading::rows:
      return differ_answers(what, one, other, reading == Reading::answer);
    case Reading::lines:
      return differ("the number of lines of " + what, line_count(one), line_count(other));
    case Reading::table:
      return differ(what, table_shape(one), table_shape(other));
    case Reading::model:
    case Reading::chosen:
      return differ(what, model_shape(one, reading == Reading::chosen),
                    model_shape(other, reading == Reading::chosen));
    case Reading::anything:
      break;
  }
  return std::nullopt;
}

std::string in_words(const Step& step) {
  return fmt::format("shoal {}", fmt::join(step.words, " "));
}

bool is_answer_or_refusal(const StepSeen& seen) {
  return seen.status == 0 || seen.status == error_door(ErrorCode::refused_by_policy).exit_status;
}

Found differ_steps(const Step& step, const StepSeen& one, const StepSeen& other) {
  const std::string what = in_words(step);
  if (step.owner) return std::nullopt;
  if (one.status != other.status)
    return fmt::format("{} ends with {} and {}\n  one:   {}  other: {}", what, one.status,
                       other.status, printable(one.errors, 300), printable(other.errors, 300));
  if (auto found =
          differ("the message of " + what, without_times(one.errors), without_times(other.errors)))
    return found;
  if (auto found = differ_as(step.output, "the output of " + what, one.output, other.output))
    return found;
  if (step.same_draws && one.draws != other.draws)
    return fmt::format("{} draws {} times and {}", what, one.draws, other.draws);
  return std::nullopt;
}

Found differ_files(const Scenario& scenario, const Seen& one, const Seen& other) {
  std::set<std::string> names;
  for (const Seen* seen : {&one, &other}) {
    for (const auto& [name, text] : seen->files) names.insert(name);
  }
  for (const std::string& name : names) {
    const auto a = one.files.find(name), b = other.files.find(name);
    if (a == one.files.end() || b == other.files.end())
      return fmt::format("only one side has the file {}", name);
    const auto reading = scenario.outputs.find(name);
    if (auto found = differ_as(reading == scenario.outputs.end() ? Reading::exact : reading->second,
                               "the file " + name, a->second, b->second))
      return found;
  }
  return std::nullopt;
}

}  // namespace

Found difference(const Scenario& scenario, const TablePair&, const Seen& one, const Seen& other) {
  if (one.signal != other.signal)
    return fmt::format("ended by signal {} and {}", one.signal, other.signal);
  // The owner was told what is wrong with one of the tables, and nobody can ask about that one.
  if (one.import_status != other.import_status) return std::nullopt;
  for (std::size_t i = 0; i < std::min(one.steps.size(), other.steps.size()); ++i) {
    // Where the owner's own command was refused, no analyst asks yet.
    if (scenario.steps.at(i).owner && (one.steps[i].status != 0 || other.steps[i].status != 0))
      return std::nullopt;
    if (scenario.steps.at(i).noise_decides && is_answer_or_refusal(one.steps[i]) &&
        is_answer_or_refusal(other.steps[i]) && one.steps[i].status != other.steps[i].status)
      return std::nullopt;
    if (auto found = differ_steps(scenario.steps.at(i), one.steps[i], other.steps[i])) return found;
  }
  if (one.steps.size() != other.steps.size()) return "only one side came to its end";
  if (auto found = differ_files(scenario, one, other)) return found;
  return differ("what was charged", fmt::format("{}", fmt::join(one.charges, "\n")),
                fmt::format("{}", fmt::join(other.charges, "\n")));
}

Found defect(const Scenario& scenario, const Seen& seen) {
  if (seen.signal != 0) return fmt::format("ended by signal {}", seen.signal);
  if (scenario.may_fail) return std::nullopt;
  for (std::size_t i = 0; i < seen.steps.size(); ++i) {
    const int internal = error_door(ErrorCode::internal).exit_status;
    if (seen.steps[i].status == internal)
      return fmt::format("{} failed: {}\nthe owner's log: {}", in_words(scenario.steps.at(i)),
                         printable(seen.steps[i].errors, 300), seen.log);
  }
  return std::nullopt;
}

}  // namespace shoal::test
