// shoal account and shoal plot, from outside. Both are deterministic: no test here depends on
// chance.
#include "support/shell.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace shoal {
namespace {

using Json = nlohmann::ordered_json;

using test::Ran;

class Account : public testing::Test {
 protected:
  Account() {
    write("gaussian.json",
          R"({"repeat": {"count": 4, "event": {"gaussian": {"sigma": 2, "sensitivity": 1}}}})");
    write("pure.json", R"({"repeat": {"count": 100, "event": {"pure": {"epsilon": 0.1}}}})");
    write("told.json", R"({"name_and_shame": {"delta": 0.1}})");
    write("sample.json",
          R"({"sampled_without_replacement": {"population": 100, "sample": 10, "event":
             {"gaussian": {"sigma": 2, "sensitivity": 1}}}})");
    write("zcdp.json", R"({"zcdp": {"rho": 0.1}})");
    write("broken.json", "{\"pure\": {\"epsilon\": 1}");
    write("unknown.json", R"({"compose": [{"pure": {"epsilon": 1}}, {"magic": {}}]})");
  }

  void write(const std::string& name, const std::string& text) {
    write_file_durably(folder_ / name, text, IfExists::replace);
  }

  Ran shell(const std::string& line) { return test::run_shell(folder_.path(), line); }

  Json json(const std::string& line) {
    const Ran ran = shell(line + " --format json");
    EXPECT_EQ(ran.status, 0) << line << "\n" << ran.errors;
    return Json::parse(ran.output);
  }

  void expect_error(const std::string& line, ErrorCode code, const std::string& fragment) {
    const Ran ran = shell(line);
    EXPECT_EQ(ran.status, error_door(code).exit_status) << line << "\n" << ran.errors;
    EXPECT_EQ(ran.output, "") << line;
    const std::string start = "shoal: " + std::string(error_door(code).name) + ": ";
    EXPECT_TRUE(ran.errors.starts_with(start)) << line << "\n" << ran.errors;
    EXPECT_NE(ran.errors.find(fragment), std::string::npos) << line << "\n" << ran.errors;
  }

  test::TemporaryFolder folder_;
};

// Four steps of mu 1/2 are one of mu 1: delta(1) = Phi(-1/2) - e Phi(-3/2).
TEST_F(Account, DeltaOfGaussianNoise) {
  const Json answer = json("shoal account gaussian.json --epsilon 1");
  const double exact =
      std::erfc(0.5 / std::sqrt(2.0)) / 2 - std::exp(1.0) * std::erfc(1.5 / std::sqrt(2.0)) / 2;
  EXPECT_LE(answer["delta"]["lower"].get<double>(), exact * (1 + 1e-13));
  EXPECT_GE(answer["delta"]["upper"].get<double>(), exact * (1 - 1e-13));
  EXPECT_NEAR(answer["delta"]["upper"].get<double>(), exact, 1e-9);
  EXPECT_EQ(answer["epsilon"], 1.0);
}

TEST_F(Account, JsonHasExactlyTheseKeys) {
  const auto keys = [](const Json& object) {
    std::vector<std::string> names;
    for (const auto& [name, value] : object.items()) names.push_back(name);
    return names;
  };
  const Json epsilon = json("shoal account gaussian.json --delta 1e-6");
  ASSERT_EQ(keys(epsilon), (std::vector<std::string>{"epsilon", "delta", "neighbors", "method"}));
  EXPECT_EQ(keys(epsilon["epsilon"]), (std::vector<std::string>{"lower", "upper"}));
  EXPECT_EQ(epsilon["delta"], 1e-6);
  EXPECT_EQ(epsilon["neighbors"], "add_remove");
  EXPECT_EQ(epsilon["method"], "closed_form");
  const Json delta = json("shoal account gaussian.json --epsilon 1 --neighbors replace_one");
  ASSERT_EQ(keys(delta), (std::vector<std::string>{"delta", "epsilon", "neighbors", "method"}));
  EXPECT_EQ(delta["neighbors"], "replace_one");
  EXPECT_GT(delta["delta"]["lower"].get<double>(), 0.3);
}

