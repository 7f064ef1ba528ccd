// Features: what a row of a table becomes before anything is learnt. All of it is public: bounds
// and lists of categories come from the policy, nothing is read off private rows.
//
//   numeric column    (x - lower) / (upper - lower), clamped to [0, 1]; missing: 1/2
//   category column   one 0/1 feature a listed category; missing or not listed: all 0
//   intercept         a constant feature, regularised like any other
//
// Then the row is scaled down to the public norm. The pipeline is saved with the model, so new rows
// are treated alike.
#pragma once

#include <shoal/catalog/policy.hpp>
#include <shoal/data/table_rows.hpp>
#include <shoal/learn/rows.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace shoal::learn {

struct NumericFeature {
  std::string column;
  double lower = 0;
  double upper = 1;
  bool operator==(const NumericFeature&) const = default;
};

struct CategoryFeature {
  std::string column;
  std::vector<std::string> categories;
  bool operator==(const CategoryFeature&) const = default;
};

using Feature = std::variant<NumericFeature, CategoryFeature>;

struct Pipeline {
  std::vector<Feature> features;  // numeric ones first
  double intercept = 0;           // the constant's value; 0: none
  double row_norm = 1;
  bool operator==(const Pipeline&) const = default;
};

// What is predicted. Two categories are the labels -1 and +1, more are 0, 1, ...; a number is
// scaled to [-1, 1] by its bounds.
struct Target {
  std::string column;
  std::vector<std::string> categories = {};  // empty: a number
  double lower = 0;
  double upper = 0;
  bool operator==(const Target&) const = default;
};

// Throw invalid_argument for what is empty or out of range.
void validate(const Pipeline& pipeline);
void validate(const Target& target);

std::size_t dimension(const Pipeline& pipeline);
// One name a feature: "age", "sex=Male", "(intercept)".
std::vector<std::string> feature_names(const Pipeline& pipeline);

// The features of these columns of a table, by its public bounds and lists. Throws invalid_argument
// for a column without them.
Pipeline pipeline_of(const catalog::Table& table, std::span<const std::string> columns,
                     double row_norm, double intercept);
Target target_of(const catalog::Table& table, const std::string& column);
// Every queryable column that has bounds or a list, but for the target and the person.
std::vector<std::string> usable_columns(const catalog::Table& table, const std::string& target);

// What a table has to be asked for: the pipeline's columns in their order, then the target's.
std::vector<data::ColumnRequest> column_requests(const Pipeline& pipeline,
                                                 const std::optional<Target>& target);

// The label of a cell; none where it is missing or not listed.
std::optional<double> label_of(const Target& target, const data::Cell& cell);
// What a label stands for: a category or a number.
std::string describe_label(const Target& target, double label);

// The features of one row, before clipping: columns ascending, zeros left out.
void encode(const Pipeline& pipeline, std::span<const data::Cell> cells,
            std::vector<std::uint32_t>& columns, std::vector<double>& values);

// Private rows of a table as training rows, clipped; beyond so many bytes they lie in a temporary
// file. A row without a label adds nothing.
TrainingRows training_rows(data::TableRows&& table, const Pipeline& pipeline, const Target& target,
                           std::uint64_t memory_limit);

// JSON, as it stands in a model.
std::string to_json(const Pipeline& pipeline);
std::string to_json(const Target& target);
Pipeline pipeline_from_json(std::string_view text);
Target target_from_json(std::string_view text);

}  // namespace shoal::learn
