// The sums of a group of a unit that is done at once, as a few words: for the ways that UnitBounder
// has for such units.
#pragma once

#include "engine/unit_bounder.hpp"

#include <type_traits>
#include <utility>

namespace shoal::engine {

// What `way` gives for a number of groups that is known when it is compiled, if it is one of those
// that can be done at once; false otherwise.
template <std::size_t... kLess, typename Way>
bool with_groups(std::index_sequence<kLess...>, std::size_t groups, const Way& way) {
  return ((groups == kLess + 1 && way(std::integral_constant<std::size_t, kLess + 1>())) || ...);
}

inline void UnitBounder::add_to_words(const RowBlock& block, std::size_t row,
                                      std::uint64_t* words) const {
  words[0] = 1;
  ++words[1];
  words += 2;
  if (readers_.size() == 1 && !has_squares_) {
    const BlockValues& from = block.values[0];
    std::int64_t steps = 0;
    words[0] += std::uint64_t{readers_[0].read(from.words[row], from.valid(row), steps)};
    words[1] += static_cast<std::uint64_t>(steps);
    return;
  }
  for (std::size_t value = 0; value < readers_.size(); ++value, words += 3) {
    const BlockValues& from = block.values[value];
    std::int64_t steps = 0;
    if (!readers_[value].read(from.words[row], from.valid(row), steps)) continue;
    ++words[0];
    words[1] += static_cast<std::uint64_t>(steps);
    if (!has_squares_ || !shape_.squared[value]) continue;
    const auto centred = static_cast<std::uint64_t>(steps - readers_[value].middle());
    words[2] += centred * centred;
  }
}

inline void UnitBounder::add_bounded_words(std::size_t set, GroupNumber group,
                                           const std::uint64_t* words) {
  GroupTable& table = tables_[set];
  const std::size_t place = table.place(group);
  table.add_unit(place);
  Int128* to = table.sums(place);
  const std::int64_t rows_per_group = shape_.rows_per_group;
  for (const WordsPlan& plan : words_plans_) {
    *to++ += plan.bounded(static_cast<std::int64_t>(words[plan.count]),
                          static_cast<std::int64_t>(words[plan.word]), rows_per_group);
  }
}

}  // namespace shoal::engine
