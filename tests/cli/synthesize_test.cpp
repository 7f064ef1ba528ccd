// shoal synthesize from outside. The program draws its own noise; at the epsilon used here a
// synthetic table misses the shares that are asked for with a chance far below 10^-6.
#include "support/seeded_source.hpp"
#include "support/shell.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

namespace shoal {
namespace {

using test::Ran;

class Synthesize : public testing::Test {
 protected:
  void SetUp() override {
    test::SeededSource bits(1);
    std::string rows = "id,age,weight,sex,rich\n";
    for (int i = 0; i < 4000; ++i) {
      const auto age = 20 + bits.next_bits(6);
      rows += std::to_string(i) + "," + std::to_string(age) + "," +
              std::to_string(40 + bits.next_bits(5)) + ".5" + (bits.next_bit() ? ",f," : ",m,") +
              (age + bits.next_bits(3) > 55 ? "yes\n" : "no\n");
    }
    write("people.csv", rows);
    write("people.toml",
          "[dataset]\nname = \"people\"\nlineage = \"people-1\"\n"
          "[privacy]\nunit = \"row\"\nneighbors = \"add_remove\"\n"
          "[budget]\nepsilon = 20\ndelta = 1e-5\nledger = \"l.db\"\n"
          "[table.people]\nsource = \"people.csv\"\nformat = \"csv\"\n"
          "[table.people.column.id]\ntype = \"integer\"\nqueryable = false\n"
          "[table.people.column.age]\ntype = \"integer\"\nbounds = [0, 100]\n"
          "[table.people.column.weight]\ntype = \"real\"\nbounds = [0, 100]\nnulls = false\n"
          "[table.people.column.sex]\ntype = \"text\"\ncategories = [\"f\", \"m\"]\n"
          "[table.people.column.rich]\ntype = \"text\"\ncategories = [\"no\", \"yes\"]\n");
  }

  void write(const std::string& name, const std::string& text) {
    write_file_durably(folder_ / name, text, IfExists::replace);
  }
  Ran shell(const std::string& line) { return test::run_shell(folder_.path(), line); }

  test::TemporaryFolder folder_;
};

constexpr const char* kCommand = "shoal synthesize people.toml --epsilon 8 --delta 1e-6 --bins 10";

TEST_F(Synthesize, ExplainsAndMakesRecordsAndAReport) {
  const Ran plan = shell(std::string(kCommand) + " --explain");
  EXPECT_EQ(plan.status, 0) << plan.errors;
  EXPECT_NE(plan.output.find("method     graded"), std::string::npos);
  EXPECT_NE(plan.output.find("sigma"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "l.db"));
  const Ran json_plan = shell(std::string(kCommand) + " --explain --format json");
  EXPECT_EQ(nlohmann::json::parse(json_plan.output).at("workload").size(), 4u);

  const Ran made = shell(std::string(kCommand) + " --rows 1000 -o s.csv --report r.html");
  EXPECT_EQ(made.status, 0) << made.errors;
  EXPECT_NE(made.output.find("differentially private"), std::string::npos) << made.output;
  const std::string records = read_file(folder_ / "s.csv");
  EXPECT_TRUE(records.starts_with("age,weight,sex,rich\n"));
  EXPECT_EQ(std::count(records.begin(), records.end(), '\n'), 1001);
  const std::string html = read_file(folder_ / "r.html");
  EXPECT_NE(html.find("<svg"), std::string::npos);
  EXPECT_NE(html.find("weight"), std::string::npos);

  // Again: the same model, unpaid; other files, another number of rows.
  const Ran again = shell(std::string(kCommand) + " -o t.csv --format json");
  EXPECT_EQ(again.status, 0) << again.errors;
  const auto json = nlohmann::json::parse(again.output);
  EXPECT_NEAR(json.at("rows").get<double>(), 4000, 200);
  EXPECT_NEAR(json.at("estimated_rows").get<double>(), 4000, 200);
  EXPECT_EQ(nlohmann::json::parse(shell("shoal budget people.toml --format json").output)
                .at("spends")
                .size(),
            1u);
}

TEST_F(Synthesize, RefusesBeforeAnythingIsSpent) {
  for (const char* wrong :
       {"--rows 0 -o s.csv",
        "",
        "-o nowhere/s.csv",
        "-o people.csv",
        "-o s.csv --report s.csv",
        "-o s.csv --workload age*hight",
        "-o s.csv --columns id,age",
        "-o s.csv --method magic",
        "-o s.csv --method mwem",
        "-o s.csv --method mwem --public-rows 4000 --bins 5000",
        "-o s.csv --method blr --public-rows 4000 --size 50",
        "-o s.csv --model-megabytes 0.0001",
        "-o s.csv --bins 0",
        "-o s.csv --check 0.9",
        "-o s.csv --check 1e-28",
        "-o s.csv --method mwem --public-rows 4000 --columns sex --check 0.1",
        "-o s.csv --public-rows 10",
        "-o s.csv --rounds 10",
        "-o s.csv --size 10",
        "-o s.csv --model-megabytes 1024",
        "--explain --rows 0",
        "--explain --check 1e-28",
        "--explain --method blr --columns sex --public-rows 4000 --size 100000000000"}) {
    const Ran ran = shell(std::string(kCommand) + " " + wrong);
    EXPECT_NE(ran.status, 0) << wrong;
    EXPECT_TRUE(ran.output.empty()) << wrong;
    EXPECT_FALSE(ran.errors.empty()) << wrong;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "l.db")) << wrong;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "s.csv")) << wrong;
  }
}

