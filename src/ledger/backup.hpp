// A copy of a ledger file, of one moment, while others may write it.
#pragma once

#include "ledger/sqlite.hpp"

#include <filesystem>

namespace shoal::ledger {

// The copy gets its name when it is whole, verified from the first entry on, and on disk. Mode
// 0600. Throws conflict if the file exists.
void write_backup(const Connection& from, const std::filesystem::path& file);

}  // namespace shoal::ledger
