// Synthesis through the flow: planned without data, paid once, stored, refused before anything is
// spent.
#include "session/synthesis_json.hpp"
#include "support/ledger_requests.hpp"
#include "support/seeded_source.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/privacy/conversion.hpp>
#include <shoal/session/session.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace shoal::session {
namespace {

class SynthesisTest : public testing::Test {
 protected:
  void SetUp() override { write("row", "add_remove", true); }

  void write(const std::string& unit, const std::string& neighbors, bool any_rows) {
    test::SeededSource bits(1);
    std::string rows = "who,age,sex,rich\n";
    for (int i = 0; any_rows && i < 3000; ++i) {
      const auto age = 20 + bits.next_bits(6);
      const bool rich = age + bits.next_bits(4) > 60;
      rows += fmt::format("p{},{},{},{}\n", i / 2, age, bits.next_bit() ? "f" : "m",
                          rich ? "yes" : "no");
    }
    if (any_rows) rows += "p1,nan,x,\n,,,\np2,abc,f,perhaps\n";
    write_file_durably(folder_.path() / "people.csv", rows, IfExists::replace);
    std::string policy = fmt::format(
        "[dataset]\nname = \"people\"\nlineage = \"people-1\"\n"
        "[privacy]\nunit = \"{}\"\nneighbors = \"{}\"\n"
        "[budget]\nepsilon = 9\ndelta = 1e-5\nmax_epsilon_per_query = 4\nledger = \"l.db\"\n"
        "[query]\ntime_steps = 0\n"
        "[table.people]\nsource = \"people.csv\"\nformat = \"csv\"\n{}"
        "[table.people.column.who]\ntype = \"text\"\n{}"
        "[table.people.column.age]\ntype = \"integer\"\nbounds = [0, 100]\n"
        "[table.people.column.sex]\ntype = \"text\"\ncategories = [\"f\", \"m\"]\n"
        "[table.people.column.rich]\ntype = \"text\"\ncategories = [\"no\", \"yes\"]\n"
        "nulls = false\n",
        unit, neighbors,
        unit == "person" ? "person_column = \"who\"\nmax_rows_per_person = 2\n" : "",
        unit == "person" ? "" : "queryable = false\n");
    write_file_durably(policy_, policy, IfExists::replace);
  }

  SynthesisOptions options(const std::string& method) const {
    SynthesisOptions asked;
    asked.method = method;
    asked.epsilon = 3;
    asked.bins = 8;
    if (method == "mwem" || method == "blr") {
      asked.public_rows = 3000;
      asked.workload = "all-1way";
    } else {
      asked.delta = 1e-6;
    }
    if (method == "blr") {
      asked.columns = {"sex", "rich"};
      asked.size = 6;
    }
    return asked;
  }

  static std::vector<std::string> lines(const SyntheticTable& table, std::int64_t rows) {
    test::SeededSource bits(9);
    std::string text;
    write_records(table, {}, rows, bits, [&](std::string_view part) { text += part; });
    std::vector<std::string> all;
    std::stringstream stream(text);
    for (std::string line; std::getline(stream, line);) all.push_back(line);
    return all;
  }

  test::TemporaryFolder folder_;
  std::filesystem::path policy_ = folder_.path() / "people.toml";
};

TEST_F(SynthesisTest, APlanTouchesNothing) {
  const Session session(policy_);
  const SynthesisPlan plan = session.explain_synthesis(options("auto"));
  EXPECT_EQ(plan.method, SynthesisMethod::graded);
  EXPECT_TRUE(std::holds_alternative<privacy::event::Gdp>(plan.event.node()));
  EXPECT_EQ(plan.workload.size(), 1u);
  EXPECT_NE(describe(plan, session.policy()).find("sigma"), std::string::npos);
  EXPECT_FALSE(session.budget().opened);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "l.db"));
}

