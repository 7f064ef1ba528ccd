// Fit: the only way from private rows to public weights. It takes a reservation, which only the
// ledger makes and which cannot be used twice, and refuses unless it was made for this method's
// event. A method is data; its event is known before training.
//
// To add a method: a spec with `validate(spec, problem)`, `privacy_event(spec, problem)` and
// `train(spec, problem, rows, bits, options)` (src/learn/methods.hpp), a proof note, and a place in
// the variant.
#pragma once

#include <shoal/learn/adassp.hpp>
#include <shoal/learn/approximate_minima.hpp>
#include <shoal/learn/bolt_on.hpp>
#include <shoal/learn/exponential_choice.hpp>
#include <shoal/learn/frank_wolfe.hpp>
#include <shoal/learn/gradient_descent.hpp>
#include <shoal/learn/objective_perturbation.hpp>
#include <shoal/learn/output_perturbation.hpp>
#include <shoal/learn/prefix_descent.hpp>
#include <shoal/learn/problem.hpp>
#include <shoal/learn/rows.hpp>
#include <shoal/learn/sampled_descent.hpp>
#include <shoal/privacy/reservation.hpp>
#include <shoal/random/bit_source.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace shoal::learn {

using Method = std::variant<ObjectivePerturbation, OutputPerturbation, MinimaPerturbation,
                            GradientDescent, SampledDescent, PrefixDescent, BoltOnDescent, AdaSsp,
                            ExponentialChoice, FrankWolfe>;

struct FitOptions {
  unsigned threads = 0;  // 0: one a core; the result does not depend on it
  // Told after each step of a plan that was public before data was read: `done` of `planned`.
  // Methods whose rows decide how many steps there are tell nothing. For doors; must not throw.
  std::function<void(std::int64_t done, std::int64_t planned)> progress = {};
};

// Public once the spend is settled.
struct Fitted {
  std::vector<double> weights;  // none if training failed
  std::string failure;          // then: why, for the owner's log alone
  privacy::SpentReservation spent;
};

// "objective", "output", "amp", "gradient", "sgd", "ftrl", "bolt_on", "adassp", "exponential",
// "frank_wolfe".
std::string_view name(const Method& method);

// The relation that the method's event is stated for.
Neighbors neighbors_of(const Method& method);

// Throws invalid_argument or unsupported for a problem that the method cannot take.
privacy::Event privacy_event(const Method& method, const Problem& problem);

// Throws internal, and releases nothing, unless the reservation was touched and is for the method's
// event and relation and the rows keep the problem's bounds. Nothing that only the rows can show
// makes training fail (src/learn/bounded_proximal.proof.md); if it fails all the same, for lack of
// memory or disk, the spend is kept and there are no weights.
Fitted fit(const Problem& problem, const Method& method, TrainingRows&& rows,
           privacy::Reservation&& reservation, random::BitSource& bits,
           const FitOptions& options = {});

}  // namespace shoal::learn
