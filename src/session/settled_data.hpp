// Settled rows, with what only a session knows: which budget a copy of the data belongs to.
#pragma once

#include <shoal/catalog/policy.hpp>
#include <shoal/engine/engine.hpp>
#include <shoal/engine/settle.hpp>

#include <memory>
#include <span>

namespace shoal::session {

// Writes the marker of a snapshot before it has its name: the rows are the same data. Throws
// conflict if the data belongs to another budget than the policy's.
engine::NameCopy mark_copies(const catalog::Policy& policy);

// The engine over the tables; CSV files that were never settled are now. Throws what
// engine::open_engine() throws.
std::unique_ptr<engine::Engine> open_engine(const catalog::Policy& policy,
                                            std::span<const catalog::Table* const> tables);

}  // namespace shoal::session