TEST_F(SynthesisTest, EveryMethodLearnsTheTableAndIsPaidOnce) {
  for (const char* method : {"aim", "graded", "mst", "mwem", "blr"}) {
    SCOPED_TRACE(method);
    write_file_durably(policy_, read_file(policy_), IfExists::replace);
    Session session(policy_);
    const double before = session.budget().opened ? session.budget().epsilon_spent : 0;
    test::SeededSource bits(2);
    double share = 0;
    SynthesisOptions asked = options(method);
    asked.epsilon = 1;
    const SyntheticTable first = session.synthesize(
        asked, "", [&](double now) { share = now; }, bits);
    EXPECT_GT(share, std::string(method) == "blr" ? -1 : 0.99);
    const double after = session.budget().epsilon_spent;
    EXPECT_GT(after, before);
    EXPECT_EQ(first.plan.epsilon, 1);
    // Rows by who is rich: about 52 in 100 are not. blr draws six rows, which is coarse.
    std::size_t rich = 0;
    while (first.plan.domain[rich].name != "rich") ++rich;
    const std::vector<double> table =
        first.synthesis.model.marginal(data::AttributeSet::single(rich));
    EXPECT_NEAR(table[0] / (table[0] + table[1]), 0.52, std::string(method) == "blr" ? 0.2 : 0.1);
    const SyntheticTable again = session.synthesize(asked, "", {}, bits);
    EXPECT_EQ(again.synthesis.model.potentials(), first.synthesis.model.potentials());
    EXPECT_EQ(again.synthesis.steps.size(), first.synthesis.steps.size());
    EXPECT_EQ(session.budget().epsilon_spent, after);
  }
}

// Errors are paid for out of the same cost, come with the table, and are stored with it.
class MeasuredSynthesisTest : public SynthesisTest,
                              public testing::WithParamInterface<const char*> {};

