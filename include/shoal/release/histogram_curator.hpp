// The curator of an explicit universe: holds how many rows each possible row has, and one
// reservation of a `pure` event, and lets private choices and noisy answers to linear queries out.
// The number of rows is public: neighbours exchange one row (replace_one).
// Proof note: src/release/histogram_curator.proof.md.
#pragma once

#include <shoal/base/int128.hpp>
#include <shoal/data/coded_table.hpp>
#include <shoal/data/marginal_tables.hpp>
#include <shoal/privacy/charge.hpp>
#include <shoal/privacy/reservation.hpp>
#include <shoal/random/bit_source.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace shoal::release {

class HistogramCurator {
 public:
  // The queries are public: rows of `steps` for each element of the universe, each from 0 to
  // `largest_step`. Throws internal unless the reservation was touched and is `pure`, and
  // invalid_argument for a query of another size.
  HistogramCurator(privacy::Reservation&& reservation, const data::CodedTable& table,
                   std::vector<std::vector<std::int64_t>> queries, std::int64_t largest_step,
                   random::BitSource& bits);

  // Public.
  std::int64_t rows() const { return rows_; }
  std::size_t queries() const { return queries_.size(); }
  double epsilon_left() const;  // rounded down

  // A candidate is offered as what it would answer, in steps, to each query, times rows().
  using Offer = std::function<void(std::span<const std::int64_t> answers)>;

  // The exponential mechanism over tables of `size` rows: the score of a candidate is minus the
  // largest of |size * exact - offered| over the queries, in steps of 1 / (size * rows). Gives the
  // number of the one chosen, in the order in which `produce` offers them.
  std::size_t choose_table(std::int64_t size, double epsilon,
                           const std::function<void(const Offer&)>& produce);

  // The same law by rejection: `propose` is asked for candidates, all equally likely, until one is
  // accepted; that is the one it proposed last. The time depends on the rows: for use off line.
  void accept_table(std::int64_t size, double epsilon,
                    const std::function<std::vector<std::int64_t>()>& propose);

  // The exponential mechanism over the queries: the score of one is |exact - expected|, in steps.
  std::size_t choose_query(std::span<const std::int64_t> expected, double epsilon);

  // The exact answer, in steps, plus discrete Laplace noise that costs epsilon.
  std::int64_t measure(std::size_t query, double epsilon);

  privacy::SpentReservation finish() && { return std::move(reservation_).spend(); }

 private:
  void charge(const privacy::Event& event);
  std::vector<std::int64_t> exact_answers() const;

  privacy::Reservation reservation_;
  random::BitSource& bits_;
  std::int64_t largest_step_;
  privacy::Charge limit_;
  privacy::Charge spent_;
  std::vector<std::vector<std::int64_t>> queries_;
  data::MarginalTables histogram_;  // one table, over all columns
  std::int64_t rows_ = 0;
};

}  // namespace shoal::release