// A file that could not be written whole is not there, under no name; the next try costs nothing.
TEST_F(Synthesize, AFailedWriteLeavesNothingBehind) {
  const std::string command = std::string(kCommand) + " --method mst --columns sex,rich ";
  ASSERT_EQ(shell(command + "-o s.csv --rows 10").status, 0);
  const auto files = [&] {
    using std::filesystem::directory_iterator;
    return std::distance(directory_iterator(folder_.path()), directory_iterator());
  };
  const auto before = files();
  const Ran full = shell("trap '' XFSZ; ulimit -f 2048; " + command + "-o t.csv --rows 2000000");
  EXPECT_NE(full.status, 0);
  EXPECT_NE(full.errors.find("t.csv cannot be written"), std::string::npos) << full.errors;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "t.csv"));
  EXPECT_EQ(files(), before);
  EXPECT_EQ(shell(command + "-o t.csv --rows 10").status, 0);
}

TEST_F(Synthesize, ErrorsAreMeasuredIfPaidFor) {
  const std::string command = std::string(kCommand) + " --check 0.1";
  EXPECT_NE(shell(command + " --explain").output.find("check      0.1 of the cost"),
            std::string::npos);
  const Ran made = shell(command + " -o s.csv --report r.html");
  EXPECT_EQ(made.status, 0) << made.errors;
  EXPECT_NE(made.output.find("on average, between"), std::string::npos) << made.output;
  EXPECT_NE(read_file(folder_ / "r.html").find("Measured error"), std::string::npos);
  const auto json = nlohmann::json::parse(shell(command + " -o t.csv --format json").output);
  EXPECT_LE(json.at("mean_error").at("lower"), json.at("mean_error").at("value"));
  EXPECT_LE(json.at("mean_error").at("value"), json.at("mean_error").at("upper"));
  ASSERT_EQ(json.at("errors").size(), json.at("workload").size());
  for (const auto& one : json.at("errors")) {
    EXPECT_TRUE(one.at("predicted").is_null() || one.at("predicted") > 0);
    EXPECT_LE(one.at("measured").at("lower"), one.at("measured").at("upper"));
  }
}

TEST_F(Synthesize, SmallDomainsNeedNoDelta) {
  const std::string command =
      "shoal synthesize people.toml --epsilon 2 --delta 0 --columns sex,rich --public-rows 4000 ";
  const Ran mwem = shell(command + "-o s.csv --rows 100");
  EXPECT_EQ(mwem.status, 0) << mwem.errors;
  EXPECT_NE(mwem.output.find("mwem"), std::string::npos);
  const Ran again = shell(command + "-o u.csv --rows 100 --format json");
  const auto json = nlohmann::json::parse(again.output);
  EXPECT_TRUE(json.at("steps").at(0).at("cell").at("sex").is_string());
  EXPECT_LT(json.at("error_bound"), 1);
  const Ran blr = shell(command + "--method blr --size 8 --workload all-1way -o t.csv --rows 8");
  EXPECT_EQ(blr.status, 0) << blr.errors;
  const std::string drawn = read_file(folder_ / "t.csv");
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), '\n'), 9);
}

}  // namespace
}  // namespace shoal
