// Two requests are one if and only if every field that matters is the same: each field is changed
// alone, and the identity must change with it. What is only words must not change it.
#include "session/request_identity.hpp"

#include "support/flip_fields.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace shoal::test {

template <>
inline constexpr int field_count<session::TrainingPlan> = 14;
template <>
inline constexpr int field_count<session::SynthesisPlan> = 15;
template <>
inline constexpr int field_count<learn::ObjectivePerturbation> = 11;
template <>
inline constexpr int field_count<learn::OutputPerturbation> = 6;
template <>
inline constexpr int field_count<learn::MinimaPerturbation> = 9;
template <>
inline constexpr int field_count<learn::GradientDescent> = 6;
template <>
inline constexpr int field_count<learn::SampledDescent> = 7;
template <>
inline constexpr int field_count<learn::PrefixDescent> = 6;
template <>
inline constexpr int field_count<learn::BoltOnDescent> = 8;
template <>
inline constexpr int field_count<learn::AdaSsp> = 9;
template <>
inline constexpr int field_count<learn::ExponentialChoice> = 8;
template <>
inline constexpr int field_count<learn::FrankWolfe> = 10;
template <>
inline constexpr int field_count<learn::HeldOutCounts> = 3;
template <>
inline constexpr int field_count<learn::PrivateSelection> = 5;
template <>
inline constexpr int field_count<learn::OutputNoise> = 3;
template <>
inline constexpr int field_count<learn::GradientNoise> = 3;
template <>
inline constexpr int field_count<learn::DescentPath> = 6;
template <>
inline constexpr int field_count<learn::Problem> = 6;
template <>
inline constexpr int field_count<learn::Regulariser> = 2;
template <>
inline constexpr int field_count<learn::HuberisedHinge> = 1;
template <>
inline constexpr int field_count<learn::Huber> = 1;
template <>
inline constexpr int field_count<learn::Poisson> = 2;
template <>
inline constexpr int field_count<learn::Softmax> = 1;
template <>
inline constexpr int field_count<learn::L2Ball> = 1;
template <>
inline constexpr int field_count<learn::L1Ball> = 1;
template <>
inline constexpr int field_count<learn::Box> = 2;
template <>
inline constexpr int field_count<learn::Simplex> = 1;
template <>
inline constexpr int field_count<learn::HalfSpaceCut> = 3;
template <>
inline constexpr int field_count<learn::NumericFeature> = 3;
template <>
inline constexpr int field_count<learn::CategoryFeature> = 2;
template <>
inline constexpr int field_count<learn::Pipeline> = 3;
template <>
inline constexpr int field_count<learn::Target> = 4;
template <>
inline constexpr int field_count<data::CodedColumn> = 6;
template <>
inline constexpr int field_count<catalog::Bounds> = 2;
template <>
inline constexpr int field_count<synth::WorkloadMarginal> = 2;
template <>
inline constexpr int field_count<synth::RangeFamily> = 2;

}  // namespace shoal::test

