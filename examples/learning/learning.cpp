// Every method of private learning on the same made-up rows: a spec whose event is known before
// training, a reservation of the ledger for that event, a fit, and what came of it.
//   build/dev/examples/learning [rows]
#include <shoal/learn/fit.hpp>
#include <shoal/learn/private_selection.hpp>
#include <shoal/ledger/ledger.hpp>
#include <shoal/random/secure_source.hpp>
#include <shoal/random/uniform.hpp>

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace shoal;
using namespace shoal::learn;

constexpr std::size_t kWeights = 3;  // two features and a constant
constexpr double kRowNorm = 1.5;
const Epsilon kEpsilon(1);
const Delta kDelta(1e-6);

// What the rows follow: the sign of x + y / 2 - 1 / 10, nine times out of ten.
struct Population {
  explicit Population(random::BitSource& source) : bits(source) {}

  double coordinate() { return static_cast<double>(bits.next_bits(20)) / (1 << 19) - 1; }
  void next() {
    row = {coordinate(), coordinate(), 1};
    const double true_side = row[0] + row[1] / 2 - 0.1;
    const bool honest = random::uniform_below(10, bits) != 0;
    label = (true_side > 0) == honest ? 1 : -1;
  }

  random::BitSource& bits;
  std::vector<double> row = {};
  double label = 0;
};

std::unique_ptr<MemoryRows> draw_rows(int count, LabelKind kind, random::BitSource& bits) {
  auto rows = std::make_unique<MemoryRows>(kWeights, kRowNorm, 1, kind);
  Population population(bits);
  for (int i = 0; i < count; ++i) {
    population.next();
    rows->add_dense(population.row, population.label);
  }
  return rows;
}

double accuracy(const std::vector<double>& weights, random::BitSource& bits) {
  constexpr int kNew = 10'000;
  Population population(bits);
  int right = 0;
  for (int i = 0; i < kNew; ++i) {
    population.next();
    double z = 0;
    for (std::size_t j = 0; j < kWeights; ++j) z += population.row[j] * weights[j];
    right += (z > 0) == (population.label > 0) ? 1 : 0;
  }
  return static_cast<double>(right) / kNew;
}

// A ledger of its own for each relation; a policy would name it.
class Lab {
 public:
  Lab(const std::filesystem::path& folder, Neighbors neighbors, int rows)
      : rows_(rows), ledger_(folder / fmt::format("{}.ledger", to_string(neighbors))) {
    ledger_.open_account({"example", budget_, neighbors, "one row"});
  }

  // One spend, then rows, then weights: in no other order does it compile.
  void run(const std::string& title, const Problem& problem, const Method& method) {
    privacy::Reservation reservation = reserve(title, privacy_event(method, problem));
    const bool number = std::holds_alternative<Squared>(problem.loss);
    TrainingRows rows(draw_rows(rows_, number ? LabelKind::number : LabelKind::sign, bits_));
    Fitted fitted = fit(problem, method, std::move(rows), std::move(reservation), bits_);
    show(title, fitted.weights);
    ledger_.settle(std::move(fitted.spent), title);
  }

  void run(const std::string& title, const Problem& problem, const PrivateSelection& selection) {
    privacy::Reservation reservation = reserve(title, privacy_event(selection, problem));
    TrainingRows rows(draw_rows(rows_, LabelKind::sign, bits_));
    FittedBest best = fit_best(problem, selection, std::move(rows), std::move(reservation), bits_);
    show(fmt::format("{} ({})", title, best.chosen + 1), best.fitted.weights);
    ledger_.settle(std::move(best.fitted.spent), title);
  }

 private:
  privacy::Reservation reserve(const std::string& key, const privacy::Event& event) {
    auto reserved = ledger_.reserve({"example", key, key, key, "no policy", budget_, event});
    auto reservation = std::get<privacy::Reservation>(std::move(reserved));
    reservation.touch();
    return reservation;
  }

  void show(const std::string& title, const std::vector<double>& weights) {
    fmt::print("{:<32} {:>8.2f}{:>8.2f}{:>8.2f}{:>9.1f} %\n", title, weights[0], weights[1],
               weights[2], 100 * accuracy(weights, bits_));
  }

