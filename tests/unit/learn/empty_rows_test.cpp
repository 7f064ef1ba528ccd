// Rows without a non-zero feature are rows like all others: every method trains on them, whether
// they fill a block, a table or a file.
#include "learn/selection_runs.hpp"
#include "support/every_method.hpp"
#include "support/seeded_source.hpp"

#include <shoal/learn/risk.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

namespace shoal::learn {
namespace {

using test::MethodCase;
using test::SeededSource;

constexpr std::size_t kDimension = 4;

// A row with one feature, or with none.
template <typename Rows>
void add_row(Rows& rows, bool empty, std::size_t i) {
  const std::vector<std::uint32_t> columns = {static_cast<std::uint32_t>(i % kDimension)};
  const std::vector<double> values = {i % 3 == 0 ? -0.5 : 1.0};
  const double label = i % 2 == 0 ? 1 : -1;
  if (empty) {
    rows.add_sparse({}, {}, label);
  } else {
    rows.add_sparse(columns, values, label);
  }
}

struct RowsCase {
  std::string name;
  std::unique_ptr<RowSource> rows;
};

std::vector<RowsCase> odd_rows() {
  const auto in_memory = [] {
    return std::make_unique<MemoryRows>(kDimension, 1.0, 1.0, LabelKind::sign);
  };
  const auto on_disk = [] {
    return std::make_unique<StoredRows>(kDimension, 1.0, 1.0, LabelKind::sign, 0);
  };
  const auto filled = [](auto rows, std::size_t count,
                         const std::function<bool(std::size_t)>& empty) {
    for (std::size_t i = 0; i < count; ++i) add_row(*rows, empty(i), i);
    return rows;
  };
  const auto all = [](std::size_t) { return true; };
  const auto second_block = [](std::size_t i) { return i / kBlockRows == 1; };
  const auto last = [](std::size_t i) { return i + 1 == 3 * kBlockRows; };
  std::vector<RowsCase> cases;
  cases.push_back({"no row", in_memory()});
  cases.push_back({"one row without a feature", filled(in_memory(), 1, all)});
  cases.push_back({"one row with a feature", filled(in_memory(), 1, [](auto) { return false; })});
  cases.push_back({"rows without a feature", filled(in_memory(), 1000, all)});
  cases.push_back({"an empty block", filled(in_memory(), 3 * kBlockRows, second_block)});
  cases.push_back({"an empty last row", filled(in_memory(), 3 * kBlockRows, last)});
  cases.push_back({"no row on disk", on_disk()});
  cases.push_back({"empty blocks on disk", filled(on_disk(), 2 * kBlockRows + 9, all)});
  cases.push_back({"an empty block on disk", filled(on_disk(), 3 * kBlockRows, second_block)});
  // Enough blocks that Newton's method starts on a part of them.
  cases.push_back({"many empty blocks", filled(on_disk(), 9 * kBlockRows, all)});
  auto unlabelled = in_memory();
  unlabelled->skip_row();
  cases.push_back({"a row without a label", std::move(unlabelled)});
  return cases;
}

void expect_weights(const MethodCase& one, const std::vector<double>& weights) {
  ASSERT_EQ(weights.size(), weight_count(one.problem));
  for (const double w : weights) EXPECT_TRUE(std::isfinite(w));
}

TEST(EmptyRows, EveryMethodTrainsOnThem) {
  const std::vector<MethodCase> methods = test::every_method(kDimension);
  for (const RowsCase& rows : odd_rows()) {
    for (const MethodCase& one : methods) {
      SCOPED_TRACE(one.name + " on " + rows.name);
      SeededSource bits(7);
      expect_weights(one, std::visit(
                              [&](const auto& method) {
                                return train(method, one.problem, *rows.rows, bits, {});
                              },
                              one.method));
    }
  }
}

// Whatever a value or a label is. Labels may all be the same.
TEST(HostileRows, EveryMethodTrainsOnThem) {
  const double nan = std::nan("");
  const double least = std::numeric_limits<double>::denorm_min();
  const std::vector<std::vector<double>> hostile = {
      {nan, 0, 0, 0},     {INFINITY, -INFINITY, nan, 1}, {1e308, -1e308, 1e308, 1e308},
      {-0.0, 0, -0.0, 0}, {least, -least, least, least}, {1e-300, 1e300, 0, -1e-300},
  };
  std::vector<std::unique_ptr<MemoryRows>> tables;
  for (const bool sparse : {false, true}) {
    for (const double label : std::vector<double>{1, -1, nan, -INFINITY}) {
      auto rows = std::make_unique<MemoryRows>(kDimension, 1.0, 1.0, LabelKind::sign);
      for (int i = 0; i < 20; ++i) {
        for (const auto& values : hostile) {
          if (sparse) {
            rows->add_sparse(std::vector<std::uint32_t>{0, 1, 2, 3}, values, label);
          } else {
            rows->add_dense(values, label);
          }
        }
      }
      tables.push_back(std::move(rows));
    }
  }
  for (const MethodCase& one : test::every_method(kDimension)) {
    for (const auto& rows : tables) {
      SCOPED_TRACE(one.name);
      SeededSource bits(9);
      expect_weights(
          one, std::visit(
                   [&](const auto& method) { return train(method, one.problem, *rows, bits, {}); },
                   one.method));
    }
  }
}

// What is told on the way is a public plan: the same for every table. Where rows decide how long a
// training takes, nothing is told.
TEST(Progress, TellsTheStepsOfAPublicPlanAlone) {
  using Told = std::vector<std::pair<std::int64_t, std::int64_t>>;
  for (const MethodCase& one : test::every_method(kDimension)) {
    SCOPED_TRACE(one.name);
    std::optional<Told> first;
    for (const RowsCase& rows : odd_rows()) {
      Told told;
      FitOptions options;
      options.progress = [&](std::int64_t done, std::int64_t planned) {
        told.emplace_back(done, planned);
      };
      SeededSource bits(7);
      std::visit([&](const auto& method) { train(method, one.problem, *rows.rows, bits, options); },
                 one.method);
      if (!first) first = told;
      EXPECT_EQ(told, *first) << rows.name;
    }
    const bool stepwise = one.name.starts_with("gradient") || one.name == "sgd" ||
                          one.name == "ftrl" || one.name == "bolt_on" || one.name == "frank_wolfe";
    ASSERT_EQ(first->empty(), !stepwise);
    for (std::size_t i = 0; i < first->size(); ++i)
      EXPECT_EQ((*first)[i], std::pair(static_cast<std::int64_t>(i + 1),
                                       static_cast<std::int64_t>(first->size())));
  }
}

// A private choice and counts on rows set aside cut the rows in two: either part may be empty.
TEST(EmptyRows, BothPartsOfASplitMayBeEmpty) {
  const std::vector<MethodCase> methods = test::every_method(kDimension);
  for (const RowsCase& rows : odd_rows()) {
    SeededSource bits(8);
    const SplitRows split = split_rows(*rows.rows, bits);
    EXPECT_EQ(split.training->slot_count() + split.held_out->slot_count(), rows.rows->slot_count());
    for (const MethodCase& one : methods) {
      SCOPED_TRACE(one.name + " on " + rows.name);
      const std::vector<double> weights = std::visit(
          [&](const auto& method) { return train(method, one.problem, *split.training, bits, {}); },
          one.method);
      expect_weights(one, weights);
      if (std::holds_alternative<Softmax>(one.problem.loss)) continue;
      const auto most = Int128{kScoreSteps} * split.held_out->row_count();
      const Int128 score = held_out_score(one.problem.loss, *split.held_out, weights);
      EXPECT_LE(-score, most);
      EXPECT_GE(-score, 0);
    }
  }
}

// A block says what it is, and an empty sparse block gives the sums of dense rows of zeros.
TEST(EmptyRows, AreReadAsRowsOfZeros) {
  MemoryRows dense(kDimension, 1, 1, LabelKind::sign);
  for (std::size_t i = 0; i < 10; ++i)
    dense.add_dense(std::vector<double>(kDimension, 0.0), i % 2 == 0 ? 1 : -1);
  MemoryRows sparse(kDimension, 1, 1, LabelKind::sign);
  for (std::size_t i = 0; i < 10; ++i) add_row(sparse, true, i);
  BlockBuffer buffer;
  EXPECT_EQ(sparse.block(0, buffer).layout, RowLayout::sparse);
  EXPECT_EQ(dense.block(0, buffer).layout, RowLayout::dense);
  const std::vector<double> weights(kDimension, 2.0);
  EXPECT_EQ(empirical_risk(Logistic{}, sparse, weights),
            empirical_risk(Logistic{}, dense, weights));
  EXPECT_EQ(held_out_score(Logistic{}, sparse, weights),
            held_out_score(Logistic{}, dense, weights));
}

}  // namespace
}  // namespace shoal::learn
