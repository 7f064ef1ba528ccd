// Key selection carried out, and the chances of its outcomes.
#include "mechanism/key_law.hpp"

#include <shoal/base/error.hpp>
#include <shoal/mechanism/threshold_coin.hpp>
#include <shoal/random/discrete_gaussian.hpp>
#include <shoal/random/discrete_laplace.hpp>

#include <algorithm>
#include <vector>

namespace shoal::mechanism {
namespace {

// Coins are kept for groups of up to so many units; larger ones that are not certain to be shown
// are rare, and get a coin of their own.
constexpr std::int64_t kKeptCoins = 4096;

template <class Spec, class Sampler>
class NoisySelection {
 public:
  NoisySelection(const Spec& spec, double scale) : spec_(spec), sampler_(scale) {}

  std::optional<SelectedGroup> select(std::int64_t units, random::BitSource& bits) {
    const Int128 noise = sampler_.sample(bits);
    const std::int64_t counted = counted_units(units, spec_.min_units);
    if (counted == 0 || counted + noise < spec_.threshold) return std::nullopt;
    return SelectedGroup{units + noise};
  }

 private:
  Spec spec_;
  Sampler sampler_;
};

class CoinSelection {
 public:
  explicit CoinSelection(const OptimalSelection& spec)
      : min_units_(spec.min_units), chance_(chance_of(spec)) {}

  std::optional<SelectedGroup> select(std::int64_t units, random::BitSource& bits) {
    const std::uint64_t word = bits.next_u64();
    const std::int64_t counted = counted_units(units, min_units_);
    if (counted == 0) return std::nullopt;
    const bool shown = counted >= chance_.certain_from() || decide(counted, word, bits);
    return shown ? std::optional<SelectedGroup>(SelectedGroup{}) : std::nullopt;
  }

 private:
  ThresholdCoin coin(std::int64_t counted) const {
    return ThresholdCoin(
        [chance = chance_, counted](int precision) { return chance.at(counted, precision); });
  }

  bool decide(std::int64_t counted, std::uint64_t word, random::BitSource& bits) {
    if (counted > kKeptCoins) return coin(counted).decide(word, bits);
    const auto place = static_cast<std::size_t>(counted);
    if (coins_.size() <= place) coins_.resize(place + 1);
    if (!coins_[place]) coins_[place] = coin(counted);
    return coins_[place]->decide(word, bits);
  }

  std::int64_t min_units_;
  OptimalChance chance_;
  std::vector<std::optional<ThresholdCoin>> coins_;
};

using LaplaceSelection = NoisySelection<LaplaceThreshold, random::DiscreteLaplaceSampler>;
using GaussianSelection = NoisySelection<GaussianThreshold, random::DiscreteGaussianSampler>;
using AnyState = std::variant<LaplaceSelection, GaussianSelection, CoinSelection>;

struct Prepare {
  AnyState operator()(const LaplaceThreshold& spec) const {
    return LaplaceSelection(spec, spec.scale);
  }
  AnyState operator()(const GaussianThreshold& spec) const {
    return GaussianSelection(spec, spec.sigma);
  }
  AnyState operator()(const OptimalSelection& spec) const { return CoinSelection(spec); }
};

const KeySelection& checked(const KeySelection& selection) {
  validate(selection);
  return selection;
}

template <class Spec>
double keep_up(const Spec& spec, std::int64_t counted) {
  return NoiseTails(noise_of(spec)).at_least_up(spec.threshold - static_cast<Int128>(counted));
}
template <class Spec>
double keep_down(const Spec& spec, std::int64_t counted) {
  return NoiseTails(noise_of(spec)).at_least_down(spec.threshold - static_cast<Int128>(counted));
}
double keep_up(const OptimalSelection& spec, std::int64_t counted) {
  return high_up(chance_of(spec).at(counted, 64));
}
double keep_down(const OptimalSelection& spec, std::int64_t counted) {
  return low_down(chance_of(spec).at(counted, 64));
}

}  // namespace

std::int64_t counted_units(std::int64_t units, std::int64_t min_units) {
  if (units < 0) {
    throw Error(ErrorCode::invalid_argument,
                "a group has a negative number of units; give 0 or more");
  }
  return units < min_units ? 0 : units - (min_units - 1);
}

struct KeySelector::State {
  AnyState state;
};

KeySelector::KeySelector(const KeySelection& selection)
    : state_(new State{std::visit(Prepare{}, checked(selection))}) {}
KeySelector::KeySelector(KeySelector&&) noexcept = default;
KeySelector& KeySelector::operator=(KeySelector&&) noexcept = default;
KeySelector::~KeySelector() = default;

std::optional<SelectedGroup> KeySelector::select(std::int64_t units, random::BitSource& bits) {
  return std::visit([&](auto& member) { return member.select(units, bits); }, state_->state);
}

std::optional<SelectedGroup> select(const KeySelection& selection, std::int64_t units,
                                    random::BitSource& bits) {
  return KeySelector(selection).select(units, bits);
}

double keep_probability_up(const KeySelection& selection, std::int64_t units) {
  const std::int64_t counted = counted_units(units, min_units(checked(selection)));
  if (counted == 0) return 0;
  return std::visit([&](const auto& spec) { return keep_up(spec, counted); }, selection);
}

double keep_probability_down(const KeySelection& selection, std::int64_t units) {
  const std::int64_t counted = counted_units(units, min_units(checked(selection)));
  if (counted == 0) return 0;
  return std::visit([&](const auto& spec) { return keep_down(spec, counted); }, selection);
}

double keep_probability(const KeySelection& selection, std::int64_t units) {
  const double down = keep_probability_down(selection, units);
  return down + (keep_probability_up(selection, units) - down) / 2;
}

}  // namespace shoal::mechanism
