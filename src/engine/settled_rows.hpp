// Which file holds the settled rows of a table, and whether it and the source are those of then.
#pragma once

#include <shoal/base/held_file.hpp>
#include <shoal/catalog/policy.hpp>
#include <shoal/catalog/rows_manifest.hpp>
#include <shoal/engine/settle.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace shoal::engine {

// Of all that decides which rows a file has under a policy. Two policies with the same signature
// read the same rows.
std::string rows_signature(const catalog::Policy& policy, const catalog::Table& table);

// The table's file. Throws not_found, and invalid_argument for settled rows.
std::filesystem::path source_file(const catalog::Policy& policy, const catalog::Table& table);

// Held open from the check on, so that what was checked is what is read.
struct OpenRows {
  HeldFile file;
  catalog::SettledKind kind = catalog::SettledKind::snapshot;
};

// none: never settled in this way. changed: the source or the settled file is another than then.
enum class RowsState { settled, none, changed };

struct FoundRows {
  RowsState state = RowsState::none;
  std::optional<OpenRows> rows = std::nullopt;  // if they are settled
};

// Compares sizes and times; where only the time differs the digest decides, and the manifest is
// told. Reads no row. Throws not_found (there is no source), corrupt (the manifest) or io.
FoundRows find_rows(const catalog::Policy& policy, const catalog::Table& table);

// Why a question about the table is refused, in a sentence that is the same whatever the rows are.
[[noreturn]] void rows_changed(const catalog::Table& table);      // throws conflict
[[noreturn]] void rows_not_settled(const catalog::Table& table);  // throws unavailable

// As find_rows(), but a CSV file, which no row can make unreadable, is settled now if it never was.
// Throws unavailable, too, with the reason in the owner's log.
FoundRows settle_automatically(const catalog::Policy& policy, const catalog::Table& table,
                               const NameCopy& name_copy);

}  // namespace shoal::engine
