#include "neighbors/scenarios.hpp"

#include <algorithm>
#include <utility>

namespace shoal::test::scenarios {
namespace {

Step train(const std::string& target, const std::string& features, const Words& more) {
  const Words words = {"train",      "POLICY", "--target", target,
                       "--features", features, "--output", "model.json"};
  return {.words = with(words, more), .output = Reading::numbers};
}

// Sometimes a constraint, a regulariser, a private choice or a private estimate.
Words training_options(Dice& dice, bool bounded) {
  Words words;
  if (bounded || dice.one_in(4)) words = with(words, {"--radius", dice.pick({"0.5", "10", "1e5"})});
  if (dice.one_in(6)) words = with(words, {"--l1", dice.pick({"0.1", "5"})});
  if (dice.one_in(3)) words = with(words, {"--l2", dice.pick({"1e-6", "1", "30"})});
  if (dice.one_in(6)) words = with(words, {"--evaluate-epsilon", "0.005"});
  if (dice.one_in(8)) words = with(words, {"--try-l2", "0.1,1,10"});
  return words;
}

std::string training_method(Dice& dice) {
  return dice.pick({"auto", "objective", "output", "amp", "gradient", "sgd", "ftrl", "bolt_on"});
}

// All but the first few need it.
Words training_cost(Dice& dice, const std::string& method) {
  const Words cost = {"--method", method, "--epsilon", epsilon(dice)};
  const bool must = method == "amp" || method == "gradient" || method == "sgd" || method == "ftrl";
  if (must) return with(cost, {"--delta", "1e-5", "--rows", "1000"});
  return dice.one_in(2) ? with(cost, {"--delta", "1e-5"}) : cost;
}

Scenario trained(std::string name, const Step& step) {
  const bool chosen =
      std::find(step.words.begin(), step.words.end(), "--try-l2") != step.words.end();
  return {.name = std::move(name),
          .steps = {step, {.words = {"budget", "POLICY"}}},
          .outputs = {{"model.json", chosen ? Reading::chosen : Reading::model}}};
}

}  // namespace

Scenario classification(Dice& dice, const Setting&) {
  const std::string model = dice.pick({"logistic", "svm", "softmax"});
  const Words options = with(with({"--model", model}, training_cost(dice, training_method(dice))),
                             training_options(dice, false));
  return trained("classification", model == "softmax" ? train("y", "age,income,sex", options)
                                                      : train("sex", "age,income,y", options));
}

Scenario regression(Dice& dice, const Setting&) {
  const std::string method = dice.one_in(3) ? "adassp" : training_method(dice);
  const Words options = with(with({"--model", "linear"}, training_cost(dice, method)),
                             training_options(dice, method == "output"));
  return trained("regression", train("income", "age,sex", options));
}

Scenario mean(Dice& dice, const Setting&) {
  const Words words = {"train",   "POLICY", "--target", dice.pick({"income", "age"}),
                       "--model", "mean",   "--output", "model.json"};
  return trained(
      "mean",
      {.words = with(words, training_cost(dice, dice.pick({"auto", "objective", "gradient"}))),
       .output = Reading::numbers});
}

Scenario frank_wolfe(Dice& dice, const Setting&) {
  return trained("frank-wolfe", train("sex", "age,y",
                                      with(training_cost(dice, "frank_wolfe"),
                                           {"--radius", "2", "--steps", "5"})));
}

Scenario weights_of_candidates(Dice& dice, const Setting&) {
  Words words = with(training_cost(dice, "exponential"), {"--intercept", "0"});
  if (dice.one_in(2)) words = with(words, {"--mistakes"});
  Scenario scenario{.name = "exponential", .steps = {}};
  if (dice.one_in(2)) {
    scenario = trained("exponential",
                       train("sex", "age,income", with(words, {"--radius", "1", "--points", "3"})));
  } else {
    scenario = trained("exponential",
                       train("sex", "age,income", with(words, {"--candidates", "weights.csv"})));
    scenario.inputs = {{"weights.csv", "0,0\n1,0\n0,1\n-1,1\n"}};
  }
  return scenario;
}

Scenario synthesis(Dice& dice, const Setting&) {
  const std::string method = dice.pick({"auto", "aim", "graded", "mst", "mwem", "blr"});
  const bool universe = method == "mwem" || method == "blr";
  Words words = {
      "synthesize", "POLICY",     "--columns", dice.pick({"sex,y", "sex,member,y", "age,sex"}),
      "--workload", "all-2way",   "--bins",    "4",
      "--method",   method,       "--epsilon", epsilon(dice),
      "--output",   "records.csv"};
  Scenario scenario{.name = "synthesis", .steps = {}};
  scenario.outputs["records.csv"] = Reading::anything;
  if (!universe || dice.one_in(2)) words = with(words, {"--delta", "1e-6"});
  if (universe) words = with(words, {"--public-rows", "20"});
  if (dice.one_in(2)) {
    words = with(words, {"--rows", "10"});
    scenario.outputs["records.csv"] = Reading::table;
  }
  if (method != "blr" && dice.one_in(4)) words = with(words, {"--check", "0.1"});
  if (dice.one_in(4)) {
    words = with(words, {"--report", "report.html"});
    scenario.outputs["report.html"] = Reading::anything;
  }
  scenario.steps = {{.words = words, .output = Reading::synthesis},
                    {.words = {"budget", "POLICY"}}};
  return scenario;
}

}  // namespace shoal::test::scenarios
