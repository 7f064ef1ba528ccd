// shoal calibrate, from outside: what it prints, in both formats, and how it refuses.
#include "support/shell.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

namespace shoal {
namespace {

using Json = nlohmann::json;

using test::Ran;

class Calibrate : public testing::Test {
 protected:
  Ran run(const std::string& arguments) {
    return test::run_shell(folder_.path(), "shoal calibrate " + arguments);
  }

  std::string text(const std::string& arguments) {
    const Ran ran = run(arguments);
    EXPECT_EQ(ran.status, 0) << arguments << "\n" << ran.errors;
    EXPECT_EQ(ran.errors, "");
    return ran.output;
  }

  Json json(const std::string& arguments) {
    return Json::parse(text(arguments + " --format json"));
  }

  test::TemporaryFolder folder_;
};

TEST_F(Calibrate, HelpShowsExamples) {
  EXPECT_NE(text("--help").find("Example: shoal calibrate gaussian"), std::string::npos);
  for (const std::string what : {"gaussian", "laplace", "count", "queries", "split"}) {
    const std::string help = text(what + " --help");
    EXPECT_NE(help.find("Example: shoal calibrate " + what), std::string::npos) << help;
    EXPECT_NE(help.find("--epsilon"), std::string::npos);
    EXPECT_NE(help.find("--format"), std::string::npos);
  }
}

TEST_F(Calibrate, GaussianInJson) {
  const Json found = json("gaussian --epsilon 8 --delta 1e-5 --count 2000 --rate 0.04");
  const double sigma = found.at("sigma");
  EXPECT_GE(sigma, 1.28996522);
  EXPECT_LE(sigma, 1.28997038);
  EXPECT_LE(found.at("epsilon").at("upper"), 8);
  EXPECT_GT(found.at("epsilon").at("lower"), 7.9999);
  EXPECT_EQ(found.at("delta"), 1e-5);
  EXPECT_EQ(found.at("neighbors"), "add_remove");
  EXPECT_EQ(found.at("count"), 2000);
  EXPECT_EQ(found.at("rate"), 0.04);
  EXPECT_EQ(found.at("sensitivity"), 1);
  EXPECT_EQ(found.at("law"), "gaussian");
  EXPECT_LT(found.at("insufficient"), sigma);
  EXPECT_EQ(found.at("engine"), "contour");
  EXPECT_EQ(found.at("event").at("repeat").at("event").at("poisson_sampled").at("rate"), 0.04);
  // The relation and the sensitivity are heard: both double the noise.
  const double once = json("gaussian --epsilon 1 --delta 1e-6").at("sigma");
  const double twice =
      json("gaussian --epsilon 1 --delta 1e-6 --neighbors replace_one").at("sigma");
  const double wide = json("gaussian --epsilon 1 --delta 1e-6 --sensitivity 2").at("sigma");
  EXPECT_NEAR(twice / once, 2, 1e-5);
  EXPECT_NEAR(wide / once, 2, 1e-5);
  EXPECT_EQ(json("gaussian --epsilon 1 --delta 1e-6").at("rate"), nullptr);
}

TEST_F(Calibrate, LaplaceInJson) {
  const Json pure = json("laplace --epsilon 0.5 --count 10 --sensitivity 3 --discrete");
  EXPECT_EQ(pure.at("scale"), 60);
  EXPECT_EQ(pure.at("law"), "discrete_laplace");
  EXPECT_EQ(pure.at("delta"), 0);
  EXPECT_FALSE(pure.contains("sigma"));
  const double scale = json("laplace --epsilon 1 --delta 1e-6 --count 100").at("scale");
  EXPECT_NEAR(scale, 41.4875, 1e-3);
}

TEST_F(Calibrate, InText) {
  const std::string gaussian = text("gaussian --epsilon 1 --delta 1e-6 --count 100");
  EXPECT_EQ(gaussian.find("  sigma     42.246"), 0u) << gaussian;
  EXPECT_NE(gaussian.find("epsilon 1 at delta 1e-06, add_remove"), std::string::npos) << gaussian;
  EXPECT_NE(gaussian.find("would provably be too little"), std::string::npos) << gaussian;
  const std::string count = text("count --scale 10 --epsilon 1");
  EXPECT_EQ(count.find("  count     10\n"), 0u) << count;
  EXPECT_NE(count.find("11 would provably be too many"), std::string::npos) << count;
  EXPECT_EQ(text("count --sigma 1 --epsilon 1 --delta 1e-6").find("  count     0\n"), 0u);
}

TEST_F(Calibrate, Count) {
  const Json found = json("count --sigma 40 --epsilon 1 --delta 1e-6");
  EXPECT_EQ(found.at("count"), 89);
  EXPECT_EQ(found.at("too_many"), 90);
  EXPECT_EQ(found.at("sigma"), 40);
  EXPECT_LE(found.at("epsilon").at("upper"), 1);
  EXPECT_EQ(json("count --scale 1e12 --epsilon 1").at("too_many"), nullptr);
}

TEST_F(Calibrate, Queries) {
  const Json table = json("queries --count 100 --epsilon 1 --delta 1e-6");
  ASSERT_EQ(table.at("pairings").size(), 6u);
  EXPECT_EQ(table.at("best").at("law"), "gaussian");
  EXPECT_EQ(table.at("best").at("composition"), "certified");
  EXPECT_EQ(table.at("pairings")[0].at("law"), "laplace");
  EXPECT_EQ(table.at("pairings")[0].at("composition"), "basic");
  EXPECT_EQ(table.at("pairings")[0].at("scale"), 100);
  EXPECT_NEAR(table.at("pairings")[2].at("scale"), 53.49977388, 1e-6);
  const std::string shown = text("queries --count 100 --epsilon 1 --delta 1e-6");
  for (const std::string part :
       {"basic", "advanced", "certified", "299.573", "best      gaussian"}) {
    EXPECT_NE(shown.find(part), std::string::npos) << part << "\n" << shown;
  }
  EXPECT_EQ(json("queries --count 100 --epsilon 1").at("pairings").size(), 2u);
}

TEST_F(Calibrate, Split) {
  const Json found = json("split --sensitivities 1,8 --epsilon 1 --noise laplace");
  // Shares of epsilon as 1 to 4: scales 5 and 10.
  ASSERT_EQ(found.at("questions").size(), 2u);
  EXPECT_NEAR(found.at("questions")[0].at("scale"), 5, 1e-5);
  EXPECT_NEAR(found.at("questions")[1].at("scale"), 10, 1e-5);
  EXPECT_LE(found.at("epsilon").at("upper"), 1);
  const std::string shown =
      text("split --sensitivities 1,10,1 --weights 1,1,100 --epsilon 1 --delta 1e-6");
  EXPECT_NE(shown.find("61.22142"), std::string::npos) << shown;
}

TEST_F(Calibrate, Errors) {
  const struct {
    std::string arguments;
    std::string fragment;
  } cases[] = {
      {"", "gaussian, laplace, count, queries or split"},
      {"gausian --epsilon 1", "there is no calibrate gausian"},
      {"gaussian", "--epsilon is required"},
      {"gaussian --epsilon 0 --delta 1e-6", "epsilon is 0; it must be above 0"},
      {"gaussian --epsilon -1 --delta 1e-6", "epsilon is -1"},
      {"gaussian --epsilon nan --delta 1e-6", "epsilon is nan"},
      {"gaussian --epsilon 1", "delta is 0; Gaussian noise needs a delta above 0"},
      {"gaussian --epsilon 1 --delta 1", "delta is 1"},
      {"gaussian --epsilon 1 --delta 1e-6 --count 0", "the count is 0"},
      {"gaussian --epsilon 1 --delta 1e-6 --count 1.5", "--count"},
      {"gaussian --epsilon 1 --delta 1e-6 --rate 2", "the rate is 2"},
      {"gaussian --epsilon 1 --delta 1e-6 --sensitivity 0", "the sensitivity is 0"},
      {"gaussian --epsilon 1 --delta 1e-6 --sensitivity 0.5 --discrete", "whole steps"},
      {"gaussian --epsilon 1 --delta 1e-6 --neighbors both", "--neighbors"},
      {"gaussian more --epsilon 1 --delta 1e-6", "more"},
      {"laplace --epsilon 0", "epsilon is 0"},
      {"count --epsilon 1 --delta 1e-6", "--sigma or --scale is missing"},
      {"count --epsilon 1 --sigma 1 --scale 1", "both given"},
      {"count --epsilon 1 --scale 0", "scale is 0"},
      {"queries --epsilon 1 --count 0", "the count is 0"},
      {"split --epsilon 1 --delta 1e-6", "--sensitivities is required"},
      {"split --epsilon 1 --delta 1e-6 --sensitivities 1,2 --weights 1", "1 weights and 2"},
      {"split --epsilon 1 --delta 1e-6 --sensitivities 1,-2", "question 2 is -2"},
  };
  for (const auto& bad : cases) {
    const Ran ran = run(bad.arguments);
    EXPECT_EQ(ran.status, error_door(ErrorCode::invalid_argument).exit_status) << bad.arguments;
    EXPECT_TRUE(ran.errors.starts_with("shoal: invalid_argument: ")) << ran.errors;
    EXPECT_NE(ran.errors.find(bad.fragment), std::string::npos) << ran.errors;
    EXPECT_EQ(ran.output, "") << bad.arguments;
  }
}

}  // namespace
}  // namespace shoal
