#include "learn/methods.hpp"
#include "learn/training_rows_key.hpp"

#include <shoal/base/error.hpp>
#include <shoal/learn/fit.hpp>

#include <utility>

namespace shoal::learn {

std::string_view name(const Method& method) {
  constexpr std::string_view kNames[] = {"objective",   "output",     "amp",     "gradient",
                                         "sgd",         "ftrl",       "bolt_on", "adassp",
                                         "exponential", "frank_wolfe"};
  static_assert(std::variant_size_v<Method> == std::size(kNames));
  return kNames[method.index()];
}

privacy::Event privacy_event(const Method& method, const Problem& problem) {
  return std::visit([&](const auto& one) { return privacy_event(one, problem); }, method);
}

Neighbors neighbors_of(const Method& method) {
  return std::visit([](const auto& one) { return one.neighbors; }, method);
}

void check_rows(const TrainingRows& rows, const Problem& problem) {
  SHOAL_CHECK(rows.dimension() == problem.dimension);
  SHOAL_CHECK(rows.row_norm() <= problem.row_norm);
  SHOAL_CHECK(rows.label_bound() <= problem.label_bound);
  SHOAL_CHECK(!bounds(problem.loss).two_classes || rows.label_kind() == LabelKind::sign);
  SHOAL_CHECK(!std::holds_alternative<Poisson>(problem.loss) ||
              rows.label_kind() == LabelKind::count);
}

Fitted fit(const Problem& problem, const Method& method, TrainingRows&& rows,
           privacy::Reservation&& reservation, random::BitSource& bits, const FitOptions& options) {
  privacy::Reservation mine = std::move(reservation);
  const TrainingRows secret = std::move(rows);
  SHOAL_CHECK(mine.touched());
  SHOAL_CHECK(privacy_event(method, problem) == mine.event());
  SHOAL_CHECK(neighbors_of(method) == mine.neighbors());
  check_rows(secret, problem);
  std::vector<double> weights;
  std::string failure;
  try {
    weights = std::visit(
        [&](const auto& one) {
          return train(one, problem, TrainingRowsKey::open(secret), bits, options);
        },
        method);
  } catch (const std::exception& reason) {
    failure = reason.what();
  }
  return {std::move(weights), std::move(failure), std::move(mine).spend()};
}

}  // namespace shoal::learn
