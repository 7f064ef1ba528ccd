// Shoal's accountant on cases that its peers are given too (peers.py, report.py).
//
// Reads cases from the standard input, a line of JSON each: case, neighbors, delta, event, and what
// else report.py wants. Prints a line of JSON each: case, contestant, and either error, or lower,
// upper (null if infinite), engine, seconds (processor time of the whole call, from the event to
// epsilon; the least of many), first_seconds (the first call of this process, when nothing can have
// been kept from an earlier one) and repetitions.
#include "noise/measure.hpp"

#include <shoal/base/neighbors.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/privacy/event.hpp>
#include <shoal/privacy/profile.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace shoal::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLeastRepetitions = 5;
constexpr std::size_t kMostRepetitions = 1000;
constexpr double kRepetitionSeconds = 3;  // what all of them together may take, but for the least

// Of all threads: work that is handed to another one counts as well.
double process_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Case {
  privacy::Event event;
  Neighbors neighbors;
  Delta delta;
};

Case read_case(const Json& line) {
  return {privacy::event_from_json(line.at("event").dump()),
          parse_neighbors(line.at("neighbors").get<std::string>()),
          Delta(line.at("delta").get<double>())};
}

// Builds the profile anew each time, as whoever asks once has to.
double time_call(const Case& given, privacy::Certified& answer) {
  const double start = process_seconds();
  answer = privacy::Profile(given.event, given.neighbors).epsilon(given.delta);
  keep(&answer);
  return process_seconds() - start;
}

Json measure(const Case& given) {
  privacy::Certified answer;
  const double first = time_call(given, answer);
  std::vector<double> times;
  double total = 0;
  while (times.size() < kLeastRepetitions ||
         (times.size() < kMostRepetitions && total < kRepetitionSeconds)) {
    times.push_back(time_call(given, answer));
    total += times.back();
  }
  return {{"lower", answer.bounds.lower},
          {"upper", answer.bounds.upper},
          {"engine", privacy::to_string(answer.engine)},
          {"seconds", least_plausible(times)},
          {"first_seconds", first},
          {"repetitions", times.size()}};
}

void compare(const std::string& text) {
  const Json line = Json::parse(text);
  Json result{{"case", line.at("case")}, {"contestant", "Shoal"}};
  try {
    result.update(measure(read_case(line)));
  } catch (const std::exception& error) {
    result["error"] = error.what();
  }
  fmt::print("{}\n", result.dump());
  std::fflush(stdout);
}

}  // namespace
}  // namespace shoal::bench

int main() {
  try {
    for (std::string line; std::getline(std::cin, line);) shoal::bench::compare(line);
  } catch (const std::exception& error) {
    fmt::print(stderr, "compare_accounting: {}\n", error.what());
    return 2;
  }
  return 0;
}
