// A thin hold on DuckDB's C API: a private in-memory database, statements, results that free
// themselves.
#pragma once

#include <shoal/base/int128.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace shoal::engine {

// A failed statement. Its text may hold private values: it goes to the owner, never to an analyst.
class DuckdbFailure {
 public:
  explicit DuckdbFailure(std::string details) : details_(std::move(details)) {}
  const std::string& details() const { return details_; }

 private:
  std::string details_;
};

class DuckdbConnection {
 public:
  // An in-memory database with extensions neither installed nor loaded on their own.
  // Throws unavailable if DuckDB cannot start.
  DuckdbConnection();
  DuckdbConnection(DuckdbConnection&&) noexcept;
  DuckdbConnection& operator=(DuckdbConnection&&) noexcept;
  ~DuckdbConnection();

  // Each throws DuckdbFailure.
  void run(const std::string& sql);
  // All rows as text; SQL NULL is an empty text.
  std::vector<std::vector<std::string>> rows(const std::string& sql);
  // The only row of a query whose columns are all HUGEINT; SQL NULL is 0.
  std::vector<Int128> integers(const std::string& sql);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shoal::engine
