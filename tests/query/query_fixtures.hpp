// The tables and policies that text tests ask about, made by rules so that exact values can be
// worked out.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace shoal::test {

struct QueryFixture {
  std::string name;                                        // of the policy file and the ledger
  std::string policy;                                      // its text
  std::vector<std::pair<std::string, std::string>> files;  // name, contents
};

// people: the unit is a row. 1,000 rows: ids 0 to 9 with 100 rows each, ages 0 to 99, every seventh
// age empty.
QueryFixture people_fixture();

// hospital: the unit is a person. 600 patients; patient p has 1 + p % 5 visits, each with a bed for
// 1 + p % 3 nights; four public regions, of which the last has no patient.
QueryFixture hospital_fixture();

}  // namespace shoal::test
