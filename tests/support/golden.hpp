// Golden values: reads tests/golden/<name>.csv, numbers only. Lines that start with # say where
// they come from.
#pragma once

#include "support/paths.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace shoal::test {

// The rows of a file, as the texts between commas.
inline std::vector<std::vector<std::string>> read_golden_text(const std::string& name) {
  std::ifstream file(source_folder() + "/tests/golden/" + name + ".csv");
  if (!file) throw std::runtime_error("no golden file " + name);
  std::vector<std::vector<std::string>> rows;
  std::string line;
  bool header = true;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    if (std::exchange(header, false)) continue;
    std::vector<std::string>& row = rows.emplace_back();
    std::stringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) row.push_back(field);
  }
  if (rows.empty()) throw std::runtime_error("the golden file " + name + " has no rows");
  return rows;
}

// The same where every field is a number.
inline std::vector<std::vector<double>> read_golden(const std::string& name) {
  std::vector<std::vector<double>> rows;
  for (const std::vector<std::string>& fields : read_golden_text(name)) {
    std::vector<double>& row = rows.emplace_back();
    for (const std::string& field : fields) row.push_back(std::stod(field));
  }
  return rows;
}

}  // namespace shoal::test
