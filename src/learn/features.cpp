#include "learn/table_rows_key.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/learn/features.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace shoal::learn {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

const catalog::Column& column_of(const catalog::Table& table, const std::string& name) {
  const catalog::Column* column = table.find_column(name, true);
  if (!column) {
    std::vector<std::string> names;
    for (const catalog::Column& one : table.columns) names.push_back(one.name);
    const auto near = nearest_name(name, names);
    throw Error(ErrorCode::not_found,
                fmt::format("table {} has no column {}{}", table.name, printable(name, 60),
                            near ? fmt::format("; did you mean {}?", *near) : ""));
  }
  if (!column->queryable)
    throw Error(ErrorCode::refused_by_policy,
                fmt::format("the policy lets no question name the column {}", column->name));
  return *column;
}

bool usable_number(const catalog::Column& column) {
  return catalog::is_numeric(column.type) && column.bounds &&
         column.bounds->lower < column.bounds->upper;
}

Feature feature_of(const catalog::Column& column) {
  if (!column.categories.empty()) return CategoryFeature{column.name, column.categories};
  if (usable_number(column)) {
    return NumericFeature{column.name, column.bounds->lower, column.bounds->upper};
  }
  refuse(
      fmt::format("column {} has neither public bounds that differ nor a public list of "
                  "categories; add them to the policy, or leave the column out",
                  column.name));
}

void check_range(const std::string& column, double lower, double upper) {
  if (std::isfinite(lower) && std::isfinite(upper) && lower < upper) return;
  refuse(fmt::format("the bounds of {} are {} and {}; they must be finite and in order", column,
                     format_number(lower), format_number(upper)));
}

void check_categories(const std::string& column, const std::vector<std::string>& categories) {
  if (categories.empty() ||
      std::set(categories.begin(), categories.end()).size() != categories.size())
    refuse(fmt::format("the categories of {} must be given, each once", column));
}

struct Encoder {
  const data::Cell& cell;
  std::uint32_t first;  // the feature's first column
  std::vector<std::uint32_t>& columns;
  std::vector<double>& values;

  std::uint32_t operator()(const NumericFeature& feature) const {
    double share = (cell.number - feature.lower) / (feature.upper - feature.lower);
    share = std::isnan(share) ? 0.5 : std::clamp(share, 0.0, 1.0);
    if (share != 0) {
      columns.push_back(first);
      values.push_back(share);
    }
    return 1;
  }
  std::uint32_t operator()(const CategoryFeature& feature) const {
    const auto count = static_cast<std::uint32_t>(feature.categories.size());
    if (cell.category >= 0 && static_cast<std::uint32_t>(cell.category) < count) {
      columns.push_back(first + static_cast<std::uint32_t>(cell.category));
      values.push_back(1);
    }
    return count;
  }
};

}  // namespace

void validate(const Pipeline& pipeline) {
  if (pipeline.features.empty() && pipeline.intercept == 0)
    refuse("there are no features; name columns that have public bounds or categories");
  if (!(pipeline.row_norm > 0 && std::isfinite(pipeline.row_norm)))
    refuse("rows need a public norm, positive and finite");
  if (!std::isfinite(pipeline.intercept)) refuse("the intercept's constant must be finite");
  std::set<std::string> seen;
  bool categories = false;
  for (const Feature& feature : pipeline.features) {
    const auto* numeric = std::get_if<NumericFeature>(&feature);
    if (numeric) {
      check_range(numeric->column, numeric->lower, numeric->upper);
      if (categories) refuse("numeric features must stand before categories");
    } else {
      categories = true;
      const auto& one = std::get<CategoryFeature>(feature);
      check_categories(one.column, one.categories);
    }
    const std::string& column =
        numeric ? numeric->column : std::get<CategoryFeature>(feature).column;
    if (!seen.insert(column).second) refuse(fmt::format("the column {} is used twice", column));
  }
}

void validate(const Target& target) {
  if (target.categories.empty()) {
    check_range(target.column, target.lower, target.upper);
    return;
  }
  check_categories(target.column, target.categories);
  if (target.categories.size() < 2)
    refuse(fmt::format("the target {} has one category; there is nothing to learn", target.column));
}

std::size_t dimension(const Pipeline& pipeline) {
  std::size_t count = pipeline.intercept != 0 ? 1 : 0;
  for (const Feature& feature : pipeline.features) {
    const auto* category = std::get_if<CategoryFeature>(&feature);
    count += category ? category->categories.size() : 1;
  }
  return count;
}

