#include "engine/duckdb_connection.hpp"
#include "engine/grouped_rows.hpp"
#include "engine/number_function.hpp"
#include "engine/settled_rows.hpp"
#include "engine/source.hpp"
#include "engine/table_view.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/owner_log.hpp>
#include <shoal/base/text.hpp>
#include <shoal/engine/settle.hpp>

#include <fmt/format.h>

#include <algorithm>
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
constexpr int kWaitSeconds = 60;

// Of the time that settling takes, about.
constexpr double kDigestShare = 0.1;

[[noreturn]] void changed_meanwhile(const Table& table) {
  throw Error(ErrorCode::conflict,
              fmt::format("the file of table {} changed while it was read; try again when nothing "
                          "writes to it",
                          table.name));
}

// One file, with what it was when its reading began.
struct Source {
  fs::path path;
  HeldFile file;
  FileStamp stamp;

  explicit Source(const fs::path& name) : path(name), file(name), stamp(file.stamp()) {}

  bool is_as_it_was() const { return file.is_at(path) && file.stamp() == stamp; }
};

// What a statement needs that reads a large file: memory within the policy's, and a folder to spill
// into that is as private as the data.
void limit_resources(DuckdbConnection& connection, const catalog::Policy& policy,
                     const fs::path& folder) {
  const Resources resources = resources_of(policy.engine);
  connection.run(fmt::format("SET threads = {}", resources.threads));
  connection.run(fmt::format("SET memory_limit = '{}KiB'", resources.memory >> 10));
  connection.run("SET temp_directory = " + quoted((folder / "spill.tmp").string()));
}

// The columns that questions can ask for, as they are in the file.
std::vector<StoredColumn> asked_columns(const Table& table,
                                        const std::vector<StoredColumn>& columns) {
  std::vector<StoredColumn> asked;
  for (const StoredColumn& in_file : columns) {
    const catalog::Column* column = table.find_column(in_file.name, true);
    if (column && column->type != catalog::ColumnType::other) asked.push_back(in_file);
  }
  return asked;
}

// By person, and all rows of one person in an order that their contents decide.
std::string order_of(const Table& table, const std::vector<StoredColumn>& columns) {
  if (table.person_column.empty()) return "";
  std::string order = " ORDER BY " + identifier(table.person_column);
  for (const StoredColumn& column : asked_columns(table, columns)) {
    if (column.name != table.person_column) order += ", " + identifier(column.name);
  }
  return order;
}

// Snappy: a question reads twice as fast as from zstd, in a file a tenth larger. Dictionaries are
// for keys: of people with a dozen rows each they only cost time.
constexpr const char* kParquetOptions =
    "FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE 122880, DICTIONARY_SIZE_LIMIT 8192, "
    "USE_TMP_FILE false";

// Every page of these columns is decoded.
std::string read_whole_sql(const fs::path& path, const std::vector<StoredColumn>& columns) {
  std::string items;
  for (const StoredColumn& column : columns)
    items += fmt::format("{}bit_xor(hash({}))", items.empty() ? "" : ", ", identifier(column.name));
  return fmt::format("SELECT {} FROM {}", items, parquet_source(path));
}

// Says which column of a Parquet file cannot be read, for its owner.
[[noreturn]] void refuse_column(DuckdbConnection& connection, const Source& source,
                                const std::vector<StoredColumn>& columns,
                                const DuckdbFailure& failure) {
  for (const StoredColumn& column : columns) {
    try {
      connection.run(read_whole_sql(source.file.path(), {column}));
    } catch (const DuckdbFailure& why) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("column {} of {} cannot be read: {}; write the file anew with values "
                              "that its types allow (text in UTF-8), or give the column type "
                              "\"other\" in the policy, which leaves it out",
                              printable(column.name, 60), source.path.string(),
                              printable(why.details(), 300)));
    }
  }
  throw failure;
}

// Whether no column of the file needs a conversion.
bool is_typed(const Table& table, const std::vector<StoredColumn>& columns) {
  return std::all_of(columns.begin(), columns.end(), [&](const StoredColumn& column) {
    return is_as_stored(*table.find_column(column.name, true), column);
  });
}

// Reads a Parquet file to its end. False if its types are not the policy's own, so that it must
// become a snapshot. Throws invalid_argument for what cannot be read.
bool is_pinned(const catalog::Policy& policy, const Table& table, const Source& source,
               const Progress& progress) {
  if (table.format != SourceFormat::parquet) return false;
  DuckdbConnection connection;
  limit_resources(connection, policy, catalog::rows_folder(source.path));
  const std::vector<StoredColumn> columns = parquet_columns(connection, source.file.path());
  require_schema(table, columns);
  const std::vector<StoredColumn> asked = asked_columns(table, columns);
  try {
    connection.run(read_whole_sql(source.file.path(), asked), progress);
  } catch (const DuckdbFailure& failure) {
    refuse_column(connection, source, asked, failure);
  }
  return is_typed(table, asked);
}

