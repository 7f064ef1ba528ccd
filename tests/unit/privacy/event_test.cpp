// Events: round trips through JSON, and refusals that name the place.
#include <shoal/base/error.hpp>
#include <shoal/privacy/event.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <string>
#include <utility>

namespace shoal::privacy {
namespace {

Event sample_event(int depth) {
  const double number = static_cast<double>(*rc::gen::inRange(1, 1'000'000)) / 977.0;
  const std::int64_t size = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000);
  switch (*rc::gen::inRange(0, depth > 0 ? 20 : 15)) {
    case 0:
      return event::DiscreteLaplace{number, 3};
    case 1:
      return event::DiscreteGaussian{number, 0.5};
    case 2:
      return event::Pure{number};
    case 3:
      return event::Zcdp{number};
    case 4:
      return event::Laplace{number, 0.25};
    case 5:
      return event::Gaussian{number, 4};
    case 6:
      return event::RandomizedResponse{number, *rc::gen::inRange<std::int64_t>(2, 1 << 30)};
    case 7:
      return event::LeakyRandomizedResponse{number, 1 / (1 + number)};
    case 8:
      return event::NameAndShame{1 / (1 + number)};
    case 9:
      return event::Exponential{number};
    case 10:
      return event::EpsilonDelta{number, 1 / (1 + number)};
    case 11:
      return event::Rdp{{1.5, 1.5 + number, 3 + number}, {0, number, 2 * number}};
    case 12:
      return event::Gdp{number};
    case 13:
      return event::Shuffled{number, size};
    case 14:
      return event::Gaussian{2, number, number / 3};
    case 15:
      return event::Repeat{*rc::gen::inRange(0, 1000), sample_event(depth - 1)};
    case 16:
      return event::PoissonSampled{1 / (1 + number), sample_event(depth - 1)};
    case 17:
      return event::SampledWithoutReplacement{size, size / 3, sample_event(depth - 1)};
    case 18:
      return event::Group{size, sample_event(depth - 1)};
    default: {
      event::Compose compose;
      const int parts = *rc::gen::inRange(0, 4);
      for (int i = 0; i < parts; ++i) compose.events.push_back(sample_event(depth - 1));
      return compose;
    }
  }
}

TEST(Event, RoundTripsThroughJson) {
  EXPECT_TRUE(rc::check([] {
    const Event event = sample_event(3);
    RC_ASSERT(event_from_json(to_json(event)) == event);
  }));
}

TEST(Event, HasTheDocumentedText) {
  EXPECT_EQ(to_json(Event(event::DiscreteLaplace{20, 10})),
            R"({"discrete_laplace":{"scale":20.0,"sensitivity":10.0}})");
  EXPECT_EQ(
      to_json(Event(event::Compose{{event::Pure{0.5}, event::Repeat{3, event::Zcdp{0.02}}}})),
      R"({"compose":[{"pure":{"epsilon":0.5}},{"repeat":{"count":3,"event":{"zcdp":{"rho":0.02}}}}]})");
}

TEST(Event, LocalAndContinuousOnesHaveTheDocumentedText) {
  const std::pair<Event, const char*> texts[] = {
      {event::Laplace{2, 1}, R"({"laplace":{"scale":2.0,"sensitivity":1.0}})"},
      {event::Gaussian{2, 1}, R"({"gaussian":{"sigma":2.0,"sensitivity":1.0}})"},
      {event::RandomizedResponse{1, 4},
       R"({"randomized_response":{"epsilon":1.0,"categories":4}})"},
      {event::LeakyRandomizedResponse{1, 0.5},
       R"({"leaky_randomized_response":{"epsilon":1.0,"delta":0.5}})"},
      {event::NameAndShame{0.25}, R"({"name_and_shame":{"delta":0.25}})"},
      {event::Exponential{0.5}, R"({"exponential":{"epsilon":0.5}})"},
  };
  for (const auto& [event, text] : texts) {
    EXPECT_EQ(to_json(event), text);
    EXPECT_EQ(event_from_json(text), event);
  }
}

TEST(Event, LooseAndNestedOnesHaveTheDocumentedText) {
  const Event pure = event::Pure{0.5};
  const std::pair<Event, const char*> texts[] = {
      {event::EpsilonDelta{0.5, 0.25}, R"({"epsilon_delta":{"epsilon":0.5,"delta":0.25}})"},
      {event::Rdp{{2, 8}, {0.1, 0.5}}, R"({"rdp":{"orders":[2.0,8.0],"epsilons":[0.1,0.5]}})"},
      {event::Gdp{0.5}, R"({"gdp":{"mu":0.5}})"},
      {event::PoissonSampled{0.01, pure},
       R"({"poisson_sampled":{"rate":0.01,"event":{"pure":{"epsilon":0.5}}}})"},
      {event::SampledWithoutReplacement{1000, 10, pure},
       R"({"sampled_without_replacement":{"population":1000,"sample":10,"event":{"pure":{"epsilon":0.5}}}})"},
      {event::Shuffled{1, 1000}, R"({"shuffled":{"epsilon":1.0,"users":1000}})"},
      {event::Group{3, pure}, R"({"group":{"size":3,"event":{"pure":{"epsilon":0.5}}}})"},
      {event::Laplace{2, 1, 1.0},
       R"({"laplace":{"scale":2.0,"sensitivity":1.0,"replace_sensitivity":1.0}})"},
      {event::DiscreteGaussian{2, 1, 2.0},
       R"({"discrete_gaussian":{"sigma":2.0,"sensitivity":1.0,"replace_sensitivity":2.0}})"},
  };
  for (const auto& [event, text] : texts) {
    EXPECT_EQ(to_json(event), text);
    EXPECT_EQ(event_from_json(text), event);
  }
}

TEST(Event, ExchangesMoveTwiceAsFarUnlessTold) {
  EXPECT_EQ(distance(event::Laplace{2, 3}, Neighbors::add_remove), 3);
  EXPECT_EQ(distance(event::Laplace{2, 3}, Neighbors::replace_one), 6);
  EXPECT_EQ(distance(event::Gaussian{2, 3, 4.0}, Neighbors::add_remove), 3);
  EXPECT_EQ(distance(event::Gaussian{2, 3, 4.0}, Neighbors::replace_one), 4);
  EXPECT_EQ(distance(event::DiscreteLaplace{2, 3, 0.0}, Neighbors::replace_one), 0);
  EXPECT_FALSE(Event(event::Gaussian{2, 3, 6.0}) == Event(event::Gaussian{2, 3}));
  EXPECT_NO_THROW(Event(event::Gaussian{2, 3, 6.0}));
  EXPECT_THROW(Event(event::Gaussian{2, 3, 6.001}), Error);
  EXPECT_THROW(Event(event::Gaussian{2, 1e308}), Error);
}

TEST(Event, ClassesWithEqualParametersDiffer) {
  EXPECT_FALSE(Event(event::Laplace{2, 1}) == Event(event::DiscreteLaplace{2, 1}));
  EXPECT_FALSE(Event(event::Exponential{1}) == Event(event::Pure{1}));
}

TEST(Event, AcceptsTheEdges) {
  EXPECT_NO_THROW(Event(event::RandomizedResponse{0, 2}));
  EXPECT_NO_THROW(Event(event::LeakyRandomizedResponse{0, 1}));
  EXPECT_NO_THROW(Event(event::NameAndShame{0}));
  EXPECT_NO_THROW(Event(event::NameAndShame{1}));
  EXPECT_NO_THROW(Event(event::Laplace{1, 0}));
  EXPECT_NO_THROW(Event(event::EpsilonDelta{0, 1}));
  EXPECT_NO_THROW(Event(event::Gdp{0}));
  EXPECT_NO_THROW(Event(event::Shuffled{0, 1}));
  EXPECT_NO_THROW(Event(event::PoissonSampled{0, event::Pure{1}}));
  EXPECT_NO_THROW(Event(event::PoissonSampled{1, event::Pure{1}}));
  EXPECT_NO_THROW(Event(event::SampledWithoutReplacement{1, 0, event::Pure{1}}));
  EXPECT_NO_THROW(Event(event::SampledWithoutReplacement{7, 7, event::Pure{1}}));
  EXPECT_NO_THROW(Event(event::Group{1, event::Pure{1}}));
  EXPECT_NO_THROW(Event(event::Rdp{{1.0000001}, {0}}));
}

struct Refusal {
  const char* text;
  const char* fragment;
};

TEST(Event, RefusesWithThePlace) {
  const Refusal refusals[] = {
      {"", "not valid JSON"},
      {"{", "not valid JSON"},
      {"3", "event at /: expected an object with one key"},
      {"{}", "expected an object with one key"},
      {R"({"pure":{"epsilon":1},"zcdp":{"rho":1}})", "expected an object with one key"},
      {R"({"laplace_mixture":{}})", "event at /laplace_mixture: unknown event"},
      {R"({"pure":{}})", "event at /pure: \"epsilon\" is missing"},
      {R"({"pure":{"epsilon":"1"}})", "event at /pure/epsilon: expected a number"},
      {R"({"pure":{"epsilon":-1}})", "event at /pure: epsilon is -1"},
      {R"({"pure":{"epsilon":1e999}})", "not valid JSON"},
      {R"({"pure":{"epsilon":1,"delta":0}})", "event at /pure/delta: unknown field"},
      {R"({"discrete_laplace":{"scale":0,"sensitivity":1}})", "scale is 0"},
      {R"({"compose":[{"pure":{"epsilon":1}},{"zcdp":{"rho":true}}]})",
       "event at /compose/1/zcdp/rho"},
      {R"({"compose":{}})", "event at /compose: expected a list"},
      {R"({"repeat":{"count":1.5,"event":{"pure":{"epsilon":1}}}})",
       "/repeat/count: expected a whole number"},
      {R"({"repeat":{"count":-1,"event":{"pure":{"epsilon":1}}}})", "count is -1"},
      {R"({"repeat":{"count":18446744073709551615,"event":{"pure":{"epsilon":1}}}})",
       "/repeat/count: expected a whole number"},
      {R"({"laplace":{"scale":-1,"sensitivity":1}})", "event at /laplace: scale is -1"},
      {R"({"laplace":{"sigma":1,"sensitivity":1}})", "event at /laplace: \"scale\" is missing"},
      {R"({"gaussian":{"sigma":0,"sensitivity":1}})", "event at /gaussian: sigma is 0"},
      {R"({"gaussian":{"sigma":1,"sensitivity":-1}})", "sensitivity is -1"},
      {R"({"randomized_response":{"epsilon":1,"categories":1}})", "categories is 1"},
      {R"({"randomized_response":{"epsilon":1,"categories":2.5}})",
       "/randomized_response/categories: expected a whole number"},
      {R"({"randomized_response":{"epsilon":1,"categories":9223372036854775808}})",
       "/randomized_response/categories: expected a whole number"},
      {R"({"randomized_response":{"epsilon":-1,"categories":2}})", "epsilon is -1"},
      {R"({"randomized_response":{"epsilon":1}})", "\"categories\" is missing"},
      {R"({"leaky_randomized_response":{"epsilon":1,"delta":1.5}})",
       "event at /leaky_randomized_response: delta is 1.5"},
      {R"({"leaky_randomized_response":{"epsilon":1,"delta":-0.1}})", "delta is -0.1"},
      {R"({"name_and_shame":{"delta":2}})", "event at /name_and_shame: delta is 2"},
      {R"({"name_and_shame":{"delta":0.1,"epsilon":0}})",
       "event at /name_and_shame/epsilon: unknown field"},
      {R"({"exponential":{"epsilon":-0.5}})", "event at /exponential: epsilon is -0.5"},
      {R"({"compose":[{"exponential":{"range":1}}]})",
       "event at /compose/0/exponential: \"epsilon\" is missing"},
      {R"({"laplace":{"scale":1,"sensitivity":1,"replace_sensitivity":2.5}})",
       "event at /laplace: replace_sensitivity is 2.5; it cannot exceed twice"},
      {R"({"laplace":{"scale":1,"sensitivity":1,"replace_sensitivity":"2"}})",
       "event at /laplace/replace_sensitivity: expected a number"},
      {R"({"gaussian":{"sigma":1,"sensitivity":1,"replace_sensitivity":-1}})",
       "replace_sensitivity is -1"},
      {R"({"pure":{"epsilon":1,"replace_sensitivity":1}})",
       "event at /pure/replace_sensitivity: unknown field"},
      {R"({"gaussian":{"sigma":1,"sensitivity":1e308}})", "must be below 8e307"},
      {R"({"epsilon_delta":{"epsilon":1,"delta":1.0001}})", "event at /epsilon_delta: delta is"},
      {R"({"epsilon_delta":{"epsilon":1}})", "event at /epsilon_delta: \"delta\" is missing"},
      {R"({"gdp":{"mu":-1}})", "event at /gdp: mu is -1"},
      {R"({"rdp":{"orders":[],"epsilons":[]}})", "event at /rdp: 0 orders and 0 epsilons"},
      {R"({"rdp":{"orders":[2,3],"epsilons":[1]}})", "2 orders and 1 epsilons"},
      {R"({"rdp":{"orders":[3,2],"epsilons":[1,1]}})", "order 2 follows 3"},
      {R"({"rdp":{"orders":[1],"epsilons":[1]}})", "order 1 follows 1"},
      {R"({"rdp":{"orders":[2],"epsilons":[-1]}})", "epsilon is -1"},
      {R"({"rdp":{"orders":[2,"x"],"epsilons":[1,1]}})",
       "event at /rdp/orders/1: expected a number"},
      {R"({"rdp":{"orders":2,"epsilons":[1]}})",
       "event at /rdp/orders: expected a list of numbers"},
      {R"({"poisson_sampled":{"rate":1.5,"event":{"pure":{"epsilon":1}}}})",
       "event at /poisson_sampled: rate is 1.5"},
      {R"({"poisson_sampled":{"rate":-0.5,"event":{"pure":{"epsilon":1}}}})", "rate is -0.5"},
      {R"({"poisson_sampled":{"rate":0.5}})", "\"event\" is missing"},
      {R"({"poisson_sampled":{"rate":0.5,"event":{"pure":{"epsilon":-1}}}})",
       "event at /poisson_sampled/event/pure: epsilon is -1"},
      {R"({"sampled_without_replacement":{"population":5,"sample":6,"event":{"pure":{"epsilon":1}}}})",
       "event at /sampled_without_replacement: sample is 6; it cannot exceed the population, 5"},
      {R"({"sampled_without_replacement":{"population":0,"sample":0,"event":{"pure":{"epsilon":1}}}})",
       "population is 0"},
      {R"({"sampled_without_replacement":{"population":5,"sample":1.5,"event":{"pure":{"epsilon":1}}}})",
       "/sampled_without_replacement/sample: expected a whole number"},
      {R"({"shuffled":{"epsilon":1,"users":0}})", "event at /shuffled: users is 0"},
      {R"({"shuffled":{"epsilon":-1,"users":5}})", "epsilon is -1"},
      {R"({"group":{"size":0,"event":{"pure":{"epsilon":1}}}})", "event at /group: size is 0"},
      {R"({"group":{"size":2,"event":[]}})", "event at /group/event: expected an object"},
      {R"({"compose":[{"group":{"size":2,"event":{"repeat":{"count":1,"event":{"gdp":{}}}}}}]})",
       "event at /compose/0/group/event/repeat/event/gdp: \"mu\" is missing"},
  };
  for (const Refusal& refusal : refusals) {
    try {
      event_from_json(refusal.text);
      FAIL() << "accepted " << refusal.text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::parse_error) << refusal.text;
      EXPECT_NE(std::string(error.what()).find(refusal.fragment), std::string::npos)
          << refusal.text << "\ngave: " << error.what();
    }
  }
}

TEST(Event, RefusesDeepNestingInsteadOfOverflowing) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += R"({"compose":[)";
  EXPECT_THROW(event_from_json(text), Error);
  text.clear();
  for (int i = 0; i < 100; ++i) text += R"({"compose":[)";
  text += R"({"pure":{"epsilon":1}})";
  for (int i = 0; i < 100; ++i) text += "]}";
  EXPECT_THROW(event_from_json(text), Error);
}

}  // namespace
}  // namespace shoal::privacy
