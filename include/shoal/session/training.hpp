// Training through the one flow: options and policy make a plan, which needs no data;
// Session::train reserves its event, reads, fits and settles the model.
#pragma once

#include <shoal/catalog/policy.hpp>
#include <shoal/learn/fit.hpp>
#include <shoal/learn/model.hpp>
#include <shoal/learn/private_selection.hpp>
#include <shoal/learn/risk.hpp>
#include <shoal/privacy/event.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace shoal::session {

struct TrainOptions {
  std::string table = {};  // empty: the policy's only private table
  std::string target = {};
  std::string model = "logistic";          // logistic, svm, linear, softmax, mean
  std::string method = "auto";             // auto, or as learn::name calls them
  std::string rule = "tight";              // of objective perturbation and approximate minima
  std::optional<double> epsilon = {};      // none: the policy's default
  std::optional<double> delta = {};        // none: the policy's default, else pure
  std::vector<std::string> features = {};  // none: every column with public bounds or categories
  double row_norm = 1;
  std::optional<double> intercept = {};  // the constant feature; none: 1 without categories, else 0
  std::optional<double> l2 = {};         // none: chosen by public facts
  double l1 = 0;
  std::optional<double> radius = {};  // confines the weights to an l2_ball
  double weight_norm = 10;            // a public guess of the weights' length, for the choice of l2
  std::optional<double> rows = {};    // a public guess of their number; none: as the method has it
  // Of the gradient methods and, the first, of Frank-Wolfe; none: as the method has it.
  std::optional<std::int64_t> steps = {};
  std::optional<double> step_size = {};  // of one row
  std::optional<double> momentum = {};
  std::optional<double> clip = {};          // of a row's gradient
  std::optional<double> rate = {};          // the chance of a row to be in a sample
  std::optional<std::int64_t> passes = {};  // of bolt_on
  std::optional<std::int64_t> batch = {};
  std::optional<int> points = {};       // of the exponential mechanism's grid, on each axis
  std::vector<double> candidates = {};  // of the exponential mechanism, one after the other
  std::size_t candidate_width = 0;      // numbers of each
  bool mistakes = false;  // the exponential mechanism counts wrong labels, not the loss
  std::optional<double> evaluate_epsilon = {};  // the part of epsilon for counts on rows set aside
  std::vector<double> try_l2 = {};              // l2 weights to choose from privately
  std::optional<double> runs = {};  // of that choice, in the mean; none: three a candidate
};

// What a training will do and cost. The same whatever the rows say.
struct TrainingPlan {
  std::string table;
  std::string model;
  learn::Pipeline pipeline;
  learn::Target target;
  learn::Problem problem;
  learn::Method method;  // the first candidate, if there is a selection
  std::optional<learn::HeldOutCounts> counts = {};
  std::optional<learn::PrivateSelection> selection = {};
  std::vector<double> tried_l2 = {};  // of its candidates
  std::string reason;                 // why this method and these parameters
  double weight_norm = 0;             // the public guess
  double epsilon = 0;
  double delta = 0;
  privacy::Event event;
};

// Throws, before anything is spent, for whatever public facts show to be wrong, naming the
// condition and a remedy.
TrainingPlan plan_training(const catalog::Policy& policy, const TrainOptions& options);

// What theory expects of the plan's accuracy, in one line without end; empty if it has no bound.
std::string expected_risk(const TrainingPlan& plan);

// The plan as lines of text: what is learnt, with which noise, at which cost.
std::string describe(const TrainingPlan& plan, const catalog::Policy& policy);

}  // namespace shoal::session
