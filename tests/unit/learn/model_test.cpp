#include "learn/table_rows_key.hpp"
#include "learn/training_rows_key.hpp"
#include "support/seeded_source.hpp"

#include <shoal/base/error.hpp>
#include <shoal/learn/model.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

namespace shoal::learn {
namespace {

catalog::Table people() {
  catalog::Table table;
  table.name = "people";
  table.person_column = "who";
  table.columns = {{"who", catalog::ColumnType::text, {}, {}},
                   {"sex", catalog::ColumnType::text, {}, {"f", "m"}},
                   {"age", catalog::ColumnType::integer, catalog::Bounds{0, 100}, {}},
                   {"rich", catalog::ColumnType::text, {}, {"no", "yes"}},
                   {"city", catalog::ColumnType::text, {}, {}},
                   {"secret", catalog::ColumnType::real, catalog::Bounds{0, 1}, {}}};
  table.columns.back().queryable = false;
  return table;
}

Pipeline pipeline() { return pipeline_of(people(), std::vector<std::string>{"sex", "age"}, 1, 1); }

Model model() {
  Model made;
  made.shoal_version = "0.1.0";
  made.method = "objective";
  made.pipeline = pipeline();
  made.target = target_of(people(), "rich");
  made.weights = {0.1, -2, 1.0 / 3, 1e-17};
  made.l2 = 1.5;
  made.privacy = {1,
                  1e-6,
                  Neighbors::add_remove,
                  "one row",
                  "this model is private",
                  R"({"pure":{"epsilon":1.0}})"};
  return made;
}

TEST(Features, ComeFromPublicFactsAlone) {
  EXPECT_EQ(usable_columns(people(), "rich"), (std::vector<std::string>{"sex", "age"}));
  EXPECT_EQ(feature_names(pipeline()),
            (std::vector<std::string>{"age", "sex=f", "sex=m", "(intercept)"}));
  EXPECT_EQ(dimension(pipeline()), 4);
  for (const char* bad : {"city", "secret", "nothing"})
    EXPECT_THROW(pipeline_of(people(), std::vector<std::string>{bad}, 1, 1), Error) << bad;
  EXPECT_THROW(target_of(people(), "city"), Error);
  EXPECT_THROW(pipeline_of(people(), std::vector<std::string>{"age", "age"}, 1, 1), Error);
}

TEST(Features, OddCellsFollowPublicRules) {
  std::vector<std::uint32_t> columns;
  std::vector<double> values;
  const auto encoded = [&](double age, std::int32_t sex) {
    encode(pipeline(), std::vector<data::Cell>{{age, -1}, {NAN, sex}}, columns, values);
    std::vector<double> dense(4);
    for (std::size_t i = 0; i < columns.size(); ++i) dense[columns[i]] = values[i];
    return dense;
  };
  EXPECT_EQ(encoded(25, 1), (std::vector<double>{0.25, 0, 1, 1}));
  EXPECT_EQ(encoded(NAN, 0), (std::vector<double>{0.5, 1, 0, 1}));
  EXPECT_EQ(encoded(-9, -1), (std::vector<double>{0, 0, 0, 1}));
  EXPECT_EQ(encoded(INFINITY, 7), (std::vector<double>{1, 0, 0, 1}));
}

TEST(Features, TrainingRowsAreClippedAndRowsWithoutLabelLeftOut) {
  data::TableRows table(3, [](const data::TableRows::Take& take) {
    for (const std::int32_t label : {0, 1, -1, 1})
      take(std::vector<data::Cell>{{50, -1}, {NAN, 1}, {NAN, label}}.data());
  });
  const TrainingRows rows =
      training_rows(std::move(table), pipeline(), target_of(people(), "rich"), 1 << 20);
  EXPECT_EQ(rows.label_kind(), LabelKind::sign);
  const RowSource& open = TrainingRowsKey::open(rows);
  ASSERT_EQ(open.row_count(), 3);
  EXPECT_EQ(open.slot_count(), 4);
  BlockBuffer buffer;
  const RowBlock block = open.block(0, buffer);
  EXPECT_EQ(block.labels[0], -1);
  EXPECT_EQ(block.labels[1], 1);
  double square = 0;
  for (std::uint32_t k = block.begins[0]; k < block.begins[1]; ++k)
    square += block.values[k] * block.values[k];
  EXPECT_LE(square, 1);
  EXPECT_GT(square, 1 - 1e-9);
}

TEST(Rows, ClippingKeepsTheExactNormWithinTheBound) {
  for (const double size : {1e-300, 0.1, 1.0, 3.7, 1e300}) {
    std::vector<double> values(17, size);
    values[3] = NAN;
    clip_row(values, 1.25);
    long double square = 0;
    for (const double x : values) square += static_cast<long double>(x) * x;
    EXPECT_LE(std::sqrt(square), 1.25L);
    EXPECT_EQ(values[3], 0);
    if (size >= 1) {
      EXPECT_GT(std::sqrt(square), 1.2499L);
    } else {
      EXPECT_EQ(values[0], size);
    }
  }
}

// Wherever blocks lie, they are what they would be in memory, read by several threads at once.
TEST(Rows, BeyondALimitRowsLieInAFile) {
  for (const bool sparse : {true, false}) {
    test::SeededSource bits(5);
    MemoryRows memory(5, 1, 1, LabelKind::number);
    // Two blocks fit, more or less; the last block is never full.
    StoredRows stored(5, 1, 1, LabelKind::number, 300'000);
    for (std::size_t i = 0; i < 5 * kBlockRows + 17; ++i) {
      std::vector<std::uint32_t> columns;
      std::vector<double> values;
      for (std::uint32_t j = 0; j < 5; ++j) {
        if (sparse && bits.next_bit()) continue;
        columns.push_back(j);
        values.push_back(static_cast<double>(bits.next_bits(8)) / 128 - 1);
      }
      const double label = static_cast<double>(bits.next_bits(8)) / 128 - 1;
      if (sparse) {
        memory.add_sparse(columns, values, label);
        stored.add_sparse(columns, values, label);
      } else {
        memory.add_dense(values, label);
        stored.add_dense(values, label);
      }
    }
    ASSERT_EQ(stored.row_count(), memory.row_count());
    ASSERT_EQ(stored.block_count(), memory.block_count());
    EXPECT_EQ(stored.widest_row(), memory.widest_row());
    const auto same_blocks = [&] {
      BlockBuffer mine;
      BlockBuffer theirs;
      int read_from_file = 0;
      for (std::size_t b = memory.block_count(); b-- > 0;) {
        const RowBlock a = stored.block(b, mine);
        const RowBlock z = memory.block(b, theirs);
        ASSERT_EQ(a.rows, z.rows);
        ASSERT_EQ(a.layout, z.layout);
        read_from_file += a.values == mine.values.data() ? 1 : 0;
        const std::size_t count = sparse ? z.begins[z.rows] : z.rows * 5;
        if (sparse) {
          ASSERT_TRUE(std::equal(z.begins, z.begins + z.rows + 1, a.begins));
          ASSERT_TRUE(std::equal(z.columns, z.columns + count, a.columns));
        } else {
          ASSERT_EQ(a.layout, RowLayout::dense);
        }
        ASSERT_TRUE(std::equal(z.values, z.values + count, a.values));
        ASSERT_TRUE(std::equal(z.labels, z.labels + z.rows, a.labels));
      }
      EXPECT_GE(read_from_file, 2);
      EXPECT_LE(read_from_file, 4);
    };
    std::thread other(same_blocks);
    same_blocks();
    other.join();
  }
}

TEST(Rows, LabelsOfTwoClassesAreSigns) {
  MemoryRows rows(1, 1, 1, LabelKind::sign);
  for (const double label : {0.3, -0.2, 0.0, 7.0, static_cast<double>(NAN)})
    rows.add_dense(std::vector<double>{1}, label);
  BlockBuffer buffer;
  const RowBlock block = rows.block(0, buffer);
  EXPECT_EQ(std::vector<double>(block.labels, block.labels + 5),
            (std::vector<double>{1, -1, -1, 1, -1}));
}

TEST(Models, SurviveTheirFile) {
  const Model before = model();
  EXPECT_EQ(model_from_json(to_json(before)), before);
  EXPECT_EQ(pipeline_from_json(to_json(before.pipeline)), before.pipeline);
  EXPECT_EQ(target_from_json(to_json(before.target)), before.target);
}

TEST(Models, BrokenOrLaterFilesAreRefused) {
  const std::string good = to_json(model());
  const auto code = [](const std::string& text) {
    try {
      model_from_json(text);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  EXPECT_EQ(code(with("\"format\": 1", "\"format\": 2")), ErrorCode::unsupported);
  for (const std::string& bad :
       {std::string("{"), std::string("[]"), with("\"format\": 1", "\"format\": \"1\""),
        with("\"weights\"", "\"wights\""), with("\"logistic\"", "\"mystery\""),
        with("\"logistic\"", "\"squared\""), with("-2.0,", ""), with("-2.0", "\"x\""),
        with("\"row_norm\": 1.0", "\"row_norm\": -1.0"), with("add_remove", "add"),
        with("sex=f", "sex=x")}) {
    EXPECT_EQ(code(bad), ErrorCode::parse_error) << bad.substr(0, 60);
  }
}

TEST(Models, PredictAndEvaluate) {
  Model one = model();
  one.weights = {0, -3, 3, 0};
  const std::vector<data::Cell> man = {{50, -1}, {NAN, 1}, {NAN, 1}};
  const std::vector<data::Cell> woman = {{50, -1}, {NAN, 0}, {NAN, 1}};
  const Prediction prediction = predict(one, std::span(man).first(2));
  EXPECT_EQ(describe_label(one.target, prediction.label), "yes");
  EXPECT_NEAR(prediction.score, 2, 1e-9);  // the row has norm 1.5 before clipping
  EXPECT_NEAR(prediction.chance, 1 / (1 + std::exp(-2.0)), 1e-9);
  Evaluator evaluator(one);
  evaluator.add(man);
  evaluator.add(woman);
  evaluator.add(std::vector<data::Cell>{{50, -1}, {NAN, 0}, {NAN, -1}});
  const Evaluation found = evaluator.result();
  EXPECT_EQ(found.rows, 2);
  EXPECT_EQ(found.unlabelled, 1);
  EXPECT_EQ(found.accuracy, 0.5);
  EXPECT_EQ(found.majority, 1);
  EXPECT_NEAR(found.mean_loss, std::log1p(std::exp(-2.0)) + 1, 1e-9);
}

}  // namespace
}  // namespace shoal::learn
