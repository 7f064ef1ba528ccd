// Local randomizers: ranges, JSON, what a draw does to a truth, and that draws cost the same
// however they come out. Laws and claims: tests/contract/randomizer_contract_test.cpp.
#include "support/chi_square.hpp"
#include "support/scripted_source.hpp"
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/randomizer_registry.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

namespace shoal::mechanism {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Counts the bits asked for.
class CountingSource final : public random::BitSource {
 public:
  explicit CountingSource(std::uint64_t seed) : inner_(seed) {}
  void fill(std::span<unsigned char> bytes) override {
    count_ += 8 * bytes.size();
    inner_.fill(bytes);
  }
  std::uint64_t next_bits(int count) override {
    count_ += static_cast<std::size_t>(count);
    return inner_.next_bits(count);
  }
  std::size_t count() const { return count_; }

 private:
  test::SeededSource inner_;
  std::size_t count_ = 0;
};

template <class Sampler>
std::size_t bits_of_each_draw(const Sampler& sampler) {
  std::set<std::size_t> seen;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    CountingSource source(seed);
    sampler.sample(source);
    seen.insert(source.count());
  }
  EXPECT_EQ(seen.size(), 1u) << "the number of bits depends on the draw";
  return *seen.begin();
}

TEST(Randomizer, DrawsTakeTheSameBitsHoweverTheyComeOut) {
  EXPECT_EQ(bits_of_each_draw(prepare(RandomizedResponse{1, 2})), 64u);
  EXPECT_EQ(bits_of_each_draw(prepare(RandomizedResponse{1, 3})), 128u);
  EXPECT_EQ(bits_of_each_draw(prepare(RandomizedResponse{0.2, 1000})), 128u);
  EXPECT_EQ(bits_of_each_draw(prepare(LeakyRandomizedResponse{1, 0.3})), 128u);
  EXPECT_EQ(bits_of_each_draw(prepare(NameAndShame{0.3})), 64u);
}

TEST(RandomizedResponse, OffsetsGoAround) {
  const RandomizedResponse spec{1, 5};
  EXPECT_EQ(respond(spec, 3, Draw{0}), 3u);
  EXPECT_EQ(respond(spec, 3, Draw{1}), 4u);
  EXPECT_EQ(respond(spec, 3, Draw{2}), 0u);
  EXPECT_EQ(respond(spec, 4, Draw{4}), 3u);
}

TEST(RandomizedResponse, WordsThatWouldFavourAnOffsetAreDrawnAgain) {
  // Of 2^64 words and 3 other categories one is too many: the product 0. It comes from the word 0.
  std::vector<bool> bits(64, true);                   // not kept
  bits.insert(bits.end(), 64, false);                 // refused
  for (int i = 0; i < 64; ++i) bits.push_back(true);  // the last offset
  test::ScriptedSource source(bits);
  EXPECT_EQ(prepare(RandomizedResponse{0, 4}).sample(source).value, 3u);
  EXPECT_EQ(source.bits_used(), 192u);
}

