// Where a ledger is: a file, or a schema of the PostgreSQL server that the usual PG variables name,
// written "postgresql:<schema>".
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace shoal {

inline constexpr std::string_view kServerLedger = "postgresql:";

// The schema of a ledger that is on a server; none if it is a file.
inline std::optional<std::string> server_schema(const std::filesystem::path& ledger) {
  const std::string text = ledger.string();
  if (!text.starts_with(kServerLedger)) return std::nullopt;
  return text.substr(kServerLedger.size());
}

}  // namespace shoal
