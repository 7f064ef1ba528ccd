#include <shoal/base/error.hpp>
#include <shoal/learn/model.hpp>
#include <shoal/learn/problem.hpp>
#include <shoal/numeric/binomial.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal::learn {
namespace {

std::size_t class_count(const Model& model) {
  const auto* softmax = std::get_if<Softmax>(&model.loss);
  return softmax ? softmax->classes : 1;
}

// The linear predictions for a row: one, or one a class.
std::vector<double> scores(const Model& model, std::span<const data::Cell> cells) {
  std::vector<std::uint32_t> columns;
  std::vector<double> values;
  encode(model.pipeline, cells, columns, values);
  clip_row(values, model.pipeline.row_norm);
  const std::size_t width = dimension(model.pipeline);
  std::vector<double> z(class_count(model), 0.0);
  for (std::size_t k = 0; k < z.size(); ++k) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      z[k] += values[i] * model.weights[k * width + columns[i]];
  }
  return z;
}

// What the loss of a row can be with these weights. Scaled labels lie within 1; a count has its own
// bound.
LossRange range_of(const Model& model) {
  double square = 0;
  for (const double w : model.weights) square += w * w;
  const auto* poisson = std::get_if<Poisson>(&model.loss);
  return loss_range(model.loss, model.pipeline.row_norm * std::sqrt(square),
                    poisson ? poisson->most : 1);
}

}  // namespace

void validate(const Model& model) {
  validate(model.loss);
  validate(model.pipeline);
  validate(model.target);
  const auto* softmax = std::get_if<Softmax>(&model.loss);
  const std::size_t classes = model.target.categories.size();
  const bool fits = softmax                          ? classes == softmax->classes
                    : bounds(model.loss).two_classes ? classes == 2
                                                     : classes == 0;
  if (!fits) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the {} loss does not fit a target with {} categories",
                            name(model.loss), classes));
  }
  const std::size_t count = dimension(model.pipeline) * class_count(model);
  if (model.weights.size() != count) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("there are {} weights where the pipeline needs {}",
                            model.weights.size(), count));
  }
}

Prediction predict(const Model& model, std::span<const data::Cell> cells) {
  const std::vector<double> z = scores(model, cells);
  if (std::holds_alternative<Softmax>(model.loss)) {
    const auto best = static_cast<std::size_t>(std::max_element(z.begin(), z.end()) - z.begin());
    return {static_cast<double>(best), z[best], std::exp(-softmax_value(z, best))};
  }
  if (bounds(model.loss).two_classes) {
    const double label = z[0] > 0 ? 1 : -1;
    const bool logistic = std::holds_alternative<Logistic>(model.loss);
    return {label, z[0], logistic ? 1 / (1 + std::exp(-std::fabs(z[0]))) : 0};
  }
  const double label = std::holds_alternative<Poisson>(model.loss) ? std::exp(z[0]) : z[0];
  return {label, z[0], 0};
}

Evaluator::Evaluator(const Model& model)
    : model_(model),
      losses_(range_of(model)),
      counts_(std::max<std::size_t>(model.target.categories.size(), 1)) {}

void Evaluator::add(std::span<const data::Cell> cells) {
  const auto label = label_of(model_.target, cells.back());
  if (!label) {
    ++sums_.unlabelled;
    return;
  }
  ++sums_.rows;
  const auto features = cells.first(cells.size() - 1);
  const std::vector<double> z = scores(model_, features);
  const Prediction prediction = predict(model_, features);
  losses_.add(std::holds_alternative<Softmax>(model_.loss)
                  ? softmax_value(z, static_cast<std::size_t>(*label))
                  : value(model_.loss, z[0], *label));
  if (!model_.target.categories.empty()) {
    sums_.accuracy += prediction.label == *label ? 1 : 0;
    ++counts_[static_cast<std::size_t>(cells.back().category)];
  } else {
    const double off =
        (prediction.label - *label) / 2 * (model_.target.upper - model_.target.lower);
    sums_.root_mean_square += off * off;
  }
}

Evaluation Evaluator::result(double confidence) const {
  Evaluation result = sums_;
  result.risk = losses_.population_risk(confidence);
  result.mean_loss = result.risk.mean;
  if (result.rows == 0) return result;
  const double n = static_cast<double>(result.rows);
  if (!model_.target.categories.empty()) {
    const auto right = static_cast<std::int64_t>(sums_.accuracy);
    const auto all = static_cast<std::int64_t>(result.rows);
    const double alpha = (1 - confidence) / 2;
    result.accuracy_lower = numeric::chance_lower_bound(right, all, alpha);
    result.accuracy_upper = numeric::chance_upper_bound(right, all, alpha);
  }
  result.accuracy /= n;
  result.root_mean_square = std::sqrt(result.root_mean_square / n);
  result.majority = static_cast<double>(*std::max_element(counts_.begin(), counts_.end())) / n;
  return result;
}

}  // namespace shoal::learn