TEST(RandomizedResponse, ReportsAllFollowThePmf) {
  // More than one batch, and not a whole number of them. Seeded; over seeds it would fail once in
  // half a million.
  for (const std::uint64_t categories : {2u, 7u}) {
    const RandomizedResponse spec{0.5, categories};
    const RandomizedResponseSampler sampler(spec);
    std::vector<std::uint64_t> truths(100'003);
    for (std::size_t i = 0; i < truths.size(); ++i) truths[i] = i % categories;
    std::vector<std::uint64_t> reports(truths.size());
    test::SeededSource bits(3);
    sampler.report_all(truths, reports, bits);
    std::size_t next = 0;
    const auto offset = [&](random::BitSource&) {
      const std::size_t i = next++;
      return static_cast<Int128>((reports[i] + categories - truths[i]) % categories);
    };
    const auto log_law = [&](Int128 x) {
      return x < 0 || x >= static_cast<Int128>(categories)
                 ? -kInfinity
                 : log_pmf(spec, 0, static_cast<std::uint64_t>(x));
    };
    EXPECT_GT(test::chi_square_p_value(offset, log_law, 16, static_cast<int>(truths.size()), bits),
              1e-6);
  }
}

TEST(RandomizedResponse, ReportsAllRefuseBeforeTheFirst) {
  const RandomizedResponseSampler sampler(RandomizedResponse{0.5, 7});
  const std::vector<std::uint64_t> wrong = {0, 7};
  std::vector<std::uint64_t> room(2, 99);
  test::SeededSource bits(3);
  EXPECT_THROW(sampler.report_all(wrong, room, bits), Error);
  EXPECT_EQ(room, (std::vector<std::uint64_t>{99, 99}));
  const std::vector<std::uint64_t> one = {3};
  EXPECT_THROW(sampler.report_all(one, room, bits), Error);
  EXPECT_THROW(sampler.report(7, bits), Error);
  EXPECT_NO_THROW(sampler.report_all({}, {}, bits));
}

TEST(RandomizedResponse, RefusesParametersOutOfRange) {
  for (const RandomizedResponse& spec :
       {RandomizedResponse{-0.1, 2}, RandomizedResponse{1000.5, 2}, RandomizedResponse{kNan, 2},
        RandomizedResponse{kInfinity, 2}, RandomizedResponse{1, 0}, RandomizedResponse{1, 1},
        RandomizedResponse{1, kMaxCategories + 1}, RandomizedResponse{}}) {
    EXPECT_THROW(validate(spec), Error) << describe(spec);
    EXPECT_THROW(prepare(spec), Error) << describe(spec);
    EXPECT_THROW(privacy_event(spec), Error) << describe(spec);
    EXPECT_THROW(truth_count(spec), Error) << describe(spec);
    EXPECT_THROW(to_json(spec), Error) << describe(spec);
  }
  EXPECT_NO_THROW(prepare(RandomizedResponse{1000, kMaxCategories}));
  EXPECT_NO_THROW(prepare(RandomizedResponse{5e-324, 2}));
}

TEST(LeakyRandomizedResponse, ReportsSayWhatTheyMean) {
  const LeakyRandomizedResponse spec{1, 0.1};
  const auto said = [&](std::uint64_t truth, std::uint64_t draw) {
    return static_cast<LeakyReport>(respond(spec, truth, Draw{draw}));
  };
  EXPECT_EQ(said(0, 0), LeakyReport::zero);
  EXPECT_EQ(said(0, 1), LeakyReport::one);
  EXPECT_EQ(said(0, 2), LeakyReport::surely_zero);
  EXPECT_EQ(said(1, 0), LeakyReport::one);
  EXPECT_EQ(said(1, 1), LeakyReport::zero);
  EXPECT_EQ(said(1, 2), LeakyReport::surely_one);
  EXPECT_THROW(validate(LeakyRandomizedResponse{1, -0.1}), Error);
  EXPECT_THROW(validate(LeakyRandomizedResponse{1, 1.1}), Error);
  EXPECT_THROW(validate(LeakyRandomizedResponse{1, kNan}), Error);
  EXPECT_THROW(validate(LeakyRandomizedResponse{-1, 0}), Error);
}

TEST(NameAndShame, PublishesOrSaysNothing) {
  const NameAndShame spec{0.25};
  EXPECT_EQ(respond(spec, 41, Draw{0}), 0u);
  EXPECT_EQ(respond(spec, 41, Draw{1}), 42u);
  EXPECT_NEAR(std::exp(log_pmf(spec, 41, 42)), 0.25, 1e-15);
  EXPECT_EQ(log_pmf(spec, 41, 41), -kInfinity);
  EXPECT_THROW(respond(spec, std::uint64_t{1} << 63, Draw{1}), Error);
  EXPECT_THROW(validate(NameAndShame{-1e-9}), Error);
  EXPECT_THROW(validate(NameAndShame{2}), Error);
}

TEST(RandomizerErrors, NameNoPrivateValue) {
  try {
    respond(RandomizedResponse{1, 4}, 1234567, Draw{0});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("1234567"), std::string::npos);
  }
}

TEST(RandomizerJson, HasTheDocumentedText) {
  EXPECT_EQ(to_json(RandomizedResponse{0.5, 4}),
            R"({"randomized_response": {"epsilon": 0.5, "categories": 4}})");
  EXPECT_EQ(to_json(LeakyRandomizedResponse{1, 0.01}),
            R"({"leaky_randomized_response": {"epsilon": 1, "delta": 0.01}})");
  EXPECT_EQ(to_json(NameAndShame{0.25}), R"({"name_and_shame": {"delta": 0.25}})");
}

struct Refusal {
  const char* text;
  const char* fragment;
};

TEST(RandomizerJson, RefusesEverythingElse) {
  const Refusal refusals[] = {
      {"", "no JSON"},
      {"[]", "an object with one key"},
      {R"({"laplace": {"scale": 1}})", "there is no randomizer \"laplace\""},
      {R"({"name_and_shame": {}})", "\"delta\" is missing"},
      {R"({"name_and_shame": 1})", "must be an object"},
      {R"({"name_and_shame": {"delta": "0"}})", "/name_and_shame/delta must be a number"},
      {R"({"name_and_shame": {"delta": 0, "delta": 0}})", "comes twice"},
      {R"({"name_and_shame": {"delta": 0, "epsilon": 0}})", "/epsilon: unknown field"},
      {R"({"name_and_shame": {"delta": 1.5}})", "delta is 1.5"},
      {R"({"leaky_randomized_response": {"epsilon": -1, "delta": 0}})", "epsilon is -1"},
      {R"({"randomized_response": {"epsilon": 1, "categories": 2.5}})", "must be a whole number"},
      {R"({"randomized_response": {"epsilon": 1, "categories": -2}})", "must be a whole number"},
      {R"({"randomized_response": {"epsilon": 1, "categories": 1}})", "categories is 1"},
      {R"({"randomized_response": {"epsilon": 2000, "categories": 2}})", "epsilon is 2000"},
  };
  for (const Refusal& refusal : refusals) {
    try {
      randomizer_from_json(refusal.text);
      ADD_FAILURE() << "accepted " << refusal.text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::parse_error) << refusal.text;
      EXPECT_NE(std::string(error.what()).find(refusal.fragment), std::string::npos)
          << refusal.text << "\ngave: " << error.what();
    }
  }
}

}  // namespace
}  // namespace shoal::mechanism
