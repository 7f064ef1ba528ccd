#include "learn/bounded_proximal.hpp"

#include "learn/nearest.hpp"
#include "learn/parallel.hpp"
#include "learn/pointwise.hpp"
#include "learn/quad.hpp"
#include "learn/row_view.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/numeric/directed.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace shoal::learn {
namespace {

// The bounds here are evaluated in doubles, by fewer than 2^20 operations each; this covers them.
constexpr double kSlack = 1 + 0x1p-20;
// Rows of one part of a pass: its sum goes through so many additions in a block, and one a block.
constexpr std::size_t kParts = 8;
// What a library function may be off beyond the two units that slope_error counts.
constexpr double kLibrarySlack = 0x1p4;
// The least l2 weight for a row's curvature: the number of steps grows with the root of the number
// of rows over this.
constexpr double kLeastShare = 0x1p-10;

double root(double x) { return std::sqrt(x) * kSlack; }

double row_slope(const Problem& problem, double prediction) {
  const double slope = bounds(problem.loss).slope;
  return std::isfinite(slope) ? slope : prediction + problem.label_bound;
}

// How much the loss of a row can fall, from predictions of at most that size.
double most_fall(const Problem& problem, double prediction) {
  double least = 0;
  if (const auto* poisson = std::get_if<Poisson>(&problem.loss)) {
    // Least at the logarithm of the label, unless that lies beyond the limit: then it falls for
    // ever.
    const double y = problem.label_bound;
    if (!(y < std::exp(poisson->log_limit))) return std::numeric_limits<double>::infinity();
    least = std::min(0.0, y * (1 - std::log(y)));
  }
  double most = 0;
  for (const double z : {-prediction, prediction}) {
    for (const double y : {-problem.label_bound, problem.label_bound})
      most = std::max(most, value(problem.loss, z, y));
  }
  return (most - least) * kSlack;
}

// The start, and how far everything on the way can be.
struct Way {
  double start = 0;  // the norm of the first point
  double fall = 0;   // of the objective, from there to the minimum
  double reach = 0;  // no point is longer
};

Way way_of(const ProximalFacts& facts, double residual) {
  const Problem& problem = facts.problem;
  const double d = static_cast<double>(problem.dimension);
  const std::vector<double> origin =
      project(problem.set, std::vector<double>(problem.dimension, 0.0));
  double square = 0;
  for (const double x : origin) square += x * x;
  Way way;
  way.start = root(square);
  const double prediction = problem.row_norm * way.start;
  const double l1 = problem.regulariser.l1 * root(d);
  const double gradient = facts.rows * problem.row_norm * row_slope(problem, prediction) +
                          facts.l2 * way.start + facts.linear_norm + l1;
  const double by_slope = gradient * gradient / (2 * facts.l2);
  const double by_value =
      facts.rows * most_fall(problem, prediction) + facts.l2 / 2 * way.start * way.start +
      (l1 + facts.linear_norm) * way.start + facts.linear_norm * facts.linear_norm / (2 * facts.l2);
  way.fall = std::min(by_slope, by_value) * kSlack;
  const double far = way.start + 2.5 * root(2 * way.fall / facts.l2) + residual / facts.l2;
  way.reach = std::min(far, radius(problem.set, problem.dimension) * kSlack);
  return way;
}

// Everything that rounding does in a step, as an error of the gradient; and of the last point.
struct Rounding {
  double gradient = 0;
  double point = 0;
};

Rounding rounding_of(const ProximalFacts& facts, const Way& way, double smooth, double unit) {
  const Problem& problem = facts.problem;
  const LossBounds known = bounds(problem.loss);
  const double d = static_cast<double>(problem.dimension);
  const double norm = problem.row_norm;
  const double ahead = 3.1 * way.reach;  // how long a point ahead is
  const double z = norm * ahead * kSlack;
  const double slope = row_slope(problem, z);
  const double slope_off = known.curvature * (d + 4) * unit * z +
                           kLibrarySlack * slope_error(problem.loss, z, problem.label_bound, unit);
  const double additions =
      static_cast<double>(kBlockRows) + facts.rows / (kBlockRows * kParts) + 64;
  const double sum = facts.rows * norm * (slope + slope_off);
  const double sum_off =
      facts.rows * norm * (slope_off + (slope + slope_off) * (additions + 4) * unit);
  const double all = sum + facts.l2 * ahead + facts.linear_norm;
  const double pulled = ahead + all / smooth;  // the norm of what is projected
  Rounding rounding;
  rounding.point = nearest_error(problem.set, problem.dimension, pulled, unit);
  if (problem.regulariser.l1 > 0)
    rounding.point += 4 * unit * (pulled + root(d) * problem.regulariser.l1 / smooth);
  rounding.gradient = sum_off + 4 * unit * all + 3 * unit * (smooth * ahead + all) +
                      smooth * (3 * rounding.point + 20 * unit * way.reach);
  rounding.gradient *= kSlack;
  return rounding;
}

template <typename Real>
class Run {
 public:
  Run(const RowSource& rows, const Objective& objective, const ProximalRun& plan, unsigned threads)
      : rows_(rows), objective_(objective), plan_(plan), threads_(usable_threads(threads)) {}