  privacy::Budget budget_{Epsilon(100), Delta(1e-4), Delta(5e-5)};
  int rows_;
  ledger::Ledger ledger_;
  random::SecureSource bits_;
};

Problem logistic() {
  Problem problem;
  problem.dimension = kWeights;
  problem.row_norm = kRowNorm;
  return problem;
}

void coming_and_going(Lab& lab) {
  constexpr Neighbors kRelation = Neighbors::add_remove;
  const Problem plain = logistic();
  lab.run("objective perturbation", plain, calibrate_objective(plain, kRelation, kEpsilon, kDelta));
  lab.run("objective, pure", plain, calibrate_objective(plain, kRelation, kEpsilon, Delta(0)));
  lab.run("objective, Kifer et al.", plain,
          calibrate_objective(plain, kRelation, kEpsilon, kDelta, {.rule = ObjectiveRule::kifer}));
  lab.run("output perturbation", plain, calibrate_output(plain, kRelation, kEpsilon, kDelta, 40));
  lab.run("approximate minima", plain, calibrate_minima(plain, kRelation, kEpsilon, kDelta));
  lab.run("gradient descent", plain, calibrate_gradient(plain, kRelation, kEpsilon, kDelta));
  lab.run("stochastic gradient descent", plain,
          calibrate_sampled(plain, kRelation, kEpsilon, kDelta));
  lab.run("descent in one pass", plain, calibrate_prefix(plain, kRelation, kEpsilon, kDelta));

  Problem ball = plain;
  ball.set = L2Ball{5};
  lab.run("exponential mechanism, a grid", ball,
          calibrate_exponential(ball, kRelation, kEpsilon, grid_candidates(ball, 11)));
  lab.run("exponential, counted mistakes", ball,
          calibrate_exponential(ball, kRelation, kEpsilon, {1, 1, 0, 1, 0.5, -0.1, -1, 0, 0},
                                {.what = CandidateLoss::mistakes}));
  Problem corners = plain;
  corners.set = L1Ball{5};
  lab.run("Frank-Wolfe", corners, calibrate_frank_wolfe(corners, kRelation, kEpsilon, kDelta));

  Problem squares = plain;
  squares.loss = Squared{};
  lab.run("regression from noisy sums", squares,
          calibrate_adassp(squares, kRelation, kEpsilon, kDelta));

  std::vector<Method> candidates;
  for (const double l2 : {10.0, 100.0, 1000.0})
    candidates.emplace_back(
        calibrate_objective(plain, kRelation, Epsilon(0.5), Delta(0), {.l2 = l2}));
  lab.run("best of three l2 weights", plain,
          calibrate_selection(plain, std::move(candidates), kEpsilon, Delta(0), run_scale_of(9)));
}

void exchanged(Lab& lab) {
  const Problem plain = logistic();
  lab.run("objective perturbation, exchange", plain,
          calibrate_objective(plain, Neighbors::replace_one, kEpsilon, kDelta));
  lab.run("bolt-on descent, exchange", plain,
          calibrate_bolt_on(plain, Neighbors::replace_one, kEpsilon, kDelta, {.l2 = 40}));
}

}  // namespace

int main(int argc, char** argv) {
  const int rows = argc > 1 ? std::atoi(argv[1]) : 10'000;
  std::string pattern = (std::filesystem::temp_directory_path() / "shoal-learning-XXXXXX").string();
  const std::filesystem::path folder = ::mkdtemp(pattern.data());
  fmt::print("{} rows, epsilon 1, delta 1e-6 where there is one\n\n{:<32} {:>8}{:>8}{:>8}{:>11}\n",
             rows, "method", "x", "y", "one", "accuracy");
  {
    Lab lab(folder, Neighbors::add_remove, rows);
    coming_and_going(lab);
  }
  {
    Lab lab(folder, Neighbors::replace_one, rows);
    exchanged(lab);
  }
  std::filesystem::remove_all(folder);
  return 0;
}