namespace shoal::session {
namespace {

catalog::Policy a_policy() {
  catalog::Policy policy;
  policy.digest = "digest";
  return policy;
}

// One spec of every method, with fields that differ from one another.
std::vector<learn::Method> every_method() {
  std::vector<learn::Method> methods = {learn::ObjectivePerturbation{}, learn::OutputPerturbation{},
                                        learn::MinimaPerturbation{},    learn::GradientDescent{},
                                        learn::SampledDescent{},        learn::PrefixDescent{},
                                        learn::BoltOnDescent{},         learn::AdaSsp{},
                                        learn::ExponentialChoice{},     learn::FrankWolfe{}};
  std::get<learn::ExponentialChoice>(methods[8]).candidates = {1, 2, 3};
  return methods;
}

std::vector<learn::Problem> every_problem() {
  std::vector<learn::Problem> problems;
  for (const learn::Loss& loss : {learn::Loss(learn::Squared{}), learn::Loss(learn::Logistic{}),
                                  learn::Loss(learn::HuberisedHinge{}), learn::Loss(learn::Hinge{}),
                                  learn::Loss(learn::Huber{}), learn::Loss(learn::LogCosh{}),
                                  learn::Loss(learn::Poisson{}), learn::Loss(learn::Softmax{3})}) {
    problems.emplace_back().loss = loss;
  }
  learn::HalfSpaceCut cut;
  cut.base = std::make_shared<const learn::ConvexSet>(learn::L2Ball{2});
  cut.normal = {1, 2};
  for (const learn::ConvexSet& set :
       {learn::ConvexSet(learn::L2Ball{1}), learn::ConvexSet(learn::L1Ball{1}),
        learn::ConvexSet(learn::Box{0, 1}), learn::ConvexSet(learn::Simplex{1}),
        learn::ConvexSet(cut)}) {
    problems.emplace_back().set = set;
  }
  return problems;
}

TrainingPlan a_training(const learn::Problem& problem, const learn::Method& method) {
  TrainingPlan plan{.table = "people",
                    .model = "logistic",
                    .pipeline = {{learn::NumericFeature{"age", 0, 100},
                                  learn::CategoryFeature{"city", {"Bern", "Oslo"}}},
                                 1,
                                 2},
                    .target = {"ill", {"no", "yes"}, 0, 0},
                    .problem = problem,
                    .method = method,
                    .reason = "as asked",
                    .event = privacy::event::Pure{1}};
  plan.tried_l2 = {1, 2};
  plan.counts.emplace();
  plan.selection.emplace();
  plan.selection->candidates = {method};
  return plan;
}

// Which of the flips leave the identity as it was.
template <typename Plan>
int flips_without_effect(Plan plan, int* flips) {
  const catalog::Policy policy = a_policy();
  const std::string before = identity_of(plan, policy);
  int same = 0;
  test::flip_fields(plan, [&] {
    ++*flips;
    same += identity_of(plan, policy) == before ? 1 : 0;
  });
  EXPECT_EQ(identity_of(plan, policy), before);
  return same;
}

// `reason` is prose. Nothing else may be left out, whatever the method, the loss and the set.
TEST(RequestIdentity, EveryFieldOfATrainingCounts) {
  int flips = 0;
  for (const learn::Method& method : every_method()) {
    EXPECT_EQ(flips_without_effect(a_training({}, method), &flips), 1) << learn::name(method);
  }
  for (const learn::Problem& problem : every_problem()) {
    EXPECT_EQ(flips_without_effect(a_training(problem, learn::OutputPerturbation{}), &flips), 1)
        << learn::name(problem.loss) << " " << learn::name(problem.set);
  }
  EXPECT_GT(flips, 1000);
}

TEST(RequestIdentity, EveryFieldOfASynthesisCounts) {
  SynthesisPlan plan{.table = "people",
                     .domain = {{"age", catalog::ColumnType::integer, {}, {0, 100}, 10, false},
                                {"city", catalog::ColumnType::text, {"Bern"}, {0, 1}, 0, true},
                                {"town", catalog::ColumnType::text, {"Bern"}, {0, 1}, 0, true}},
                     .workload = {{data::AttributeSet::of({0, 1}), 1}},
                     .ranges = {{0, false}},
                     .reason = "as asked",
                     .event = privacy::event::Pure{1}};
  int flips = 0;
  EXPECT_EQ(flips_without_effect(plan, &flips), 1) << "the reason alone is prose";
  EXPECT_GT(flips, 30);
}

TEST(RequestIdentity, EveryFieldOfAQuestionCounts) {
  plan::Plan plan;
  plan.canonical = "SELECT COUNT(*) FROM people";
  const auto of = [](const plan::Plan& one) { return identity_of(one, a_policy()); };
  const auto changed = [&](auto&& change) {
    plan::Plan other = plan;
    change(other);
    return of(other) != of(plan);
  };
  for (const bool automatic : {false, true}) {
    if (automatic) plan.automatic.emplace_back();
    EXPECT_TRUE(changed([](plan::Plan& one) { one.canonical += " "; }));
    // What was found makes other noise of the same automatic question.
    EXPECT_NE(changed([](plan::Plan& one) { one.epsilon = Epsilon(1); }), automatic);
    EXPECT_NE(changed([](plan::Plan& one) { one.delta = Delta(0.1); }), automatic);
    EXPECT_NE(changed([](plan::Plan& one) { one.confidence = Confidence(0.5); }), automatic);
    EXPECT_NE(changed([](plan::Plan& one) { one.event = privacy::event::Pure{1}; }), automatic);
    EXPECT_EQ(changed([](plan::Plan& one) { one.asked.epsilon = 1; }), automatic);
    EXPECT_EQ(changed([](plan::Plan& one) { one.asked.delta = 0.1; }), automatic);
    EXPECT_EQ(changed([](plan::Plan& one) { one.asked.confidence = 0.5; }), automatic);
    EXPECT_EQ(changed([](plan::Plan& one) { one.asked.noise = plan::NoiseChoice::laplace; }),
              automatic);
    EXPECT_FALSE(changed([](plan::Plan& one) { one.sql = "select count(*) from people"; }));
  }
  catalog::Policy other = a_policy();
  other.digest = "other";
  EXPECT_NE(identity_of(plan, other), of(plan));
}

// Two losses with the same bounds have the same noise; their models must not be taken for one.
TEST(RequestIdentity, LossesWithEqualBoundsAreTwoRequests) {
  std::set<std::string> seen;
  std::vector<learn::Problem> problems = every_problem();
  for (const learn::Problem& problem : problems) {
    seen.insert(identity_of(a_training(problem, learn::OutputPerturbation{}), a_policy()));
  }
  EXPECT_EQ(seen.size(), problems.size());
}

// A request of one kind is never one of another.
TEST(RequestIdentity, KindsOfRequestsDiffer) {
  const auto kind = [](const std::string& identity) {
    return nlohmann::json::parse(identity).at("request").get<std::string>();
  };
  EXPECT_EQ(kind(identity_of(plan::Plan{}, a_policy())), "query");
  EXPECT_EQ(kind(identity_of(a_training({}, learn::AdaSsp{}), a_policy())), "train");
  const SynthesisPlan synthesis{.table = "",
                                .domain = {},
                                .workload = {},
                                .ranges = {},
                                .reason = "",
                                .event = privacy::event::Pure{1}};
  EXPECT_EQ(kind(identity_of(synthesis, a_policy())), "synthesize");
}

}  // namespace
}  // namespace shoal::session