  std::vector<long double> weights() const {
    const Real progress(plan_.progress);
    const Real momentum = (1 - progress) / (1 + progress);
    const Real smooth(plan_.smooth);
    const Real threshold = Real(objective_.regulariser.l1) / smooth;
    std::vector<Real> point(rows_.dimension(), Real(0));
    nearest(objective_.set, point);
    std::vector<Real> ahead = point;
    for (std::int64_t step = 0; step < plan_.steps; ++step) {
      std::vector<Real> next = gradient(ahead);
      for (std::size_t j = 0; j < next.size(); ++j) next[j] = ahead[j] - next[j] / smooth;
      // On a simplex all points have the same l1 norm.
      if (threshold > 0 && !std::holds_alternative<Simplex>(objective_.set))
        shrink_towards_zero(next, threshold);
      nearest(objective_.set, next);
      for (std::size_t j = 0; j < next.size(); ++j)
        ahead[j] = next[j] + momentum * (next[j] - point[j]);
      point = std::move(next);
    }
    std::vector<long double> weights;
    for (const Real& x : point) weights.push_back(static_cast<long double>(x));
    return weights;
  }

 private:
  std::vector<Real> gradient(const std::vector<Real>& at) const {
    const std::size_t blocks = rows_.block_count();
    const std::size_t parts = std::min(blocks, kParts);
    std::vector<std::vector<Real>> sums(parts);
    in_parallel(parts, threads_, [&](std::size_t part) {
      BlockBuffer buffer;
      sums[part].assign(at.size(), Real(0));
      std::vector<Real> block_sum(at.size());
      for (std::size_t b = part * blocks / parts; b < (part + 1) * blocks / parts; ++b) {
        std::fill(block_sum.begin(), block_sum.end(), Real(0));
        add_block(rows_.block(b, buffer), at, block_sum);
        for (std::size_t j = 0; j < at.size(); ++j) sums[part][j] += block_sum[j];
      }
    });
    std::vector<Real> total(at.size(), Real(0));
    for (const std::vector<Real>& part : sums) {
      for (std::size_t j = 0; j < total.size(); ++j) total[j] += part[j];
    }
    const Real l2(objective_.regulariser.l2);
    for (std::size_t j = 0; j < total.size(); ++j) {
      total[j] += l2 * at[j];
      if (!objective_.linear.empty()) total[j] += Real(objective_.linear[j]);
    }
    return total;
  }

  void add_block(const RowBlock& block, const std::vector<Real>& at, std::vector<Real>& sum) const {
    std::visit(
        [&](const auto& loss) {
          if constexpr (std::is_same_v<std::decay_t<decltype(loss)>, Softmax>) {
            SHOAL_CHECK(false);
          } else {
            for (std::size_t i = 0; i < block.rows; ++i) {
              const Row row = row_of(block, i);
              Real z = 0;
              for (std::size_t k = 0; k < row.size; ++k)
                z += Real(row.values[k]) * at[row.column(k)];
              const Real slope = derivatives<Real, false>(loss, z, Real(block.labels[i])).slope;
              for (std::size_t k = 0; k < row.size; ++k)
                sum[row.column(k)] += slope * Real(row.values[k]);
            }
          }
        },
        objective_.loss);
  }

  const RowSource& rows_;
  const Objective& objective_;
  const ProximalRun& plan_;
  unsigned threads_;
};

struct NearestError {
  double d;
  double norm;
  double unit;

  double operator()(const WholeSpace&) const { return 0; }
  double operator()(const L2Ball&) const { return (d + 16) * unit * norm; }
  double operator()(const L1Ball& set) const { return levelled(set.radius); }
  double operator()(const Box&) const { return 0; }
  double operator()(const Simplex& set) const { return levelled(set.total); }
  double operator()(const HalfSpaceCut&) const { return std::numeric_limits<double>::infinity(); }

