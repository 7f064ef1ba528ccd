// From an owner's file to rows that nothing can make fail: reading a Parquet file to its end, and
// writing rows in the policy's types.
#pragma once

#include <shoal/base/held_file.hpp>
#include <shoal/catalog/policy.hpp>
#include <shoal/engine/inspect.hpp>

#include <filesystem>
#include <optional>

namespace shoal::engine {

// One file, with what it was when its reading began.
struct SourceFile {
  std::filesystem::path path;
  HeldFile file;
  FileStamp stamp;

  explicit SourceFile(const std::filesystem::path& name)
      : path(name), file(name), stamp(file.stamp()) {}

  bool is_as_it_was() const { return file.is_at(path) && file.stamp() == stamp; }
};

// Reads every page of the policy's columns in a Parquet file. Nothing if its types are not the
// engine's own, so that it must become a snapshot. `folder` is for what does not fit into memory.
// Throws invalid_argument, with the column, for what cannot be read, and conflict for another
// schema.
std::optional<RowReport> read_to_the_end(const catalog::Policy& policy, const catalog::Table& table,
                                         const SourceFile& source,
                                         const std::filesystem::path& folder,
                                         const Progress& progress);

// Writes the policy's columns to a Parquet file: ordered by person, and the rows of one person as
// they stand in the source; without a person all of them so. Throws DuckdbFailure, and conflict
// for another schema.
RowReport write_snapshot(const catalog::Policy& policy, const catalog::Table& table,
                         const SourceFile& source, const std::filesystem::path& output,
                         const Progress& progress);

}  // namespace shoal::engine
