// Entries as SQLite has them.
#pragma once

#include "ledger/chain.hpp"
#include "ledger/sqlite.hpp"

namespace shoal::ledger {

// Reads the columns of `SELECT * FROM entry`. The format is 0, which no entry has, if only some of
// the newer ones are there.
Entry read_entry(const Statement& statement);

}  // namespace shoal::ledger
