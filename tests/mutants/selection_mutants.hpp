// Selections that are wrong on purpose, each in a way that a real one has been or could be. A test
// suite that lets one of them through is not good enough.
#pragma once

#include <shoal/mechanism/selection_registry.hpp>
#include <shoal/mechanism/selector.hpp>
#include <shoal/random/lazy_exponential.hpp>

#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

namespace shoal::mutants {

using Choice = std::vector<std::size_t>;
using Chooser = std::function<Choice(std::span<const Int128>, random::BitSource&)>;

struct SelectionMutant {
  const char* name;
  // Whether it breaks the claim so far that the audit of samples has to see it. All are left to the
  // chi-square test as well.
  bool breaks_privacy;
  std::function<Chooser(const mechanism::SelectionNoise&)> make;
};

namespace detail {

// The noise that is made of E, in floating point: good enough to be wrong with.
inline double noise_from(mechanism::ScoreNoise law, double e, random::BitSource& bits) {
  if (law == mechanism::ScoreNoise::gumbel) return -std::log(e);
  if (law == mechanism::ScoreNoise::laplace && bits.next_bit()) return -e;
  return e;
}

inline double exponential(random::BitSource& bits) {
  return -std::log((static_cast<double>(bits.next_bits(52)) + 0.5) * 0x1p-52);
}

// The highest first; of equals the one that came first.
inline Choice highest(const std::vector<double>& keys, std::int64_t count) {
  Choice order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return keys[a] > keys[b]; });
  order.resize(static_cast<std::size_t>(count));
  return order;
}

// A selection in floating point whose keys are made by `key(score, index, bits)`.
template <class MakeKey>
Chooser by_keys(std::int64_t count, MakeKey key) {
  return [count, key](std::span<const Int128> scores, random::BitSource& bits) {
    std::vector<double> keys;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      keys.push_back(key(static_cast<double>(scores[i]), i, bits));
    }
    return highest(keys, count);
  };
}

}  // namespace detail

// The honest selection in floating point: the mutants below differ from it in one thing each, and
// the tests show that the checks would let this one pass.
inline Chooser plain_selection(const mechanism::SelectionNoise& noise) {
  return detail::by_keys(noise.count, [noise](double score, std::size_t, random::BitSource& bits) {
    return score + noise.scale * detail::noise_from(noise.law, detail::exponential(bits), bits);
  });
}

inline std::vector<SelectionMutant> selection_mutants() {
  using mechanism::ScoreNoise;
  using mechanism::SelectionNoise;
  using random::BitSource;
  return {
      {"half_the_scale", true,  // also what a factor 2 missing for two-sided scores comes to
       [](const SelectionNoise& noise) -> Chooser {
         return [noise](std::span<const Int128> scores, BitSource& bits) {
           mechanism::Selector selector({noise.law, noise.scale / 2, noise.count}, bits);
           selector.offer(scores);
           return selector.result();
         };
       }},
      {"ties_to_the_first", false,  // noisy scores rounded to whole scales, first of equals wins
       [](const SelectionNoise& noise) -> Chooser {
         return detail::by_keys(noise.count, [noise](double score, std::size_t, BitSource& bits) {
           const double e = detail::exponential(bits);
           return std::floor(score / noise.scale + detail::noise_from(noise.law, e, bits));
         });
       }},
      {"truncated_exponential", false,  // three digits of E taken for all of it
       [](const SelectionNoise& noise) -> Chooser {
         return detail::by_keys(noise.count, [noise](double score, std::size_t, BitSource& bits) {
           const double e = (std::floor(detail::exponential(bits) * 8) + 0.5) / 8;
           return score + noise.scale * detail::noise_from(noise.law, e, bits);
         });
       }},
      {"one_noise_for_all", true,  // the choice is the exact one
       [](const SelectionNoise& noise) -> Chooser {
         return [noise](std::span<const Int128> scores, BitSource& bits) {
           const double shared =
               noise.scale * detail::noise_from(noise.law, detail::exponential(bits), bits);
           const auto key = [shared](double score, std::size_t, BitSource&) {
             return score + shared;
           };
           return detail::by_keys(noise.count, key)(scores, bits);
         };
       }},
      {"one_noise_for_two", false,  // neighbours in the list share theirs
       [](const SelectionNoise& noise) -> Chooser {
         return [noise](std::span<const Int128> scores, BitSource& bits) {
           double last = 0;
           const auto key = [&](double score, std::size_t index, BitSource& source) {
             if (index % 2 == 0) {
               const double e = detail::exponential(source);
               last = noise.scale * detail::noise_from(noise.law, e, source);
             }
             return score + last;
           };
           return detail::by_keys(noise.count, key)(scores, bits);
         };
       }},
      {"clamped_noise", false,  // rare noise is cut off
       [](const SelectionNoise& noise) -> Chooser {
         return detail::by_keys(noise.count, [noise](double score, std::size_t, BitSource& bits) {
           const double x = detail::noise_from(noise.law, detail::exponential(bits), bits);
           return score + noise.scale * std::min(x, 2.0);
         });
       }},
      {"never_the_last", false,  // an off-by-one in the loop
       [](const SelectionNoise& noise) -> Chooser {
         return [noise](std::span<const Int128> scores, BitSource& bits) {
           mechanism::Selector selector(noise, bits);
           selector.offer(scores.first(scores.size() - 1));
           return selector.result();
         };
       }},
  };
}

}  // namespace shoal::mutants