// Writes the rows in the policy's types. Throws DuckdbFailure.
void write_snapshot(const catalog::Policy& policy, const Table& table, const Source& source,
                    const fs::path& output, const Progress& progress) {
  DuckdbConnection connection(table.person_column.empty() ? InsertionOrder::kept
                                                          : InsertionOrder::any);
  limit_resources(connection, policy, output.parent_path());
  register_number_function(connection);
  const bool csv = table.format == SourceFormat::csv;
  const std::vector<StoredColumn> columns =
      csv ? csv_columns(table, source.path) : parquet_columns(connection, source.file.path());
  const std::string items = converted_columns(policy, table, columns);
  std::vector<std::string> names;
  for (const StoredColumn& column : columns) names.push_back(column.name);
  const std::string rows =
      csv ? csv_source(source.file.path(), table.csv, names) : parquet_source(source.file.path());
  connection.run(fmt::format("COPY (FROM (SELECT {} FROM {}){}) TO {} ({})", items, rows,
                             order_of(table, columns), quoted(output.string()), kParquetOptions),
                 progress);
}

std::int64_t rows_in(const fs::path& parquet) {
  DuckdbConnection connection;
  return std::stoll(connection
                        .rows(fmt::format("SELECT CAST(SUM(num_rows) AS BIGINT) FROM "
                                          "parquet_file_metadata({})",
                                          quoted(parquet.string())))
                        .at(0)
                        .at(0));
}

// Gives a written snapshot its name, with its marker before it.
void name_snapshot(const Table& table, const Source& source, const fs::path& partial,
                   const fs::path& folder, const BeforeNamed& before_named, SettledRows& settled) {
  source.file.protect(partial);
  const HeldFile made(partial);
  made.sync();
  settled.stamp = made.stamp();
  settled.file_sha256 = made.digest();
  settled.rows = rows_in(partial);
  settled.file = fmt::format("{}-{}.parquet", settled.signature.substr(0, 10),
                             settled.source_sha256.substr(0, 10));
  const fs::path file = folder / settled.file;
  before_named(table, file);
  std::error_code error;
  fs::rename(partial, file, error);
  if (error)
    throw Error(ErrorCode::io, fmt::format("cannot write {}: {}", file.string(), error.message()));
  sync_folder_of(file);
}

// Under the lock. Throws DuckdbFailure.
void settle(const catalog::Policy& policy, const Table& table, RowsManifest& manifest,
            const BeforeNamed& before_named, const Progress& progress) {
  const Source source(source_file(policy, table));
  manifest.remove_the_rest();
  const auto tell = [&](double share) {
    if (progress) progress(share);
  };
  SettledRows settled;
  settled.signature = rows_signature(policy, table);
  settled.source = source.stamp;
  settled.source_sha256 = source.file.digest([&](std::uint64_t bytes) {
    tell(kDigestShare * static_cast<double>(bytes) / static_cast<double>(source.stamp.bytes + 1));
  });
  // A file that is only read to its end has two passes, one that becomes a snapshot at most three.
  const auto pass = [&](double share) { tell(kDigestShare + (1 - 2 * kDigestShare) * share); };
  if (is_pinned(policy, table, source, pass)) {
    if (!source.is_as_it_was()) changed_meanwhile(table);
    settled.kind = SettledKind::pinned;
    settled.rows = rows_in(source.file.path());
  } else {
    const fs::path partial = manifest.folder() / "snapshot.tmp";
    make_private_file(partial);
    write_snapshot(policy, table, source, partial, pass);
    if (!source.is_as_it_was()) changed_meanwhile(table);
    name_snapshot(table, source, partial, manifest.folder(), before_named, settled);
  }
  manifest.put(settled);
  manifest.remove_the_rest();
  tell(1);
}

RowsManifest manifest_of(const fs::path& path) {
  try {
    return RowsManifest(path);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt) throw;
    return RowsManifest::empty(path);
  }
}

// The folder and its lock, for whoever settles.
FileLock lock_rows(const fs::path& path) {
  const fs::path folder = catalog::rows_folder(path);
  HeldFile(path).make_folder(folder);
  return FileLock(folder / "lock", kWaitSeconds);
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
                               const BeforeNamed& before_named) {
  FoundRows found = find_rows(policy, table);
  if (found.state != RowsState::none || table.format != SourceFormat::csv) return found;
  const fs::path path = source_file(policy, table);
  const FileLock lock = lock_rows(path);
  // Whoever had the lock may have done it.
  found = find_rows(policy, table);
  if (found.state != RowsState::none) return found;
  RowsManifest manifest(path);
  try {
    settle(policy, table, manifest, before_named, {});
  } catch (const DuckdbFailure& failure) {
    OwnerLog(policy.owner_log()).write("rows could not be settled", failure.details());
    throw Error(ErrorCode::unavailable,
                fmt::format("the rows of table {} could not be settled; its owner must run shoal "
                            "import POLICY, which tells why",
                            table.name));
  }
  return find_rows(policy, table);
}

Settled settle_rows(const catalog::Policy& policy, const Table& table,
                    const BeforeNamed& before_named, const Progress& progress) {
  const fs::path path = source_file(policy, table);
  if (!manifest_of(path).settled().empty() && find_rows(policy, table).state == RowsState::settled)
    return Settled::before;
  const FileLock lock = lock_rows(path);
  RowsManifest manifest = manifest_of(path);
  if (!manifest.settled().empty() && find_rows(policy, table).state == RowsState::settled)
    return Settled::before;
  try {
    settle(policy, table, manifest, before_named, progress);
  } catch (const DuckdbFailure& failure) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} cannot be read: {}", path.string(),
                                                         printable(failure.details(), 300)));
  }
  return Settled::now;
}

}  // namespace shoal::engine
