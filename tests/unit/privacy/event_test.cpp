// Events: round trips through JSON, and refusals that name the place.
#include <shoal/base/error.hpp>
#include <shoal/privacy/event.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

namespace shoal::privacy {
namespace {

Event sample_event(int depth) {
  const double number = static_cast<double>(*rc::gen::inRange(1, 1'000'000)) / 977.0;
  switch (*rc::gen::inRange(0, depth > 0 ? 6 : 4)) {
    case 0:
      return event::DiscreteLaplace{number, 3};
    case 1:
      return event::DiscreteGaussian{number, 0.5};
    case 2:
      return event::Pure{number};
    case 3:
      return event::Zcdp{number};
    case 4:
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
