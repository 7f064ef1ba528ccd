// Training through the flow: planned without data, paid once, stored, refused before anything is
// spent.
#include "support/ledger_requests.hpp"
#include "support/seeded_source.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/session/session.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace shoal::session {
namespace {

class TrainingTest : public testing::Test {
 protected:
  void SetUp() override { write("row", "add_remove"); }

  void write(const std::string& unit, const std::string& neighbors) {
    test::SeededSource bits(1);
    std::string rows = "who,age,sex,rich\n";
    for (int i = 0; i < 3000; ++i) {
      const auto age = 20 + bits.next_bits(6);
      const bool rich = age + bits.next_bits(4) > 60;
      rows += fmt::format("p{},{},{},{}\n", i / 2, age, bits.next_bit() ? "f" : "m",
                          rich ? "yes" : "no");
    }
    rows += "p1,nan,x,\n,,,\np2,abc,f,perhaps\n";
    write_file_durably(folder_.path() / "people.csv", rows, IfExists::replace);
    std::string policy = fmt::format(
        "[dataset]\nname = \"people\"\nlineage = \"people-1\"\n"
        "[privacy]\nunit = \"{}\"\nneighbors = \"{}\"\n"
        "[budget]\nepsilon = 5\ndelta = 1e-5\nmax_epsilon_per_query = 3\nledger = \"l.db\"\n"
        "[query]\ntime_steps = 0\n"
        "[table.people]\nsource = \"people.csv\"\nformat = \"csv\"\n{}"
        "[table.people.column.who]\ntype = \"text\"\n"
        "[table.people.column.age]\ntype = \"integer\"\nbounds = [0, 100]\n"
        "[table.people.column.sex]\ntype = \"text\"\ncategories = [\"f\", \"m\"]\n"
        "[table.people.column.rich]\ntype = \"text\"\ncategories = [\"no\", \"yes\"]\n",
        unit, neighbors,
        unit == "person" ? "person_column = \"who\"\nmax_rows_per_person = 2\n" : "");
    write_file_durably(policy_, policy, IfExists::replace);
  }

  void forget_what_was_spent() {
    std::filesystem::remove(folder_.path() / "l.db");
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      if (entry.path().filename().string().find("people.csv.") != std::string::npos)
        std::filesystem::remove_all(entry.path());
    }
  }

  TrainOptions options() const {
    TrainOptions asked;
    asked.target = "rich";
    asked.epsilon = 2;
    asked.delta = 1e-6;
    return asked;
  }

  test::TemporaryFolder folder_;
  std::filesystem::path policy_ = folder_.path() / "people.toml";
};

TEST_F(TrainingTest, APlanTouchesNothing) {
  const Session session(policy_);
  const TrainingPlan plan = session.explain_training(options());
  EXPECT_EQ(plan.event, privacy::Event(privacy::event::EpsilonDelta{2, 1e-6}));
  EXPECT_NE(describe(plan, session.policy()).find("sigma"), std::string::npos);
  EXPECT_NE(describe(plan, session.policy()).find("certified  before the noise"),
            std::string::npos);
  EXPECT_FALSE(session.budget().opened);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "l.db"));
}

TEST_F(TrainingTest, IsPaidOnceAndStored) {
  Session session(policy_);
  test::SeededSource bits(2);
  const learn::Model first = session.train(options(), "", {}, bits);
  EXPECT_EQ(first.weights.size(), 3);
  EXPECT_EQ(first.privacy.epsilon, 2);
  EXPECT_EQ(session.train(options(), "", {}, bits), first);
  EXPECT_EQ(session.budget().epsilon_spent, 2);
  const learn::Model second = session.train(options(), "another", {}, bits);
  EXPECT_NE(second.weights, first.weights);
  EXPECT_EQ(session.budget().epsilon_spent, 4);
  EXPECT_EQ(test::code_of([&] { session.train(options(), "third", {}, bits); }),
            ErrorCode::budget_exceeded);
}

using UnitAndRelation = std::pair<std::string, std::string>;
class EveryTraining : public TrainingTest, public testing::WithParamInterface<UnitAndRelation> {};