TEST_P(MeasuredSynthesisTest, ErrorsAreMeasuredWithinTheCost) {
  write("row", GetParam(), true);
  Session session(policy_);
  for (const char* method : {"aim", "graded", "mst"}) {
    SCOPED_TRACE(method);
    SynthesisOptions asked = options(method);
    asked.epsilon = 1;
    asked.workload = "all-2way";
    const SynthesisPlan plain = session.explain_synthesis(asked);
    asked.check_share = 0.1;
    const SynthesisPlan plan = session.explain_synthesis(asked);
    EXPECT_EQ(plan.event, plain.event);
    EXPECT_NE(describe(plan, session.policy()).find("check      0.1"), std::string::npos);
    EXPECT_EQ(describe(plain, session.policy()).find("check"), std::string::npos);
    test::SeededSource bits(4);
    const SyntheticTable table = session.synthesize(asked, "", {}, bits);
    ASSERT_TRUE(table.synthesis.errors);
    EXPECT_EQ(table.synthesis.errors->rows.size(), table.plan.workload.size());
    // Pairs of columns of 3,000 rows, with little noise: a few rows in a hundred.
    const auto mean = synth::mean_error(*table.synthesis.errors, table.plan.workload,
                                        table.synthesis.model.total(), 0.05);
    EXPECT_LT(mean.value, 0.3);
    EXPECT_LE(mean.lower, mean.value);
    EXPECT_LE(mean.value, mean.upper);
    const SyntheticTable again = session.synthesize(asked, "", {}, bits);
    EXPECT_EQ(again.synthesis.errors->rows, table.synthesis.errors->rows);
    EXPECT_EQ(again.synthesis.errors->rounding, table.synthesis.errors->rounding);
    EXPECT_EQ(again.synthesis.errors->sigma, plan.check_sigma);
    EXPECT_NE(report_html(table).find("Measured error"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(Relations, MeasuredSynthesisTest,
                         testing::Values("add_remove", "replace_one"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_F(SynthesisTest, ChecksThatCannotBeAreRefusedBeforeAnySpend) {
  const Session session(policy_);
  SynthesisOptions asked = options("aim");
  for (const double share : {-0.1, 0.6, std::nan(""), 1e-28, 1e-14}) {
    asked.check_share = share;
    EXPECT_THROW(session.explain_synthesis(asked), Error) << share;
  }
  asked = options("mwem");
  asked.check_share = 0.1;
  EXPECT_THROW(session.explain_synthesis(asked), Error);
  EXPECT_FALSE(session.budget().opened);
}

// The total is counted by zCDP, and a table paid for as a Gaussian must still be able to take all
// of it; where there is more, the table has the noise of its own epsilon and delta.
TEST_F(SynthesisTest, AGaussianTableMayTakeTheWholeBudget) {
  const auto mu = [&](const Session& session) {
    const SynthesisPlan plan = session.explain_synthesis(options("graded"));
    return std::get<privacy::event::Gdp>(plan.event.node()).mu;
  };
  const double free = mu(Session(policy_));
  EXPECT_EQ(free, privacy::mu_within(Epsilon(3), Delta(1e-6)));
  std::string policy = read_file(policy_);
  const std::string total = "epsilon = 9\ndelta = 1e-5\nmax_epsilon_per_query = 4";
  policy.replace(policy.find(total), total.size(), "epsilon = 3\ndelta = 1e-6");
  write_file_durably(policy_, policy, IfExists::replace);
  Session session(policy_);
  EXPECT_LT(mu(session), free);
  EXPECT_GT(mu(session), 0.9 * free);
  test::SeededSource bits(3);
  EXPECT_GT(session.synthesize(options("graded"), "", {}, bits).synthesis.steps.size(), 3u);
  EXPECT_LE(session.budget().epsilon_spent, 3);
  EXPECT_EQ(test::code_of([&] { session.synthesize(options("graded"), "again", {}, bits); }),
            ErrorCode::budget_exceeded);
}

TEST_F(SynthesisTest, RecordsHaveTheSchemaOfTheSource) {
  Session session(policy_);
  test::SeededSource bits(4);
  const auto found = lines(session.synthesize(options("graded"), "", {}, bits), 500);
  ASSERT_EQ(found.size(), 501u);
  EXPECT_EQ(found[0], "age,sex,rich");
  for (std::size_t i = 1; i < found.size(); ++i) {
    const std::size_t first = found[i].find(',');
    const std::size_t second = found[i].find(',', first + 1);
    const std::string age = found[i].substr(0, first);
    const std::string sex = found[i].substr(first + 1, second - first - 1);
    const std::string rich = found[i].substr(second + 1);
    EXPECT_TRUE(age.empty() || (std::stoi(age) >= 0 && std::stoi(age) <= 100)) << age;
    EXPECT_TRUE(sex.empty() || sex == "f" || sex == "m") << sex;
    EXPECT_TRUE(rich == "no" || rich == "yes") << rich;
  }
}

// A blank line is no record to most readers.
TEST_F(SynthesisTest, NullAloneIsNoBlankLine) {
  Session session(policy_);
  test::SeededSource bits(4);
  SynthesisOptions asked = options("aim");
  asked.columns = {"age"};
  SyntheticTable table = session.synthesize(asked, "", {}, bits);
  // All rows NULL, but one in e^5.
  std::vector<double> logs(table.plan.domain[0].size());
  logs.back() = 5;
  table.synthesis.model = synth::GraphicalModel::from_tables(
      synth::sizes_of(table.plan.domain), {data::AttributeSet::single(0)}, {logs}, 100);
  const auto found = lines(table, 100);
  ASSERT_EQ(found.size(), 101u);
  EXPECT_GT(std::count(found.begin(), found.end(), "\"\""), 50);
  EXPECT_EQ(std::count(found.begin(), found.end(), ""), 0);
}

// Measurements that would not fit in the ledger are left out, and the rest is there.
TEST_F(SynthesisTest, WhatIsStoredIsBounded) {
  Session session(policy_);
  test::SeededSource bits(4);
  const SyntheticTable table = session.synthesize(options("mst"), "", {}, bits);
  std::size_t cells = 0;
  for (const auto& one : table.synthesis.measurements) cells += one.counts.size();
  const auto sizes = synth::sizes_of(table.plan.domain);
  const auto all = synthesis_from_json(stored_synthesis(table.synthesis, cells), sizes);
  EXPECT_EQ(all.measurements.size(), table.synthesis.measurements.size());
  const auto some = synthesis_from_json(stored_synthesis(table.synthesis, cells - 1), sizes);
  EXPECT_TRUE(some.measurements.empty());
  EXPECT_EQ(some.steps.size(), table.synthesis.steps.size());
  EXPECT_EQ(some.model.potentials(), table.synthesis.model.potentials());
}

// Questions about public numbers are answered at once, however large they are.
TEST_F(SynthesisTest, PlansOfAnySizeAreDecidedAtOnce) {
  const Session session(policy_);
  SynthesisOptions asked = options("blr");
  asked.columns = {"rich"};
  asked.size.reset();
  asked.public_rows = 50'000;
  const SynthesisPlan plan = session.explain_synthesis(asked);
  EXPECT_GT(plan.size, 100);
  EXPECT_LT(error_bound(plan).value(), 0.1);
  asked.size = 100'000'000'000;
  EXPECT_EQ(test::code_of([&] { session.explain_synthesis(asked); }), ErrorCode::invalid_argument);
  // A bound of 1 or more says nothing.
  asked.size = 1;
  asked.public_rows = 1;
  const SynthesisPlan useless = session.explain_synthesis(asked);
  EXPECT_FALSE(error_bound(useless));
  EXPECT_NE(describe(useless, session.policy()).find("no useful bound"), std::string::npos);
  EXPECT_NE(to_json(useless, session.policy()).find("\"error_bound\":null"), std::string::npos);
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

// Every marginal of the workload is in the report; a long list is folded, the worst stand before
// it.
TEST_F(SynthesisTest, ReportsListEveryMarginal) {
  Session session(policy_);
  test::SeededSource bits(4);
  SynthesisOptions asked = options("aim");
  asked.workload = "all-2way";
  asked.check_share = 0.1;
  SyntheticTable table = session.synthesize(asked, "", {}, bits);
  const auto errors = marginal_errors(table);
  ASSERT_EQ(errors.size(), 3u);
  for (const MarginalError& one : errors) {
    EXPECT_TRUE(one.measured);
    EXPECT_LE(one.measured->lower, one.measured->upper);
  }
  const std::string html = report_html(table);
  for (const MarginalError& one : errors)
    EXPECT_NE(html.find("<tr><td>" + name_of(one.set, table.plan.domain)), std::string::npos);
  EXPECT_EQ(html.find("<details>"), std::string::npos);
  EXPECT_NE(html.find("All errors are of the model"), std::string::npos);
  EXPECT_NE(html.find("by the measurements"), std::string::npos);
  // As if there had been more to list.
  const synth::SynthesisStep step = table.synthesis.steps.front();
  table.synthesis.steps.assign(100, step);
  const std::string longer = report_html(table);
  EXPECT_EQ(times(longer, "<details>"), 1u);
  EXPECT_NE(longer.find("<tr><td>100</td>"), std::string::npos);
  // Without measurements nothing is predicted, and the page says why.
  table.synthesis.measurements.clear();
  EXPECT_NE(report_html(table).find("too large to be stored"), std::string::npos);
}

TEST_F(SynthesisTest, ReportsOfSmallUniversesNameCellsAndBounds) {
  Session session(policy_);
  test::SeededSource bits(4);
  SynthesisOptions asked = options("mwem");
  asked.columns = {"sex", "rich"};
  asked.workload = "all-2way";
  asked.rounds = 60;
  const SyntheticTable table = session.synthesize(asked, "", {}, bits);
  ASSERT_EQ(table.synthesis.steps.size(), 60u);
  const std::string html = report_html(table);
  for (const synth::SynthesisStep& step : table.synthesis.steps) {
    ASSERT_TRUE(step.cell);
    const auto values = cell_values(step.set, *step.cell, table.plan.domain);
    EXPECT_NE(html.find(fmt::format("{}={}, {}={}", table.plan.domain[0].name, values[0],
                                    table.plan.domain[1].name, values[1])),
              std::string::npos);
  }
  auto last = cell_values(data::AttributeSet(3), 5, table.plan.domain);
  std::sort(last.begin(), last.end());
  EXPECT_EQ(last, (std::vector<std::string>{"NULL", "yes"}));
  EXPECT_NE(html.find("padded or cut to 3000 rows"), std::string::npos);
  EXPECT_NE(html.find("with probability 0.95"), std::string::npos);
  EXPECT_EQ(html.find("by the measurements"), std::string::npos);
  const SyntheticTable drawn = session.synthesize(options("blr"), "", {}, bits);
  EXPECT_NE(report_html(drawn).find("theorem"), std::string::npos);
}

// Ranges are queries like cells: counted in the plan, learnt, and named in the report.
TEST_F(SynthesisTest, SmallUniversesTakeRanges) {
  Session session(policy_);
  test::SeededSource bits(4);
  SynthesisOptions asked = options("mwem");
  asked.columns = {"age", "rich"};
  asked.workload = "prefix:age,rich";
  asked.rounds = 30;
  const SynthesisPlan plan = session.explain_synthesis(asked);
  const std::string text = describe(plan, session.policy());
  EXPECT_NE(text.find("1 marginals and ranges: rich, prefix:age"), std::string::npos) << text;
  // 8 bins and NULL: 8 prefixes; 2 cells of rich.
  EXPECT_NE(text.find("18 possible rows, 10 queries"), std::string::npos) << text;
  EXPECT_NE(to_json(plan, session.policy()).find("\"ranges\":[\"prefix:age\"]"), std::string::npos);
  const SyntheticTable table = session.synthesize(asked, "", {}, bits);
  EXPECT_NE(report_html(table).find("age from 0 to "), std::string::npos);
  const auto age = static_cast<std::size_t>(table.plan.domain[0].name == "age" ? 0 : 1);
  const auto counts = table.synthesis.model.marginal(data::AttributeSet::single(age));
  // Nobody is below 20 or above 84; evenly spread, a third of all would be.
  EXPECT_LT(counts[0] + counts[7], 0.2 * table.synthesis.model.total());
  asked.workload = "ranges:age,rich";
  EXPECT_NE(describe(session.explain_synthesis(asked), session.policy()).find("38 queries"),
            std::string::npos);
  const auto refused = [&] {
    return test::code_of([&] { session.explain_synthesis(asked); }) == ErrorCode::invalid_argument;
  };
  asked.workload = "age,rich=2";
  EXPECT_TRUE(refused());
  asked.workload = "prefix:age";  // rich is in none
  EXPECT_TRUE(refused());
  asked = options("graded");
  asked.workload = "age*sex*rich,prefix:age";
  EXPECT_TRUE(refused());
}

TEST_F(SynthesisTest, ADrownedNumberOfRowsIsSaid) {
  Session session(policy_);
  test::SeededSource bits(4);
  SyntheticTable table = session.synthesize(options("mst"), "", {}, bits);
  EXPECT_EQ(rows_note(table), "");
  EXPECT_NEAR(static_cast<double>(estimated_rows(table)), 3000, 100);
  table.synthesis.model = synth::GraphicalModel(synth::sizes_of(table.plan.domain));
  ASSERT_LT(table.synthesis.model.total(), 1.5);
  EXPECT_EQ(estimated_rows(table), 1);
  EXPECT_NE(rows_note(table).find("estimated as 1"), std::string::npos);
}

TEST_F(SynthesisTest, PersonsCountOnce) {
  write("person", "replace_one", true);
  Session session(policy_);
  test::SeededSource bits(5);
  const SyntheticTable table = session.synthesize(options("mst"), "", {}, bits);
  EXPECT_EQ(table.plan.workload[0].set.size(), 3u);  // not the column that says whose a row is
  EXPECT_NEAR(table.synthesis.model.total(), 1500, 40);
}

TEST_F(SynthesisTest, NoRowsAreATableToo) {
  write("row", "add_remove", false);
  Session session(policy_);
  test::SeededSource bits(6);
  for (const char* method : {"aim", "graded", "mst", "mwem", "blr"}) {
    SynthesisOptions asked = options(method);
    asked.epsilon = 1;
    EXPECT_EQ(lines(session.synthesize(asked, "", {}, bits), 10).size(), 11u) << method;
  }
}

TEST_F(SynthesisTest, RefusesBeforeAnythingIsSpent) {
  Session session(policy_);
  const auto code = [&](auto&& change) {
    SynthesisOptions asked = options("graded");
    change(asked);
    return test::code_of([&] { session.synthesize(asked); });
  };
  using enum ErrorCode;
  EXPECT_EQ(code([](auto& o) { o.method = "magic"; }), invalid_argument);
  EXPECT_EQ(code([](auto& o) { o.table = "nobody"; }), not_found);
  EXPECT_EQ(code([](auto& o) { o.columns = {"agee"}; }), not_found);
  EXPECT_EQ(code([](auto& o) { o.columns = {"who"}; }), not_found);
  EXPECT_EQ(code([](auto& o) { o.workload = "age*size"; }), not_found);
  EXPECT_EQ(code([](auto& o) { o.workload = "age*sex"; }), invalid_argument);  // rich is in none
  EXPECT_EQ(code([](auto& o) { o.workload = "all-4way"; }), invalid_argument);
  EXPECT_EQ(code([](auto& o) { o.bins = 0; }), invalid_argument);
  EXPECT_EQ(code([](auto& o) { o.delta = 0; }), invalid_argument);
  EXPECT_EQ(code([](auto& o) { o.delta = 1e-3; }), refused_by_policy);
  EXPECT_EQ(code([](auto& o) { o.epsilon = 5; }), refused_by_policy);
  EXPECT_EQ(code([](auto& o) { o.epsilon = 0; }), invalid_argument);
  const auto tiny = [](auto& o) { o.epsilon = o.delta = 1e-8; };
  EXPECT_EQ(code(tiny), invalid_argument);
  EXPECT_EQ(code([&](auto& o) { tiny(o), o.method = "aim"; }), invalid_argument);
  EXPECT_EQ(code([](auto& o) { o.model_megabytes = 0.00001; }), invalid_argument);
  EXPECT_EQ(code([](auto& o) { o.model_megabytes = 257; }), invalid_argument);
  for (const char* method : {"auto", "graded", "aim", "mst"}) {
    EXPECT_EQ(code([&](auto& o) { o.method = method, o.public_rows = 10; }), invalid_argument);
    EXPECT_EQ(code([&](auto& o) { o.method = method, o.rounds = 3; }), invalid_argument);
    EXPECT_EQ(code([&](auto& o) { o.method = method, o.size = 3; }), invalid_argument);
  }
  for (const char* method : {"mwem", "blr"}) {
    const auto with = [&](auto&& change) {
      SynthesisOptions asked = options(method);
      change(asked);
      return test::code_of([&] { session.synthesize(asked); });
    };
    EXPECT_EQ(with([](auto& o) { o.model_megabytes = 2; }), invalid_argument);
    EXPECT_EQ(with([](auto& o) { o.rounds = 3, o.size = 3; }), invalid_argument);
  }
  EXPECT_EQ(code([](auto& o) { o.method = "mwem"; }), invalid_argument);  // no public rows
  EXPECT_EQ(code([](auto& o) {
              o.method = "mwem";
              o.public_rows = 0;
            }),
            invalid_argument);
  EXPECT_EQ(code([](auto& o) {
              o.method = "blr";
              o.public_rows = 100;
              o.size = 1000;
            }),
            invalid_argument);
  EXPECT_FALSE(session.budget().opened);
}

// What fails after the data was touched costs, says nothing, and closes the data set until its
// owner has looked; after that it fails the same way again, unpaid.
TEST_F(SynthesisTest, AFailureKeepsTheSpend) {
  write("row", "add_remove", true);
  Session session(policy_);
  test::SeededSource bits(7);
  const auto fail = [&] {
    session.synthesize(
        options("mst"), "k", [](double) { throw std::runtime_error("secret"); }, bits);
  };
  for (const ErrorCode code :
       {ErrorCode::internal, ErrorCode::refused_by_policy, ErrorCode::internal}) {
    try {
      fail();
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos);
    }
    if (code == ErrorCode::refused_by_policy) {
      ASSERT_EQ(session.failures().size(), 1U);
      session.reopen("the progress bar failed");
      EXPECT_TRUE(session.failures().empty());
    }
  }
  EXPECT_GT(session.budget().epsilon_spent, 1);
  EXPECT_EQ(session.budget().spends.size(), 1u);
}

}  // namespace
}  // namespace shoal::session
