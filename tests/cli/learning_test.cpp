// shoal train, predict and evaluate from outside. The program draws its own noise; at the epsilon
// used here a model misses the accuracy that is asked for with a chance far below 10^-6.
#include "support/seeded_source.hpp"
#include "support/shell.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace shoal {
namespace {

using test::Ran;

class Learning : public testing::Test {
 protected:
  void SetUp() override {
    write("people.csv", people(1));
    write("people.toml",
          "[dataset]\nname = \"people\"\nlineage = \"people-1\"\n"
          "[privacy]\nunit = \"row\"\nneighbors = \"add_remove\"\n"
          "[budget]\nepsilon = 20\ndelta = 1e-5\nledger = \"l.db\"\n"
          "[table.people]\nsource = \"people.csv\"\nformat = \"csv\"\n"
          "[table.people.column.age]\ntype = \"integer\"\nbounds = [0, 100]\n"
          "[table.people.column.sex]\ntype = \"text\"\ncategories = [\"f\", \"m\"]\n"
          "[table.people.column.rich]\ntype = \"text\"\ncategories = [\"no\", \"yes\"]\n");
  }

  static std::string people(std::uint64_t seed) {
    test::SeededSource bits(seed);
    std::string rows = "age,sex,rich\n";
    for (int i = 0; i < 4000; ++i) {
      const auto age = 20 + bits.next_bits(6);
      rows += std::to_string(age) + (bits.next_bit() ? ",f," : ",m,") +
              (age + bits.next_bits(3) > 55 ? "yes\n" : "no\n");
    }
    return rows;
  }

  void write(const std::string& name, const std::string& text) {
    write_file_durably(folder_ / name, text, IfExists::replace);
  }
  Ran shell(const std::string& line) { return test::run_shell(folder_.path(), line); }