TEST_P(EveryTraining, OfEveryModelAndMethodWorks) {
  write(GetParam().first, GetParam().second);
  test::SeededSource bits(3);
  TrainOptions asked = options();
  asked.epsilon = 0.1;
  asked.delta = 1e-8;
  for (const char* method : {"objective", "output", "adassp", "exponential", "frank_wolfe", "amp",
                             "gradient", "sgd", "ftrl", "bolt_on"}) {
    forget_what_was_spent();
    Session session(policy_);
    for (const char* model : {"logistic", "svm", "linear", "mean"}) {
      asked.method = method;
      asked.model = model;
      const bool number = asked.model == "linear" || asked.model == "mean";
      if (asked.method == "adassp" && !number) continue;
      asked.target = number ? "age" : "rich";
      if (asked.method == "bolt_on" && GetParam() != UnitAndRelation{"row", "replace_one"}) {
        EXPECT_EQ(test::code_of([&] { session.train(asked, "", {}, bits); }),
                  ErrorCode::unsupported);
        continue;
      }
      asked.radius.reset();
      if (asked.model == "linear" && asked.method == "output") asked.radius = 2;
      asked.features.clear();
      asked.points.reset();
      if (asked.method == "exponential") {
        if (asked.model != "mean") asked.features = {number ? "sex" : "age"};
        asked.radius = 3;
        asked.points = 9;
      }
      const learn::Model made = session.train(asked, "", {}, bits);
      for (const double w : made.weights) EXPECT_TRUE(std::isfinite(w));
    }
  }
}

// What gradients cost is their noise's event, or what the accountant certified of the plan.
TEST_F(TrainingTest, GradientMethodsSayWhatTheyDo) {
  const Session session(policy_);
  TrainOptions asked = options();
  asked.steps = 10;
  const auto event_of = [&](const char* method) {
    asked.method = method;
    const TrainingPlan plan = session.explain_training(asked);
    EXPECT_NE(describe(plan, session.policy()).find("sigma"), std::string::npos) << method;
    return privacy::to_json(plan.event);
  };
  EXPECT_NE(event_of("gradient").find("{\"repeat\":{\"count\":10,\"event\":{\"gaussian\""),
            std::string::npos);
  EXPECT_NE(event_of("ftrl").find("{\"gaussian\""), std::string::npos);
  EXPECT_NE(event_of("sgd").find("{\"epsilon_delta\""), std::string::npos);
  asked.steps.reset();
  EXPECT_NE(event_of("amp").find("{\"epsilon_delta\""), std::string::npos);
  EXPECT_EQ(test::code_of([&] { event_of("bolt_on"); }), ErrorCode::unsupported);
}

// What the plan's text rounds away or leaves out still makes another training.
TEST_F(TrainingTest, EveryParameterMakesAnotherTraining) {
  Session session(policy_);
  test::SeededSource bits(8);
  for (const char* method : {"objective", "gradient"}) {
    TrainOptions asked = options();
    asked.method = method;
    asked.epsilon = 0.1;
    asked.l2 = 100;
    std::vector<learn::Model> models = {session.train(asked, "", {}, bits)};
    EXPECT_EQ(session.train(asked, "", {}, bits), models[0]);
    const auto another = [&](auto change) {
      change(asked);
      models.push_back(session.train(asked, "", {}, bits));
      for (std::size_t i = 0; i + 1 < models.size(); ++i)
        EXPECT_NE(models[i].weights, models.back().weights) << method << " " << models.size();
    };
    another([](auto& o) { o.l2 = 100 + 1e-9; });
    another([](auto& o) { o.l1 = 0.5; });
    another([](auto& o) { o.radius = 7; });
    another([](auto& o) { o.radius = 8; });
    if (asked.method == "gradient") {
      another([](auto& o) { o.step_size = 1; });
      another([](auto& o) { o.step_size = 1 + 1e-12; });
    }
  }
}

