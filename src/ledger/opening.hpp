// Opening a ledger file: makes it if it is new, refuses what is no ledger, and sets what durability
// rests on.
#pragma once

#include "ledger/sqlite.hpp"

#include <shoal/ledger/ledger.hpp>

#include <filesystem>
#include <optional>

namespace shoal::ledger {

// A connection with write-ahead log and full synchronisation to a database that has the schema.
// Throws corrupt, io, unavailable or not_found. Somebody else's database is left as it is.
Connection open_connection(const std::filesystem::path& path, const Options& options);

// The same without writing; none if the file has an older format, which reading cannot bring up to
// date.
std::optional<Connection> open_reading_connection(const std::filesystem::path& path, Access access,
                                                  const Options& options);

}  // namespace shoal::ledger
