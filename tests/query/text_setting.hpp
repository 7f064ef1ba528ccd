// Where the tables of the text tests are and how they are read. Questions, plans, refusals and
// answers must be the same under each.
#pragma once

#include "query/query_fixtures.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace shoal::test {

class TextSetting {
 public:
  // False if the argument is none of
  //   engine=postgresql  the tables are on a PostgreSQL server of the program's own
  //   rows=clustered     the policy says that rows are ordered by person, and they are
  //   rows=scattered     they are not, and the policy does not say so
  //   rows=misdeclared   they are not, and the policy says that they are
  //   threads=<count>, memory=<size>  the [engine] section of the policy
  bool read(std::string_view argument);

  // Writes the fixture's files, or fills the server's tables.
  void place_tables(QueryFixture fixture, const std::filesystem::path& folder) const;

  // The policy with the tables where they are.
  std::string apply(std::string policy) const;

 private:
  bool on_server_ = false;
  bool declared_ = false;   // as clustered
  bool scattered_ = false;  // the rows are
  std::string threads_;
  std::string memory_;
};

}  // namespace shoal::test
