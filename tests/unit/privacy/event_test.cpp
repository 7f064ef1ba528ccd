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
  switch (*rc::gen::inRange(0, depth > 0 ? 12 : 10)) {
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
      return event::Repeat{*rc::gen::inRange(0, 1000), sample_event(depth - 1)};
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
