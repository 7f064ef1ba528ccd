// shoal_csv(path, delimiter, quote, header, names, row_numbers): the rows of a CSV file
// (csv_rows.hpp) as a table function of DuckDB. Every column is text; an empty field is NULL, and
// so is what is no text. Several threads may read one file: they take blocks of whole rows in turn,
// and cut them into fields side by side. A connection that keeps insertion order reads with one.
#pragma once

#include "engine/csv_rows.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <span>

// The name is DuckDB's.
struct _duckdb_connection;  // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

namespace shoal::engine {

// The CSV files that a connection reads.
class CsvReads {
 public:
  // Makes shoal_csv known to the connection. Throws unavailable if it does not take it.
  explicit CsvReads(_duckdb_connection* connection);
  CsvReads(CsvReads&&) noexcept;
  CsvReads& operator=(CsvReads&&) noexcept;
  ~CsvReads();

  // From now on no other file is opened, whatever a statement says.
  void allow_only(std::span<const std::filesystem::path> paths);
  // What the newest statement that read the file to its end found in it. Those of fields cover the
  // columns that the statement used.
  CsvCounts counts(const std::filesystem::path& path) const;
  // The part of the file that the newest statement with one has read, from 0 to 1. A public
  // quantity where the file's size is.
  std::optional<double> progress() const;

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace shoal::engine
