#include "engine/duckdb_connection.hpp"
#include "engine/settled_rows.hpp"
#include "engine/snapshot.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/locked_file.hpp>
#include <shoal/base/owner_log.hpp>
#include <shoal/base/text.hpp>
#include <shoal/engine/settle.hpp>

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>

namespace shoal::engine {

using catalog::RowsManifest;
using catalog::SettledKind;
using catalog::SettledRows;
using catalog::SourceFormat;
using catalog::Table;

namespace {

namespace fs = std::filesystem;

// How long one process waits for another that settles the same file.
constexpr std::chrono::seconds kWait{60};

// Roughly the share of the settling time that one digest takes.
constexpr double kDigestShare = 0.1;

[[noreturn]] void changed_meanwhile(const Table& table) {
  throw Error(ErrorCode::conflict,
              fmt::format("the file of table {} changed while it was read; try again when nothing "
                          "writes to it",
                          table.name));
}

// Gives a written snapshot its name, with its marker before it.
void name_snapshot(const Table& table, const SourceFile& source, const fs::path& partial,
                   const fs::path& folder, const NameCopy& name_copy, SettledRows& settled) {
  source.file.protect(partial);
  const HeldFile made(partial);
  made.sync();
  settled.stamp = made.stamp();
  settled.file_sha256 = made.digest();
  settled.file = fmt::format("{}-{}.parquet", settled.signature.substr(0, 10),
                             settled.source_sha256.substr(0, 10));
  const fs::path file = folder / settled.file;
  name_copy(table, file, [&] {
    std::error_code error;
    fs::rename(partial, file, error);
    if (error) {
      throw Error(ErrorCode::io,
                  fmt::format("cannot write {}: {}", file.string(), error.message()));
    }
    sync_folder_of(file);
  });
}

// Under the lock. Throws DuckdbFailure.
RowReport settle(const catalog::Policy& policy, const Table& table, RowsManifest& manifest,
                 const NameCopy& name_copy, const Progress& progress) {
  const SourceFile source(source_file(policy, table));
  manifest.remove_the_rest();
  const auto tell = [&](double share) {
    if (progress) progress(share);
  };
  // A digest, all the rows, and a digest of the copy.
  const auto pass = [&](double share) { tell(kDigestShare + (1 - 2 * kDigestShare) * share); };
  SettledRows settled;
  settled.signature = rows_signature(policy, table);
  settled.source = source.stamp;
  settled.source_sha256 = source.file.digest([&](std::uint64_t bytes) {
    tell(kDigestShare * static_cast<double>(bytes) / static_cast<double>(source.stamp.bytes + 1));
  });
  std::optional<RowReport> pinned;
  if (table.format == SourceFormat::parquet)
    pinned = read_to_the_end(policy, table, source, manifest.folder(), pass);
  RowReport report;
  if (pinned) {
    report = *std::move(pinned);
    if (!source.is_as_it_was()) changed_meanwhile(table);
    settled.kind = SettledKind::pinned;
  } else {
    const fs::path partial = manifest.folder() / "snapshot.tmp";
    make_private_file(partial);
    report = write_snapshot(policy, table, source, partial, pass);
    if (!source.is_as_it_was()) changed_meanwhile(table);
    name_snapshot(table, source, partial, manifest.folder(), name_copy, settled);
  }
  settled.rows = report.rows;
  settled.problems = report.problems;
  manifest.put(settled);
  manifest.remove_the_rest();
  tell(1);
  return report;
}

RowsManifest manifest_of(const fs::path& path) {
  try {
    return RowsManifest(path);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt) throw;
    return RowsManifest::empty(path);
  }
}

std::optional<SettledReport> settled_before(const catalog::Policy& policy, const Table& table,
                                            const RowsManifest& manifest) {
  const SettledRows* settled = manifest.find(rows_signature(policy, table));
  if (!settled || find_rows(policy, table).state != RowsState::settled) return std::nullopt;
  return SettledReport{Settled::before, {settled->rows, settled->problems}};
}

// The folder and its lock, for whoever settles.
LockedFile lock_rows(const fs::path& path) {
  const fs::path folder = catalog::rows_folder(path);
  // What is in it and nobody knows of is removed: it must be Shoal's own.
  std::error_code ignored;
  if (fs::exists(folder, ignored) && !fs::exists(folder / "lock", ignored) &&
      !fs::is_empty(folder, ignored)) {
    throw Error(
        ErrorCode::conflict,
        fmt::format("{} is there and not Shoal's, which keeps settled rows under that name; "
                    "rename it",
                    folder.string()));
  }
  HeldFile(path).make_folder(folder);
  return {folder / "lock", LockedFile::Make::yes, kWait};
}

}  // namespace

void rows_changed(const Table& table) {
  throw Error(ErrorCode::conflict,
              fmt::format("the data of table {} is not what it was when its rows were settled; its "
                          "owner must run shoal import POLICY, which settles them anew, and the "
                          "budget goes on",
                          table.name));
}

void rows_not_settled(const Table& table) {
  throw Error(ErrorCode::unavailable,
              fmt::format("the rows of table {} are not settled yet; its owner must run shoal "
                          "import POLICY once",
                          table.name));
}

FoundRows settle_automatically(const catalog::Policy& policy, const Table& table,
                               const NameCopy& name_copy) {
  FoundRows found = find_rows(policy, table);
  if (found.state != RowsState::none || table.format != SourceFormat::csv) return found;
  const fs::path path = source_file(policy, table);
  const LockedFile lock = lock_rows(path);
  // Whoever had the lock may have done it.
  found = find_rows(policy, table);
  if (found.state != RowsState::none) return found;
  RowsManifest manifest(path);
  try {
    settle(policy, table, manifest, name_copy, {});
  } catch (const DuckdbFailure& failure) {
    OwnerLog(policy.owner_log()).write("rows could not be settled", failure.details());
    throw Error(ErrorCode::unavailable,
                fmt::format("the rows of table {} could not be settled; its owner must run shoal "
                            "import POLICY, which tells why",
                            table.name));
  }
  return find_rows(policy, table);
}

SettledReport settle_rows(const catalog::Policy& policy, const Table& table,
                          const NameCopy& name_copy, const Progress& progress) {
  const fs::path path = source_file(policy, table);
  // Before the lock: what is found to be the same is noted under it.
  if (const auto before = settled_before(policy, table, manifest_of(path))) return *before;
  const LockedFile lock = lock_rows(path);
  RowsManifest manifest = manifest_of(path);
  if (const auto before = settled_before(policy, table, manifest)) return *before;
  try {
    return {Settled::now, settle(policy, table, manifest, name_copy, progress)};
  } catch (const DuckdbFailure& failure) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} cannot be read: {}", path.string(),
                                                         printable(failure.details(), 300)));
  }
}

}  // namespace shoal::engine