  // Every coordinate by the error of the level, which is that of a sum of d numbers.
  double levelled(double radius) const {
    return root(d) * (d + 8) * unit * (root(d) * norm + radius);
  }
};

}  // namespace

double nearest_error(const ConvexSet& set, std::size_t dimension, double norm, double unit) {
  return std::visit(NearestError{static_cast<double>(dimension), norm, unit}, set);
}

std::optional<ProximalRun> plan_proximal(const ProximalFacts& facts, double residual, double unit) {
  const Problem& problem = facts.problem;
  ProximalRun run;
  run.smooth = numeric::add_up(
      facts.l2, numeric::multiply_up(facts.rows, smoothness(problem.loss, problem.row_norm)));
  run.progress = numeric::step_down(std::sqrt(facts.l2 / run.smooth) * (1 - 0x1p-40));
  const Way way = way_of(facts, residual);
  const Rounding rounding = rounding_of(facts, way, run.smooth, unit);
  // The weights leave in long double.
  const double last = rounding.point + way.reach * kExtendedUnit;
  if (!(16 * rounding.gradient <= residual && facts.l2 * last * kSlack <= residual / 4)) return {};
  const double shrink = 8 * std::sqrt(way.fall * facts.l2) / residual * kSlack;
  const double steps = std::ceil(2 / run.progress * std::log(std::max(shrink, 2.0)) * kSlack) + 1;
  if (!(steps < 0x1p60)) return {};
  run.steps = static_cast<std::int64_t>(steps);
  return run;
}

double least_reachable_l2(const Problem& problem) {
  return smoothness(problem.loss, problem.row_norm) * kLeastShare;
}

void check_reachable(const Problem& problem, double l2, double residual, double linear_norm) {
  if (!has_nearest(problem.set)) {
    throw Error(ErrorCode::unsupported,
                fmt::format("no solver is proven to end on the set {}; use a ball, a box or a "
                            "simplex, or the gradient method",
                            name(problem.set)));
  }
  const double least = least_reachable_l2(problem);
  if (!(l2 >= least)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the l2 weight {} is too small for a minimiser that is surely found in "
                            "time: it must be at least {}, a row's largest curvature over 1024; "
                            "raise --l2",
                            format_rounded(l2, 6), format_rounded(least, 6)));
  }
  const ProximalFacts facts{problem, l2, static_cast<double>(kMostRows), linear_norm};
  if (plan_proximal(facts, residual, kQuadUnit)) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("rounding may keep a solver from the residual {} at l2 weight {} and "
                          "rows of norm {}; allow a larger residual or a smaller row norm, or use "
                          "the gradient method",
                          format_rounded(residual, 6), format_rounded(l2, 6),
                          format_rounded(problem.row_norm, 6)));
}

// P(|b| > sigma (sqrt(d) + t)) <= e^(-t^2 / 2), as the norm is 1-Lipschitz with a mean below
// sqrt(d).
double gaussian_norm_bound(double sigma, std::size_t dimension) {
  return sigma * (std::sqrt(static_cast<double>(dimension)) + 40) * kSlack;
}

// P(Gamma(d) > 2 d + 2 t) <= (E e^(X / 2)) e^(-d - t) = 2^d e^(-d - t) <= e^-t.
double gamma_norm_bound(double scale, std::size_t dimension) {
  return scale * (2 * static_cast<double>(dimension) + 1600) * kSlack;
}

std::vector<long double> minimise_surely(const RowSource& rows, const Objective& objective,
                                         double residual, unsigned threads) {
  Problem problem;
  problem.loss = objective.loss;
  problem.regulariser = objective.regulariser;
  problem.set = objective.set;
  problem.dimension = rows.dimension();
  problem.row_norm = rows.row_norm();
  problem.label_bound = rows.label_bound();
  double square = 0;
  for (const double b : objective.linear) square += b * b;
  const ProximalFacts facts{problem, objective.regulariser.l2,
                            static_cast<double>(rows.row_count()), root(square)};
  if (const auto run = plan_proximal(facts, residual, kExtendedUnit))
    return Run<long double>(rows, objective, *run, threads).weights();
  const auto run = plan_proximal(facts, residual, kQuadUnit);
  SHOAL_CHECK(run.has_value());
  return Run<Quad>(rows, objective, *run, threads).weights();
}

}  // namespace shoal::learn