// Three classes by age; what is missing or not listed has no label. At this epsilon a model that
// learns is far above the share of the largest class.
TEST_F(TrainingTest, SoftmaxTrainsPredictsAndEvaluates) {
  test::SeededSource bits(4);
  std::string rows = "age,band\n";
  for (int i = 0; i < 6000; ++i) {
    const auto age = bits.next_bits(6);
    rows += fmt::format("{},{}\n", age, age < 16 ? "young" : age < 48 ? "middle" : "old");
  }
  rows += "7,\n,young\n30,ancient\n";
  write_file_durably(folder_.path() / "people.csv", rows, IfExists::replace);
  write_file_durably(
      policy_,
      "[dataset]\nname = \"people\"\nlineage = \"people-2\"\n"
      "[privacy]\nunit = \"row\"\nneighbors = \"add_remove\"\n"
      "[budget]\nepsilon = 50\ndelta = 1e-5\nledger = \"l.db\"\n[query]\ntime_steps = 0\n"
      "[table.people]\nsource = \"people.csv\"\nformat = \"csv\"\n"
      "[table.people.column.age]\ntype = \"integer\"\nbounds = [0, 63]\n"
      "[table.people.column.band]\ntype = \"text\"\n"
      "categories = [\"young\", \"middle\", \"old\"]\n",
      IfExists::replace);
  Session session(policy_);
  TrainOptions asked;
  asked.target = "band";
  asked.model = "softmax";
  asked.epsilon = 8;
  asked.delta = 1e-6;
  asked.row_norm = 1.5;
  asked.weight_norm = 30;
  for (const char* method : {"auto", "gradient", "sgd", "ftrl"}) {
    asked.method = method;
    asked.steps = 60;
    const TrainingPlan plan = session.explain_training(asked);
    EXPECT_NE(describe(plan, session.policy()).find("6 weights"), std::string::npos);
    const learn::Model model = session.train(asked, "", {}, bits);
    ASSERT_EQ(model.weights.size(), 6);
    EXPECT_EQ(learn::model_from_json(learn::to_json(model)), model);
    learn::Evaluator evaluator(model);
    for (int age = 0; age < 64; ++age) {
      const data::Cell features{.number = static_cast<double>(age)};
      const data::Cell label{.category = age < 16 ? 0 : age < 48 ? 1 : 2};
      evaluator.add(std::vector<data::Cell>{features, label});
    }
    EXPECT_GT(evaluator.result().accuracy, 0.65) << method;
    const std::vector<data::Cell> oldest = {data::Cell{.number = 63}};
    EXPECT_EQ(learn::describe_label(model.target, learn::predict(model, oldest).label), "old");
  }
  asked.steps.reset();
  for (const char* method : {"objective", "output", "amp", "bolt_on"}) {
    asked.method = method;
    EXPECT_EQ(test::code_of([&] { session.explain_training(asked); }), ErrorCode::unsupported);
  }
}

INSTANTIATE_TEST_SUITE_P(Units, EveryTraining,
                         testing::Values(UnitAndRelation{"row", "add_remove"},
                                         UnitAndRelation{"row", "replace_one"},
                                         UnitAndRelation{"person", "add_remove"},
                                         UnitAndRelation{"person", "replace_one"}));

TEST_F(TrainingTest, TheoryAndTheEventAreInThePlan) {
  const Session session(policy_);
  TrainOptions asked = options();
  EXPECT_NE(expected_risk(session.explain_training(asked)).find("/ rows"), std::string::npos);
  asked.method = "adassp";
  asked.model = "linear";
  asked.target = "age";
  const TrainingPlan plan = session.explain_training(asked);
  EXPECT_TRUE(std::holds_alternative<privacy::event::Gdp>(plan.event.node()));
  EXPECT_TRUE(expected_risk(plan).empty());
  EXPECT_NE(describe(plan, session.policy()).find("ridge"), std::string::npos);
}

// The mean age is 20 + 31.5 of 100: 0.03 on the scale of labels. Noise at epsilon 2 is worth a few
// rows of 3000, so 0.05 is missed with a chance far below 1e-6; the grid of the exponential
// mechanism and the regulariser of objective perturbation add less than that.
TEST_F(TrainingTest, MeansAreFound) {
  test::SeededSource bits(4);
  for (const double delta : {1e-6, 0.0}) {
    for (const char* method : {"auto", "objective", "exponential"}) {
      forget_what_was_spent();
      Session session(policy_);
      TrainOptions asked = options();
      asked.model = "mean";
      asked.target = "age";
      asked.method = method;
      asked.delta = delta;
      const learn::Model model = session.train(asked, "", {}, bits);
      ASSERT_EQ(model.weights.size(), 1);
      EXPECT_NEAR(model.weights[0], 0.03, 0.05) << method << " " << delta;
      EXPECT_EQ(model.method, std::string(method) == "auto" ? "adassp" : method);
    }
  }
}

