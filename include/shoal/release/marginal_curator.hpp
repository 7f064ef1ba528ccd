// The curator of marginals: holds the rows of one table and one reservation, and lets noisy
// marginals and private choices out, as many as the reservation pays for. What is asked next may
// depend on what came out before. Proof note: src/release/marginal_curator.proof.md.
//
// Invariants:
// - Every measurement and choice is charged before any noise is drawn. One that does not fit is
//   refused, and costs nothing.
// - The reserved event says which charge counts: `zcdp` the rho, `gdp` half the square of mu,
// `pure`
//   the epsilon. It says which noise is drawn too: discrete Gaussian, and for `gdp` the rounded
//   one.
// - All noise is exact and all scores are exact integers. Refusals depend on public facts only.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/base/neighbors.hpp>
#include <shoal/data/coded_table.hpp>
#include <shoal/data/marginal_tables.hpp>
#include <shoal/privacy/charge.hpp>
#include <shoal/privacy/reservation.hpp>
#include <shoal/random/bit_source.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace shoal::release {

// Expected counts are given in these fractions of a row, so that scores are integers.
inline constexpr std::int64_t kExpectedSteps = 256;

// One marginal to choose from. Its score is weight * (kExpectedSteps * counts - expected, in L1
// norm, - penalty). All of it is public.
struct MarginalCandidate {
  data::AttributeSet set;
  std::span<const std::int64_t> expected;  // one a cell, in steps
  std::int64_t penalty = 0;                // in steps
  std::int64_t weight = 1;                 // from 1 to 2^32
};

// Whom a table protects: nobody has more than `rows_per_unit` rows in it.
struct MarginalUnit {
  std::int64_t rows_per_unit = 1;
  Neighbors neighbors = Neighbors::add_remove;
};

// Discrete Gaussian noise is not Gaussian to the accountant; rounded it is, on whole counts.
enum class MarginalNoise { discrete_gaussian, rounded_gaussian };

// What one measurement with noise of this sigma in every cell costs, and one choice at this scale
// (in score steps) among candidates of at most this weight.
privacy::Event marginal_event(double sigma, const MarginalUnit& unit,
                              MarginalNoise noise = MarginalNoise::discrete_gaussian);
privacy::Event choice_event(double scale, std::int64_t largest_weight, const MarginalUnit& unit);
// Tables to compare with are given in these fractions of a row, and distances are counted in them:
// in a large table many cells hold a small share of a row, which must not round to none.
inline constexpr std::int64_t kComparedSteps = 65'536;

// What the distances of so many marginals from public tables cost, with noise of this sigma, in
// rows, in each.
privacy::Event distances_event(double sigma, std::int64_t marginals, const MarginalUnit& unit,
                               MarginalNoise noise = MarginalNoise::discrete_gaussian);

// A public table of counts for a marginal to be compared with.
struct ComparedTable {
  data::AttributeSet set;
  std::vector<std::int64_t> steps;  // one a cell, in steps of 1 / kComparedSteps row
};

class MarginalCurator {
 public:
  // Takes a reservation that was touched, of a `zcdp`, a `gdp` or a `pure` event. Keeps a reference
  // to `bits`. Throws internal otherwise, and invalid_argument for a unit without rows.
  MarginalCurator(privacy::Reservation&& reservation, data::CodedTable&& table, MarginalUnit unit,
                  int threads, random::BitSource& bits);

  // Public.
  const std::vector<std::uint32_t>& sizes() const { return table_.sizes(); }
  const MarginalUnit& unit() const { return unit_; }
  MarginalNoise noise() const;
  // For what is done with released numbers alone.
  random::BitSource& bits() { return bits_; }
  // All rounded down. `half_square` is of mu^2 / 2, and 0 unless the reserved event is `gdp`;
  // epsilon is 0 unless it is `pure`.
  double rho_left() const;
  double half_square_left() const;
  double epsilon_left() const;

  // Counts these marginals in one pass; others are counted when they are asked for.
  void prepare(std::span<const data::AttributeSet> sets);

  // Whether the charge of this event still fits.
  bool affords(const privacy::Event& event) const;

  // The counts of a marginal, each with noise of its own. Throws budget_exceeded if that does not
  // fit.
  std::vector<std::int64_t> measure(data::AttributeSet set, double sigma);

  // Which candidate the exponential mechanism with this scale chooses. Throws budget_exceeded if
  // that does not fit, and invalid_argument for no candidates or expected counts of another size.
  std::size_t choose(std::span<const MarginalCandidate> candidates, double scale);

  // Pays now for one call of `distances` on so many marginals, with noise of this sigma in rows,
  // whenever it comes. Throws budget_exceeded if that does not fit.
  void prepay_distances(std::int64_t marginals, double sigma);
  // How far the counts of each marginal are from its table, in L1 norm, in steps, each with noise
  // of its own. Throws internal unless as many were prepaid, once a payment, and invalid_argument
  // for a table of another size.
  std::vector<std::int64_t> distances(std::span<const ComparedTable> tables);

  // Gives up the table for the right to settle.
  privacy::SpentReservation finish() && { return std::move(reservation_).spend(); }

 private:
  void charge(const privacy::Event& event);
  void draw_noise(double sigma, std::span<std::int64_t> noise, const privacy::Event* charged);
  const std::vector<std::int64_t>& counts(data::AttributeSet set);
  Int128 score(const MarginalCandidate& candidate);

  privacy::Reservation reservation_;
  data::CodedTable table_;
  MarginalUnit unit_;
  int threads_;
  random::BitSource& bits_;
  enum class Kind { zcdp, gdp, pure } kind_ = Kind::zcdp;
  privacy::Charge limit_;
  privacy::Charge spent_;
  std::vector<data::MarginalTables> tables_;
  std::map<data::AttributeSet, std::pair<std::size_t, std::size_t>> index_;
  std::int64_t prepaid_ = 0;  // marginals
  double prepaid_sigma_ = 0;
};

}  // namespace shoal::release