TEST_F(Account, InfinityIsAString) {
  const Json answer = json("shoal account told.json --delta 0.01");
  EXPECT_EQ(answer["epsilon"]["upper"], "infinity");
  EXPECT_EQ(answer["epsilon"]["lower"], "infinity");
  const Ran text = shell("shoal account told.json --delta 0.01");
  EXPECT_EQ(text.status, 0);
  EXPECT_NE(text.output.find("at most infinity"), std::string::npos) << text.output;
  EXPECT_NE(text.output.find("larger delta"), std::string::npos) << text.output;
}

TEST_F(Account, TextSaysWhatItMeans) {
  const Ran ran = shell("shoal account gaussian.json --delta 1e-6");
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_EQ(ran.errors, "");
  for (const char* part : {"epsilon    at most 4.88", "at least 4.88", "closed_form", "add_remove",
                           "at most 69.15%", "blind guessing gives 50%", "1 in 1,000"}) {
    EXPECT_NE(ran.output.find(part), std::string::npos) << part << "\n" << ran.output;
  }
}

// Printed numbers are rounded outward.
TEST_F(Account, TextRoundsToTheSafeSide) {
  const Json exact = json("shoal account pure.json --delta 1e-6");
  const Ran ran = shell("shoal account pure.json --delta 1e-6");
  const auto number_after = [&](const std::string& words) {
    const std::size_t at = ran.output.find(words);
    EXPECT_NE(at, std::string::npos) << ran.output;
    return std::stod(ran.output.substr(at + words.size()));
  };
  EXPECT_GE(number_after("at most "), exact["epsilon"]["upper"].get<double>() * (1 - 1e-13));
  EXPECT_LE(number_after("at least "), exact["epsilon"]["lower"].get<double>() * (1 + 1e-13));
  EXPECT_NEAR(number_after("at most "), exact["epsilon"]["upper"].get<double>(), 1e-4);
}

TEST_F(Account, StandardInput) {
  const Json file = json("shoal account pure.json --delta 1e-6");
  const Json piped = json("cat pure.json | shoal account - --delta 1e-6");
  EXPECT_EQ(file, piped);
}

TEST_F(Account, CompareHasAllMethods) {
  const Json answer = json("shoal account pure.json --delta 1e-5 --compare");
  EXPECT_EQ(answer["delta"], 1e-5);
  ASSERT_EQ(answer["methods"].size(), 10u);
  const auto named = [&](const std::string& name) {
    for (const Json& row : answer["methods"]) {
      if (row["name"] == name) return row;
    }
    return Json();
  };
  EXPECT_NEAR(named("basic")["epsilon"].get<double>(), 10, 1e-9);
  // Independently computed: the two forms of advanced composition, and the optimal one.
  EXPECT_NEAR(named("advanced")["epsilon"].get<double>(), 5.29810966176688, 1e-6);
  EXPECT_NEAR(named("dwork_rothblum_vadhan")["epsilon"].get<double>(), 5.85023509294456, 1e-6);
  EXPECT_NEAR(named("certified")["epsilon"].get<double>(), 4.30679137251651, 1e-6);
  EXPECT_EQ(named("certified")["kind"], "bracket");
  EXPECT_TRUE(named("certified").contains("lower"));
  EXPECT_TRUE(named("gdp_central_limit")["epsilon"].is_null());
  const Ran text = shell("shoal account pure.json --delta 1e-5 --compare");
  for (const char* part : {"basic", "5.29811", "5.85024", "not applicable", "upper bound"}) {
    EXPECT_NE(text.output.find(part), std::string::npos) << part << "\n" << text.output;
  }
}

TEST_F(Account, Refusals) {
  expect_error("shoal account missing.json --delta 1e-6", ErrorCode::not_found, "missing.json");
  expect_error("shoal account . --delta 1e-6", ErrorCode::invalid_argument, "folder");
  expect_error("shoal account broken.json --delta 1e-6", ErrorCode::parse_error, "broken.json: ");
  expect_error("shoal account unknown.json --delta 1e-6", ErrorCode::parse_error, "/compose/1");
  expect_error("echo | shoal account - --delta 1e-6", ErrorCode::parse_error, "standard input");
  expect_error("shoal account pure.json", ErrorCode::invalid_argument, "neither --delta");
  expect_error("shoal account pure.json --delta 1e-6 --epsilon 1", ErrorCode::invalid_argument,
               "both --delta");
  expect_error("shoal account pure.json --delta 1", ErrorCode::invalid_argument, "delta");
  expect_error("shoal account pure.json --delta=-0.1", ErrorCode::invalid_argument, "delta");
  expect_error("shoal account pure.json --delta much", ErrorCode::invalid_argument, "much");
  expect_error("shoal account pure.json --epsilon=-1", ErrorCode::invalid_argument, "epsilon");
  expect_error("shoal account pure.json --epsilon inf", ErrorCode::invalid_argument, "epsilon");
  expect_error("shoal account pure.json --delta 1e-6 --neighbors both", ErrorCode::invalid_argument,
               "both");
  expect_error("shoal account pure.json --delta 1e-6 --tolerance 1", ErrorCode::invalid_argument,
               "tolerance");
  expect_error("shoal account sample.json --delta 1e-6", ErrorCode::unsupported, "replace_one");
  expect_error("shoal account", ErrorCode::invalid_argument, "event");
  EXPECT_EQ(shell("shoal account sample.json --delta 1e-6 --neighbors replace_one").status, 0);
}

