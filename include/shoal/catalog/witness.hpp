// The witness: a small file outside the ledger that keeps the ledger's last entry, its number and
// its hash, and never goes back. A ledger that lacks the entry is an older copy, or was cut off, or
// lost its write-ahead log: what was spent since is not in it.
//
// One stands beside each data file, made for a budget before its first spend; the owner may name
// another, on another disk (`witness` in the policy). The entry is kept after it is in the ledger
// and before what it stands for leaves, so that the ledger always has what the witness says.
//
// Format: two slots of kSlotBytes, each one line, "shoal-witness 1 <lineage, SHA-256> <number>
// <hash> <SHA-256 of all before>", padded with spaces. They are written in turn, in place: a write
// that was cut short leaves the other. The larger number counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace shoal::catalog {

struct WitnessedEntry {
  std::int64_t number = 0;
  std::string hash;
  bool operator==(const WitnessedEntry&) const = default;
};

class Witness {
 public:
  // Of one lineage, in this file.
  Witness(std::filesystem::path file, std::string lineage);

  const std::filesystem::path& file() const { return file_; }

  // None if there is no such file. Throws corrupt if it is damaged, or is another lineage's.
  std::optional<WitnessedEntry> read() const;

  // Whether read() would find it damaged, or another lineage's.
  bool is_damaged() const;

  // Before anything is spent: whether keep() may write. Throws io.
  void require_writable() const;

  // Keeps the entry, unless it knows that one or a later one; on disk when it returns. Makes the
  // file. Throws io, unavailable, corrupt as read() does.
  void keep(const WitnessedEntry& entry) const;

  // Each slot begins at a page of its own, so that no write touches both.
  static constexpr std::size_t kSlotBytes = 4096;

 private:
  std::filesystem::path file_;
  std::string lineage_;
};

// Beside the data's marker.
std::filesystem::path witness_path(const std::filesystem::path& data, const std::string& lineage);

// What the witness says that the marker knows of. Throws corrupt if it is gone.
WitnessedEntry existing_witness(const std::filesystem::path& data, const std::string& lineage);

}  // namespace shoal::catalog
