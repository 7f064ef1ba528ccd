// The last step of every engine: the groups of a set, as they are handed over.
#pragma once

#include "engine/group_shape.hpp"

#include <shoal/data/grouped_aggregate.hpp>

#include <vector>

namespace shoal::engine {

// The groups in the order of their keys. Without a grouping column there is one group, and that it
// is there tells nothing: it is there when nobody is in it, too.
data::GroupedAggregate finish_groups(const GroupShape& shape, const GroupingSet& set,
                                     std::vector<data::ExactGroup>&& groups);

// The types of a set's key columns.
std::vector<KeyType> types_of(const std::vector<KeyType>& keys, const GroupingSet& set);

}  // namespace shoal::engine