TEST_F(TrainingTest, AccuracyIsEstimatedFromTheSameReservation) {
  Session session(policy_);
  TrainOptions asked = options();
  asked.evaluate_epsilon = 0.5;
  const TrainingPlan plan = session.explain_training(asked);
  EXPECT_TRUE(std::holds_alternative<privacy::event::Compose>(plan.event.node()));
  test::SeededSource bits(6);
  const learn::Model model = session.train(asked, "", {}, bits);
  ASSERT_TRUE(model.held_out);
  EXPECT_LT(model.held_out->wrong, 0.4);
  EXPECT_NEAR(model.held_out->rows, 750, 200);
  EXPECT_EQ(session.budget().epsilon_spent, 2);
  EXPECT_EQ(session.train(asked, "", {}, bits), model);
  asked.evaluate_epsilon = 2;
  EXPECT_EQ(test::code_of([&] { session.train(asked); }), ErrorCode::invalid_argument);
  asked.evaluate_epsilon = 0.5;
  asked.try_l2 = {5};
  EXPECT_EQ(test::code_of([&] { session.train(asked); }), ErrorCode::invalid_argument);
}

// What is not in the description is not in the digest, and a stored model would answer for another
// question.
TEST_F(TrainingTest, EveryOptionThatMattersIsDescribed) {
  const Session session(policy_);
  const auto text = [&](auto change) {
    TrainOptions asked = options();
    asked.epsilon = 1;
    change(asked);
    return describe(session.explain_training(asked), session.policy());
  };
  const std::string plain = text([](auto&) {});
  EXPECT_NE(text([](auto& o) { o.radius = 3; }), plain);
  EXPECT_NE(text([](auto& o) { o.radius = 3; }), text([](auto& o) { o.radius = 4; }));
  EXPECT_NE(text([](auto& o) { o.l1 = 0.5; }), plain);
  EXPECT_NE(text([](auto& o) { o.evaluate_epsilon = 0.1; }), plain);
  const auto wolfe = [&](auto change) {
    return text([&](auto& o) {
      o.method = "frank_wolfe";
      change(o);
    });
  };
  EXPECT_NE(wolfe([](auto& o) { o.steps = 9; }), wolfe([](auto&) {}));
  EXPECT_NE(wolfe([](auto& o) { o.radius = 2; }), wolfe([](auto&) {}));
  const auto chosen = [&](std::vector<double> l2, double runs) {
    return text([&](auto& o) {
      o.delta = 0;
      o.try_l2 = l2;
      o.runs = runs;
    });
  };
  const auto grid = [&](double l2) {
    return text([&](auto& o) {
      o.method = "exponential";
      o.features = {"age"};
      o.radius = 2;
      o.l2 = l2;
    });
  };
  EXPECT_NE(grid(1), grid(2));
  EXPECT_NE(chosen({5, 50}, 3), chosen({5, 60}, 3));
  EXPECT_NE(chosen({5, 50}, 3), chosen({5, 50}, 4));
}

TEST_F(TrainingTest, ParametersAreChosenPrivately) {
  Session session(policy_);
  TrainOptions asked = options();
  asked.delta = 0;
  asked.try_l2 = {2, 1000};
  const TrainingPlan plan = session.explain_training(asked);
  EXPECT_EQ(plan.event, privacy::Event(privacy::event::Pure{2}));
  EXPECT_NE(describe(plan, session.policy()).find("2, 1000"), std::string::npos);
  test::SeededSource bits(6);
  const learn::Model model = session.train(asked, "", {}, bits);
  EXPECT_TRUE(model.l2 == 2 || model.l2 == 1000);
  EXPECT_EQ(session.budget().epsilon_spent, 2);
  asked.delta = 1e-6;
  const TrainingPlan gaussian = session.explain_training(asked);
  EXPECT_TRUE(std::holds_alternative<privacy::event::EpsilonDelta>(gaussian.event.node()));
  EXPECT_EQ(session.train(asked, "", {}, bits).privacy.delta, 1e-6);
}

// Its choice has no delta, and says so, whatever was offered.
TEST_F(TrainingTest, AListOfCandidatesIsPartOfTheQuestion) {
  Session session(policy_);
  TrainOptions asked = options();
  asked.method = "exponential";
  asked.candidates = {1, 0, 0, 0, 1, 0, -1, 0.5, 0.5};
  asked.candidate_width = 3;
  const TrainingPlan plan = session.explain_training(asked);
  EXPECT_EQ(plan.delta, 0);
  EXPECT_TRUE(std::holds_alternative<privacy::event::Exponential>(plan.event.node()));
  const std::string first = describe(plan, session.policy());
  asked.candidates.back() = 0.25;
  EXPECT_NE(describe(session.explain_training(asked), session.policy()), first);
  asked.mistakes = true;
  const learn::Model model = session.train(asked);
  EXPECT_EQ(model.privacy.delta, 0);
  EXPECT_EQ(model.weights.size(), 3);
}