TEST_F(Account, HelpShowsExamples) {
  for (const std::string command : {"account", "plot"}) {
    const Ran ran = shell("shoal " + command + " --help");
    EXPECT_EQ(ran.status, 0);
    EXPECT_NE(ran.output.find("Example: shoal " + command), std::string::npos) << ran.output;
    EXPECT_NE(ran.output.find("no ledger"), std::string::npos) << ran.output;
    EXPECT_NE(shell("shoal --help").output.find(command), std::string::npos);
  }
}

TEST_F(Account, PlotsEveryView) {
  for (const std::string what : {"profile", "tradeoff", "loss"}) {
    const Ran ran =
        shell("shoal plot gaussian.json pure.json --what " + what + " --output " + what + ".svg");
    EXPECT_EQ(ran.status, 0) << ran.errors;
    EXPECT_EQ(ran.output, "wrote " + what + ".svg\n");
    const std::string svg = read_file(folder_ / (what + ".svg"));
    EXPECT_TRUE(svg.starts_with("<svg") || svg.starts_with("<?xml")) << svg.substr(0, 80);
    for (const char* part : {"gaussian", "pure", "add_remove"}) {
      EXPECT_NE(svg.find(part), std::string::npos) << what << " " << part;
    }
    EXPECT_LT(svg.size(), 30000u) << what;
  }
  EXPECT_NE(read_file(folder_ / "tradeoff.svg").find("blind guessing"), std::string::npos);
  // The same events give the same picture.
  EXPECT_EQ(shell("shoal plot gaussian.json pure.json --what loss -o again.svg").status, 0);
  EXPECT_EQ(read_file(folder_ / "again.svg"), read_file(folder_ / "loss.svg"));
}

TEST_F(Account, PlotLabelsAndReplaces) {
  EXPECT_EQ(shell("shoal plot pure.json zcdp.json -o a.svg --label one --label two").status, 0);
  const std::string first = read_file(folder_ / "a.svg");
  EXPECT_NE(first.find(">one<"), std::string::npos);
  EXPECT_EQ(first.find("pure"), std::string::npos);
  expect_error("shoal plot pure.json -o a.svg", ErrorCode::conflict, "--replace");
  EXPECT_EQ(read_file(folder_ / "a.svg"), first);
  EXPECT_EQ(shell("shoal plot pure.json -o a.svg --replace --neighbors replace_one").status, 0);
  EXPECT_NE(read_file(folder_ / "a.svg").find("replace_one"), std::string::npos);
}

TEST_F(Account, PlotRefusals) {
  expect_error("shoal plot pure.json", ErrorCode::invalid_argument, "output");
  expect_error("shoal plot -o a.svg", ErrorCode::invalid_argument, "events");
  expect_error("shoal plot missing.json -o a.svg", ErrorCode::not_found, "missing.json");
  expect_error("shoal plot pure.json -o a.svg --what nothing", ErrorCode::invalid_argument,
               "nothing");
  expect_error("shoal plot pure.json -o a.svg --label a --label b", ErrorCode::invalid_argument,
               "labels");
  expect_error("shoal plot pure.json -o a.svg --delta-range 1 0.1", ErrorCode::invalid_argument,
               "delta-range");
  expect_error("shoal plot zcdp.json -o a.svg --what loss", ErrorCode::unsupported, "zcdp");
  expect_error("shoal plot pure.json -o none/a.svg", ErrorCode::io, "none/a.svg");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.svg"));
}

}  // namespace
}  // namespace shoal
