#include "privacy/atom_law.hpp"

#include "privacy/cell_shares.hpp"

#include <shoal/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace shoal::privacy {

AtomLaw::AtomLaw(std::vector<Atom> atoms, double infinite, double mass_error, double loss_error,
                 double uncertain_infinite)
    : atoms_(std::move(atoms)),
      infinite_(infinite),
      mass_error_(mass_error),
      loss_error_(loss_error),
      uncertain_infinite_(uncertain_infinite) {
  for (Atom& atom : atoms_) {
    SHOAL_CHECK(!std::isnan(atom.loss) && !std::isnan(atom.mass));
    if (std::isinf(atom.loss) && atom.loss > 0) {
      uncertain_infinite_ += atom.mass;
      atom.mass = 0;
    }
  }
  std::erase_if(atoms_, [](const Atom& atom) { return !(atom.mass > 0); });
  std::sort(atoms_.begin(), atoms_.end(),
            [](const Atom& a, const Atom& b) { return a.loss < b.loss; });
}

std::optional<Bounds> AtomLaw::delta(double epsilon) const {
  // All terms are positive: rounding is relative to each, but for the loss's own error.
  double sum = 0;
  double error = 0;
  for (const Atom& atom : atoms_) {
    const double excess = atom.loss - epsilon;
    const double uncertain =
        loss_error_ + 4 * kRounding * (std::abs(atom.loss) + std::abs(epsilon));
    if (excess <= -uncertain) continue;
    sum += atom.mass * std::max(0.0, -std::expm1(-excess));
    error += atom.mass * uncertain;
  }
  const double relative = mass_error_ + kRounding * (16 + 2 * static_cast<double>(atoms_.size()));
  const double slack = error + relative * sum;
  return Bounds{std::max(0.0, sum - slack + infinite_down()),
                std::min(1.0, sum + slack + infinite())};
}

NodeTable AtomLaw::nodes(double, double, double) const {
  NodeTable table;
  for (const Atom& atom : atoms_) {
    table.add(atom.loss, std::log(atom.mass), 8 + mass_error_ / kRounding,
              4 * std::abs(atom.loss) + loss_error_ / kRounding);
  }
  return table;
}

CellShares AtomLaw::split(const std::vector<double>& boundaries) const {
  const std::size_t cells = boundaries.size() - 1;
  CellShares shares(cells);
  const double width = boundaries[1] - boundaries[0];
  shares.loss_error = loss_error_;
  for (const Atom& atom : atoms_) add_atom(shares, boundaries, atom.loss, atom.mass);
  const double largest = std::max(std::abs(boundaries.front()), std::abs(boundaries.back()));
  shares.error.assign(cells, kRounding * (32 + 8 * largest / width) + mass_error_);
  shares.at_error += mass_error_;
  return shares;
}

double AtomLaw::lowest_loss(double tail) const {
  double mass = 0;
  for (const Atom& atom : atoms_) {
    mass += atom.mass;
    if (mass > tail) return atom.loss;
  }
  return atoms_.empty() ? 0 : atoms_.back().loss;
}

double AtomLaw::highest_loss(double tail) const {
  double mass = 0;
  for (std::size_t i = atoms_.size(); i-- > 0;) {
    mass += atoms_[i].mass;
    if (mass > tail) return atoms_[i].loss;
  }
  return atoms_.empty() ? 0 : atoms_.front().loss;
}

std::vector<double> AtomLaw::atoms() const {
  std::vector<double> losses;
  for (const Atom& atom : atoms_) losses.push_back(atom.loss);
  return losses;
}

}  // namespace shoal::privacy
