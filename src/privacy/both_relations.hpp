#pragma once

#include <shoal/privacy/event.hpp>

namespace shoal::privacy {

// Whether the claims of an event are about both relations: those of additive noise say how far each
// moves the statistic; "anything that is epsilon-private" is so under the relation in question, and
// says nothing of the other. (A group of exchanges could be sampled one by one or as one: it is
// left alone.)
bool knows_both_relations(const Event& event);

}  // namespace shoal::privacy
