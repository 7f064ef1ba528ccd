// The manifest of settled rows: which file holds the rows that questions read, and of which source
// they were made. It lies, with those files, in a folder beside the data, <data>.rows:
//
//   rows.toml   version = 1, then [[settled]] tables with the fields below
//   lock        held by the process that settles
//
// One source can be settled in several ways, each with its signature: policies differ in types.
// What else is in the folder was left by a process that was killed, and the next one removes it.
#pragma once

#include <shoal/base/held_file.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace shoal::catalog {

// snapshot: a copy in the policy's types. pinned: the source itself, which was read to its end.
enum class SettledKind { snapshot, pinned };

// What was odd about some rows, for their owner alone.
struct RowProblem {
  std::string column;  // empty: whole lines
  std::int64_t rows = 0;
  std::string what;
};

struct SettledRows {
  std::string signature;  // of all that decides how the source becomes rows
  SettledKind kind = SettledKind::snapshot;
  FileStamp source;
  std::string source_sha256;
  std::string file;  // name of a snapshot in the folder
  FileStamp stamp;   // of the snapshot
  std::string file_sha256;
  std::int64_t rows = 0;  // private, as the problems are
  std::vector<RowProblem> problems;
};

class RowsManifest {
 public:
  // Reads the manifest of this data file (symbolic links are followed). A missing manifest counts
  // as empty. Throws corrupt.
  explicit RowsManifest(const std::filesystem::path& data);

  const std::filesystem::path& folder() const { return folder_; }
  const std::vector<SettledRows>& settled() const { return settled_; }
  const SettledRows* find(const std::string& signature) const;

  // In place of what has the same signature, and of what was made of another source. Durable.
  // Throws io.
  void put(const SettledRows& rows);
  // Forgets everything, without a word about what was damaged.
  static RowsManifest empty(const std::filesystem::path& data);
  // Removes whatever no entry names, but for the lock. Throws io.
  void remove_the_rest() const;

 private:
  RowsManifest() = default;
  std::filesystem::path folder_;
  std::vector<SettledRows> settled_;
};

// <data>.rows, after symbolic links.
std::filesystem::path rows_folder(const std::filesystem::path& data);

}  // namespace shoal::catalog
