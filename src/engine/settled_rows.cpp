#include "engine/settled_rows.hpp"

#include <shoal/base/digest.hpp>
#include <shoal/base/error.hpp>
#include <shoal/base/locked_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace shoal::engine {

using catalog::RowsManifest;
using catalog::SettledKind;
using catalog::SettledRows;

namespace {

// Rows that another version reads in another way are settled anew.
constexpr long long kReaderVersion = 1;

// Long enough for a digest by another process; what is noted after it only saves time.
constexpr std::chrono::seconds kNoting{2};

// Whether the open file is the one of then.
bool is_the_same(const HeldFile& file, const FileStamp& then, const std::string& sha256) {
  const FileStamp now = file.stamp();
  return now == then || (now.bytes == then.bytes && file.digest() == sha256);
}

bool same_source(const HeldFile& source, const SettledRows& rows) {
  return is_the_same(source, rows.source, rows.source_sha256);
}

// So that the next question need not read the file to know it. Whoever cannot write goes on
// without.
void note_times(const std::filesystem::path& path, const SettledRows& rows) {
  try {
    const LockedFile lock(catalog::rows_folder(path) / "lock", LockedFile::Make::no, kNoting);
    RowsManifest manifest(path);
    const SettledRows* there = manifest.find(rows.signature);
    if (there && there->source_sha256 == rows.source_sha256 &&
        there->file_sha256 == rows.file_sha256) {
      manifest.put(rows);
    }
  } catch (const Error&) {
  }
}

// The file that holds the rows; nothing if it is not the one of then.
std::optional<OpenRows> open_rows(const RowsManifest& manifest, const SettledRows& settled,
                                  HeldFile&& source) {
  if (settled.kind == SettledKind::pinned) return OpenRows{std::move(source), settled.kind};
  try {
    HeldFile snapshot(manifest.folder() / settled.file);
    if (!is_the_same(snapshot, settled.stamp, settled.file_sha256)) return std::nullopt;
    return OpenRows{std::move(snapshot), settled.kind};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_found) throw;
    return std::nullopt;
  }
}

}  // namespace

std::string rows_signature(const catalog::Policy& policy, const catalog::Table& table) {
  FieldBytes fields;
  fields.add("settled rows").add(kReaderVersion);
  fields.add(static_cast<long long>(table.format));
  if (table.format == catalog::SourceFormat::csv) {
    fields.add(std::string(1, table.csv.delimiter)).add(std::string(1, table.csv.quote));
    fields.add(static_cast<long long>(table.csv.header.size()));
    for (const std::string& name : table.csv.header) fields.add(name);
  }
  fields.add(table.person_column);
  for (const catalog::Column& column : table.columns) {
    fields.add(column.name).add(to_string(column.type));
    fields.add(policy.tells_people_apart(table, column.name) ? 1 : 0);
    fields.add(column.trim ? 1 : 0);
  }
  return to_hex(sha256(fields.bytes()));
}

std::filesystem::path source_file(const catalog::Policy& policy, const catalog::Table& table) {
  std::filesystem::path path = policy.resolve(table.source);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    throw Error(
        ErrorCode::not_found,
        fmt::format("the file of table {} is not there: {}; correct its source in the policy",
                    table.name, path.string()));
  }
  // Their marker and manifest are those of the data.
  if (path.parent_path().extension() == ".rows" &&
      std::filesystem::exists(path.parent_path() / "rows.toml", ignored)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("table {} names settled rows, {}; name the data that they were made of",
                            table.name, path.string()));
  }
  return path;
}

FoundRows find_rows(const catalog::Policy& policy, const catalog::Table& table) {
  const std::filesystem::path path = source_file(policy, table);
  const RowsManifest manifest(path);
  if (manifest.settled().empty()) return {};
  HeldFile source(path);
  const SettledRows* settled = manifest.find(rows_signature(policy, table));
  if (!settled) {
    // The rows are known under another policy: what they may be is decided all the same.
    const bool known =
        std::any_of(manifest.settled().begin(), manifest.settled().end(),
                    [&](const SettledRows& rows) { return same_source(source, rows); });
    return {known ? RowsState::none : RowsState::changed};
  }
  if (!same_source(source, *settled)) return {RowsState::changed};
  SettledRows seen = *settled;
  seen.source = source.stamp();
  std::optional<OpenRows> rows = open_rows(manifest, *settled, std::move(source));
  if (!rows) return {RowsState::changed};
  if (settled->kind == SettledKind::snapshot) seen.stamp = rows->file.stamp();
  if (seen.source != settled->source || seen.stamp != settled->stamp) note_times(path, seen);
  return {RowsState::settled, std::move(rows)};
}

}  // namespace shoal::engine