TEST_F(TrainingTest, WhatPublicFactsShowIsRefusedBeforeAnythingIsSpent) {
  Session session(policy_);
  const auto refused = [&](auto change) {
    TrainOptions asked = options();
    change(asked);
    return test::code_of([&] { session.train(asked); });
  };
  EXPECT_EQ(refused([](auto& o) { o.target = "rch"; }), ErrorCode::not_found);
  EXPECT_EQ(refused([](auto& o) { o.target = "who"; }), ErrorCode::invalid_argument);
  EXPECT_EQ(refused([](auto& o) { o.target = "age"; }), ErrorCode::invalid_argument);
  EXPECT_EQ(refused([](auto& o) { o.model = "linear"; }), ErrorCode::invalid_argument);
  EXPECT_EQ(refused([](auto& o) { o.model = "mean"; }), ErrorCode::invalid_argument);
  EXPECT_EQ(refused([](auto& o) { o.model = "mean", o.target = "age", o.features = {"sex"}; }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(refused([](auto& o) { o.model = "forest"; }), ErrorCode::unsupported);
  EXPECT_EQ(refused([](auto& o) { o.method = "magic"; }), ErrorCode::invalid_argument);
  EXPECT_EQ(refused([](auto& o) { o.method = "adassp"; }), ErrorCode::unsupported);
  EXPECT_EQ(refused([](auto& o) { o.method = "exponential"; }), ErrorCode::invalid_argument);
  EXPECT_EQ(refused([](auto& o) { o.method = "frank_wolfe", o.steps = 0; }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(refused([](auto& o) { o.method = "frank_wolfe", o.l2 = 1; }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(refused([](auto& o) { o.rule = "magic"; }), ErrorCode::invalid_argument);
  EXPECT_EQ(refused([](auto& o) { o.model = "softmax"; }), ErrorCode::invalid_argument);
  for (const char* method : {"amp", "gradient", "sgd", "ftrl"}) {
    EXPECT_EQ(refused([&](auto& o) { o.method = method, o.delta = 0; }),
              ErrorCode::invalid_argument);
    EXPECT_EQ(refused([&](auto& o) { o.method = method, o.rows = 0; }),
              ErrorCode::invalid_argument);
  }
  EXPECT_EQ(refused([](auto& o) { o.method = "sgd", o.rate = 2; }), ErrorCode::invalid_argument);
  EXPECT_EQ(refused([](auto& o) { o.rate = 0.1; }), ErrorCode::invalid_argument);
  EXPECT_EQ(refused([](auto& o) { o.method = "output", o.steps = 5; }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(refused([](auto& o) { o.method = "gradient", o.batch = 5; }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(refused([](auto& o) { o.method = "gradient", o.steps = -1; }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(refused([](auto& o) { o.l2 = 1e-9; }), ErrorCode::invalid_argument);
  // So little privacy that noise leaves the grid's range: known before the spend.
  EXPECT_EQ(refused([](auto& o) { o.epsilon = 1e-11, o.delta = 1e-6; }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(refused([](auto& o) { o.method = "output", o.rule = "kifer"; }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(refused([](auto& o) { o.runs = 3; }), ErrorCode::invalid_argument);
  EXPECT_EQ(refused([](auto& o) {
              o.method = "exponential", o.radius = 1, o.try_l2 = {1, 2};
            }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(refused([](auto& o) {
              o.method = "exponential", o.candidates = {1, 2, 3, 4, 5, 6}, o.candidate_width = 2;
            }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(refused([](auto& o) { o.row_norm = -1; }), ErrorCode::invalid_argument);
  EXPECT_EQ(refused([](auto& o) { o.epsilon = 4; }), ErrorCode::refused_by_policy);
  EXPECT_EQ(refused([](auto& o) { o.delta = 0.1; }), ErrorCode::refused_by_policy);
  EXPECT_EQ(refused([](auto& o) { o.epsilon.reset(); }), ErrorCode::invalid_argument);
  EXPECT_EQ(refused([](auto& o) { o.features = {"who"}; }), ErrorCode::invalid_argument);
  EXPECT_EQ(refused([](auto& o) { o.features = {"rich"}; }), ErrorCode::invalid_argument);
  EXPECT_FALSE(session.budget().opened);
}

}  // namespace
}  // namespace shoal::session