std::vector<std::string> feature_names(const Pipeline& pipeline) {
  std::vector<std::string> names;
  for (const Feature& feature : pipeline.features) {
    if (const auto* numeric = std::get_if<NumericFeature>(&feature)) {
      names.push_back(numeric->column);
      continue;
    }
    const auto& category = std::get<CategoryFeature>(feature);
    for (const std::string& one : category.categories) names.push_back(category.column + "=" + one);
  }
  if (pipeline.intercept != 0) names.push_back("(intercept)");
  return names;
}

Pipeline pipeline_of(const catalog::Table& table, std::span<const std::string> columns,
                     double row_norm, double intercept) {
  Pipeline pipeline;
  for (const std::string& name : columns)
    pipeline.features.push_back(feature_of(column_of(table, name)));
  std::stable_partition(pipeline.features.begin(), pipeline.features.end(), [](const Feature& one) {
    return std::holds_alternative<NumericFeature>(one);
  });
  pipeline.row_norm = row_norm;
  pipeline.intercept = intercept;
  validate(pipeline);
  return pipeline;
}

Target target_of(const catalog::Table& table, const std::string& name) {
  const catalog::Column& column = column_of(table, name);
  Target target{column.name, column.categories};
  if (target.categories.empty()) {
    if (!usable_number(column)) {
      refuse(
          fmt::format("the target {} has neither a public list of classes nor public bounds; add "
                      "them to the policy",
                      column.name));
    }
    target.lower = column.bounds->lower;
    target.upper = column.bounds->upper;
  }
  validate(target);
  return target;
}

std::vector<std::string> usable_columns(const catalog::Table& table, const std::string& target) {
  std::vector<std::string> names;
  for (const catalog::Column& column : table.columns) {
    if (!column.queryable || column.name == target || column.name == table.person_column) continue;
    if (!column.categories.empty() || usable_number(column)) names.push_back(column.name);
  }
  return names;
}

std::vector<data::ColumnRequest> column_requests(const Pipeline& pipeline,
                                                 const std::optional<Target>& target) {
  std::vector<data::ColumnRequest> requests;
  for (const Feature& feature : pipeline.features) {
    const auto* category = std::get_if<CategoryFeature>(&feature);
    requests.push_back(category ? data::ColumnRequest{category->column, category->categories}
                                : data::ColumnRequest{std::get<NumericFeature>(feature).column});
  }
  if (target) requests.push_back({target->column, target->categories});
  return requests;
}

std::optional<double> label_of(const Target& target, const data::Cell& cell) {
  if (target.categories.empty()) {
    if (std::isnan(cell.number)) return {};
    const double share = (cell.number - target.lower) / (target.upper - target.lower);
    return std::clamp(2 * share - 1, -1.0, 1.0);
  }
  if (cell.category < 0) return {};
  return target.categories.size() == 2 ? 2.0 * cell.category - 1 : cell.category;
}

std::string describe_label(const Target& target, double label) {
  if (target.categories.empty())
    return format_number(target.lower + (label + 1) / 2 * (target.upper - target.lower));
  const double place = target.categories.size() == 2 ? (label + 1) / 2 : label;
  return target.categories.at(static_cast<std::size_t>(place));
}

void encode(const Pipeline& pipeline, std::span<const data::Cell> cells,
            std::vector<std::uint32_t>& columns, std::vector<double>& values) {
  columns.clear();
  values.clear();
  std::uint32_t first = 0;
  for (std::size_t i = 0; i < pipeline.features.size(); ++i)
    first += std::visit(Encoder{cells[i], first, columns, values}, pipeline.features[i]);
  if (pipeline.intercept != 0) {
    columns.push_back(first);
    values.push_back(pipeline.intercept);
  }
}

TrainingRows training_rows(data::TableRows&& table, const Pipeline& pipeline, const Target& target,
                           std::uint64_t memory_limit) {
  const data::TableRows secret = std::move(table);
  const std::size_t features = pipeline.features.size();
  SHOAL_CHECK(secret.columns() == features + 1);
  const double most =
      target.categories.size() > 2 ? static_cast<double>(target.categories.size()) : 1.0;
  const LabelKind kind = target.categories.size() == 2 ? LabelKind::sign : LabelKind::number;
  auto rows = std::make_unique<StoredRows>(dimension(pipeline), pipeline.row_norm, most, kind,
                                           memory_limit);
  std::vector<std::uint32_t> columns;
  std::vector<double> values;
  TableRowsKey::read(secret, [&](const data::Cell* cells) {
    const auto label = label_of(target, cells[features]);
    if (!label) return rows->skip_row();
    encode(pipeline, {cells, features}, columns, values);
    rows->add_sparse(columns, values, *label);
  });
  return TrainingRows(std::move(rows));
}

}  // namespace shoal::learn