  test::TemporaryFolder folder_;
  int trained_ = 0;
};

TEST_F(Learning, ExplainsTrainsPredictsAndEvaluates) {
  const std::string train = "shoal train people.toml --target rich --epsilon 8 --delta 1e-6";
  const Ran plan = shell(train + " --explain");
  EXPECT_EQ(plan.status, 0) << plan.errors;
  EXPECT_NE(plan.output.find("sigma"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "l.db"));

  const Ran trained = shell(train + " -o model.json");
  EXPECT_EQ(trained.status, 0) << trained.errors;
  const auto model = nlohmann::json::parse(read_file(folder_ / "model.json"));
  EXPECT_EQ(model["privacy"]["epsilon"], 8);
  EXPECT_EQ(model["weights"].size(), 3);

  const Ran measured = shell("shoal evaluate model.json people.csv");
  EXPECT_EQ(measured.status, 0) << measured.errors;
  const auto at = measured.output.find("accuracy");
  ASSERT_NE(at, std::string::npos);
  EXPECT_GT(std::stod(measured.output.substr(at + 8)), 75);

  write("new.csv", "sex,age\nf,83\nm,20\nx,\n");
  const Ran predicted = shell("shoal predict model.json new.csv");
  EXPECT_EQ(predicted.status, 0) << predicted.errors;
  EXPECT_TRUE(predicted.output.starts_with("rich,score,chance\nyes,")) << predicted.output;

  // The same training again is the same model, unpaid.
  EXPECT_EQ(shell(train + " -o again.json").status, 0);
  EXPECT_EQ(read_file(folder_ / "again.json"), read_file(folder_ / "model.json"));
  EXPECT_NE(shell("shoal budget people.toml").output.find("epsilon 8 in 1 question"),
            std::string::npos);
}

TEST_F(Learning, AHoldoutAndALeaderboardMeasureAModel) {
  const Ran trained =
      shell("shoal train people.toml --target rich --epsilon 8 --delta 1e-6 -o model.json");
  ASSERT_EQ(trained.status, 0) << trained.errors;
  // The last row lacks fields: the model is wrong about it, and nobody is told.
  write("held.csv", people(2) + "44\n");
  const std::string measured = shell("shoal evaluate model.json held.csv").output;
  const double accuracy = std::stod(measured.substr(measured.find("accuracy") + 8)) / 100;

  const auto policy = [&](const std::string& name) {
    EXPECT_EQ(shell("shoal init " + name + ".csv --neighbors replace_one --epsilon 8").status, 0);
  };
  policy("held");
  const Ran made =
      shell("shoal holdout create h.state --policy held.toml --questions 20 --epsilon 8");
  ASSERT_EQ(made.status, 0) << made.errors;
  const auto ask = [&](double value) {
    const Ran asked = shell("shoal holdout ask h.state --model model.json --format json " +
                            fmt::format("--train-value {}", value));
    EXPECT_EQ(asked.status, 0) << asked.errors;
    return nlohmann::json::parse(asked.output);
  };
  EXPECT_EQ(ask(accuracy)["agrees"], true);
  const auto own = ask(0.2);
  EXPECT_EQ(own["agrees"], false);
  EXPECT_NEAR(own["value"].get<double>(), accuracy, 0.03);

  write("board.csv", people(3));
  policy("board");
  ASSERT_EQ(shell("shoal leaderboard create b.state --policy board.toml --submissions 9").status,
            0);
  const Ran shown =
      shell("shoal leaderboard submit b.state --model model.json --name m --format json");
  ASSERT_EQ(shown.status, 0) << shown.errors;
  EXPECT_NEAR(nlohmann::json::parse(shown.output)["value"].get<double>(), 1 - accuracy, 0.1);
  EXPECT_NE(shell("shoal holdout ask h.state --train-value 1 --model people.csv").status, 0);
}

TEST_F(Learning, TrainsByGradients) {
  for (const std::string method : {"gradient", "sgd", "ftrl", "amp"}) {
    const std::string model = method + ".json";
    const Ran trained = shell("shoal train people.toml --target rich --epsilon 1.5 --delta 1e-6 " +
                              ("--weight-norm 30 --method " + method) + " -o " + model);
    EXPECT_EQ(trained.status, 0) << trained.errors;
    EXPECT_EQ(nlohmann::json::parse(read_file(folder_ / model))["method"], method);
    const Ran measured = shell("shoal evaluate " + model + " people.csv");
    const auto at = measured.output.find("accuracy");
    ASSERT_NE(at, std::string::npos) << measured.errors;
    EXPECT_GT(std::stod(measured.output.substr(at + 8)), 70) << method;
  }
  // An exchange of rows keeps their number; coming and going does not.
  const Ran refused =
      shell("shoal train people.toml --target rich --epsilon 1 --method bolt_on -o b.json");
  EXPECT_EQ(refused.status, error_door(ErrorCode::unsupported).exit_status);
  EXPECT_NE(refused.errors.find("replace_one"), std::string::npos);
}

TEST_F(Learning, TrainsThreeClasses) {
  test::SeededSource bits(2);
  std::string rows = "age,band\n";
  for (int i = 0; i < 4000; ++i) {
    const auto age = bits.next_bits(6);
    rows += std::to_string(age) + (age < 16 ? ",young\n" : age < 48 ? ",middle\n" : ",old\n");
  }
  write("people.csv", rows);
  write("people.toml",
        "[dataset]\nname = \"people\"\nlineage = \"people-3\"\n"
        "[privacy]\nunit = \"row\"\nneighbors = \"add_remove\"\n"
        "[budget]\nepsilon = 20\ndelta = 1e-5\nledger = \"l.db\"\n"
        "[table.people]\nsource = \"people.csv\"\nformat = \"csv\"\n"
        "[table.people.column.age]\ntype = \"integer\"\nbounds = [0, 63]\n"
        "[table.people.column.band]\ntype = \"text\"\n"
        "categories = [\"young\", \"middle\", \"old\"]\n");
  const Ran trained = shell(
      "shoal train people.toml --target band --model softmax --epsilon 8 --delta 1e-6 "
      "--row-norm 1.5 --weight-norm 30 -o model.json");
  EXPECT_EQ(trained.status, 0) << trained.errors;
  const Ran measured = shell("shoal evaluate model.json people.csv");
  const auto at = measured.output.find("accuracy");
  ASSERT_NE(at, std::string::npos) << measured.errors;
  EXPECT_GT(std::stod(measured.output.substr(at + 8)), 65);
  write("new.csv", "age\n63\n0\n");
  const Ran predicted = shell("shoal predict model.json new.csv");
  EXPECT_TRUE(predicted.output.starts_with("band,score,chance\nold,")) << predicted.output;
  EXPECT_NE(predicted.output.find("\nyoung,"), std::string::npos) << predicted.output;
}

TEST_F(Learning, EveryMethodHasADoor) {
  write("candidates.csv", "-1,0,1\n1,0,-1\n0.5,0.5,0.5\n");
  write("broken.csv", "1,2,3\n1,2\n");
  const auto train = [&](const std::string& options, const std::string& to) {
    return shell("shoal train people.toml --epsilon 1 " + options + " -o " + to + ".json");
  };
  const auto works = [&](const Ran& ran, const std::string& shows) {
    EXPECT_EQ(ran.status, 0) << ran.errors;
    EXPECT_NE(ran.output.find(shows), std::string::npos) << ran.output;
  };
  works(train("--target age --model linear --method adassp --delta 1e-7", "a"), "model");
  works(train("--target age --model mean --delta 0", "b"), "  mean    ");
  works(train("--target rich --method exponential --candidates candidates.csv --mistakes", "c"),
        "model");
  works(train("--target rich --method frank_wolfe --steps 10 --delta 1e-7", "d"), "model");
  works(train("--target rich --evaluate-epsilon 0.3 --delta 0", "e"), "rows set aside");
  works(train("--target age --model linear --evaluate-epsilon 0.3 --delta 0", "f"), "  error   ");
  works(train("--target rich --try-l2 5,50 --runs 3 --delta 0", "g"), "model");
  EXPECT_NE(train("--target rich --method exponential --candidates broken.csv", "h").status, 0);
  const auto counted = nlohmann::json::parse(read_file(folder_ / "e.json"));
  EXPECT_NEAR(counted["held_out"]["rows"], 1000, 300);
  EXPECT_NE(shell("shoal evaluate a.json people.csv").output.find("risk"), std::string::npos);
  EXPECT_TRUE(shell("shoal predict b.json people.csv").output.starts_with("age,score\n"));
}

// A category that the policy does not list is no feature. A table of such rows trains as one with a
// row more that has a feature does: the exit status tells nobody which of the two it was.
TEST_F(Learning, RowsWithoutAFeatureAreTrainedOnLikeAllOthers) {
  std::string rows = "age,sex,rich\n";
  for (int i = 0; i < 1000; ++i) rows += i % 2 == 0 ? ",x,yes\n" : ",,no\n";
  const auto train = [&](const std::string& options) {
    std::filesystem::remove(folder_ / "m.json");
    return shell("shoal train people.toml --features sex --key " + std::to_string(++trained_) +
                 " -o m.json --epsilon 0.1 " + options);
  };
  for (const std::string more : {"", "30,f,no\n"}) {
    std::filesystem::remove(folder_ / "l.db");
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      if (entry.path().filename().string().starts_with("people.csv."))
        std::filesystem::remove_all(entry);
    write("people.csv", rows + more);
    for (const char* options :
         {"--target rich --delta 0", "--target rich --delta 1e-8 --radius 3 --l1 0.1",
          "--target rich --method output --delta 0", "--target rich --method amp --delta 1e-8",
          "--target rich --method gradient --delta 1e-8 --steps 5",
          "--target rich --method sgd --delta 1e-8 --steps 5",
          "--target rich --method ftrl --delta 1e-8 --steps 5",
          "--target rich --method frank_wolfe --delta 1e-8 --steps 5",
          "--target rich --method exponential --points 5 --radius 1 --delta 0",
          "--target rich --delta 0 --evaluate-epsilon 0.05",
          "--target rich --delta 0 --try-l2 50,500 --runs 2"}) {
      const Ran ran = train(options);
      EXPECT_EQ(ran.status, 0) << options << ran.errors;
    }
  }
}

TEST_F(Learning, RefusesBeforeAnythingIsSpent) {
  for (const char* wrong :
       {"shoal train people.toml --target rich --epsilon 1",                      // no output
        "shoal train people.toml --target rch --epsilon 1 -o m.json",             // no such column
        "shoal train people.toml --target rich --epsilon 1 -o none/m.json",       // no such folder
        "shoal train people.toml --target rich --epsilon 1 --l2 1e-9 -o m.json",  // too small
        // No bound on the number of steps that is of use.
        "shoal train people.toml --target rich --epsilon 1 --method output --l2 1e-6 --radius 1e5 "
        "-o m.json",
        "shoal train people.toml --target age --epsilon 1 -o m.json"}) {  // no class
    const Ran ran = shell(wrong);
    EXPECT_NE(ran.status, 0) << wrong;
    EXPECT_NE(ran.errors.find("shoal: "), std::string::npos) << wrong;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "l.db"));
  write("broken.json", "{\"format\": 7}");
  const Ran broken = shell("shoal predict broken.json people.csv");
  EXPECT_EQ(broken.status, error_door(ErrorCode::unsupported).exit_status);
}

}  // namespace
}  // namespace shoal
