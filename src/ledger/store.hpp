// A store: where the chain's entries are kept, and who works on them. The ledger asks through this
// interface and does not know whether a file or a server answers.
#pragma once

#include "ledger/chain.hpp"

#include <shoal/ledger/ledger.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shoal::ledger {

class Store {
 public:
  virtual ~Store() = default;

  // What messages call it.
  virtual std::string name() const = 0;

  // Runs the action as one transaction: as if nobody else wrote between its first read and its last
  // write. When it returns, everything is on disk. Runs the action again from its start if somebody
  // was in between, for a limited time; throws unavailable then. Undoes everything if the action
  // throws.
  virtual void transact(const std::function<void()>& action) = 0;
  // Within a transaction alone.
  virtual void append(const Entry& entry) = 0;

  // Every entry of at least that number, in order.
  virtual void read_from(std::int64_t seq, const std::function<void(const Entry&)>& action) = 0;
  virtual std::optional<Entry> entry_at(std::int64_t seq) = 0;
  virtual std::optional<std::string> hash_at(std::int64_t seq) = 0;
  virtual std::optional<Entry> last_checkpoint() = 0;
  virtual std::optional<Entry> reserve_of_key(const std::string& lineage,
                                              const std::string& key) = 0;
  virtual std::optional<Entry> reserve_at(std::int64_t seq) = 0;
  // The last so many reservations of a lineage, the newest first.
  virtual std::vector<Entry> last_reserves(const std::string& lineage, std::int64_t limit) = 0;
  // What closed a reservation (settle, fail or cancel), and the last time that it was taken over.
  virtual std::optional<Entry> closing_of(std::int64_t reservation) = 0;
  virtual std::optional<Entry> last_resume_of(std::int64_t reservation) = 0;

  // Whether it still is what its name leads to.
  virtual bool is_in_place() const = 0;

  // What the store itself can say about its soundness. Throws corrupt.
  virtual void check_integrity() = 0;

  // Writes a verified copy of one moment. Throws conflict if the file exists.
  virtual void backup(const std::filesystem::path& file) = 0;

  // Names whoever holds a reservation made through this store: a new name at each call.
  virtual std::string new_holder() = 0;
  // Whether that holder can be known to be gone. When in doubt it lives.
  virtual bool is_gone(const std::string& holder) = 0;

 protected:
  Store() = default;
  Store(const Store&) = default;
  Store(Store&&) = default;
  Store& operator=(const Store&) = default;
  Store& operator=(Store&&) = default;
};

std::unique_ptr<Store> open_sqlite_store(const std::filesystem::path& path, const Options& options);
std::unique_ptr<Store> open_postgres_store(const std::string& schema, const Options& options);

}  // namespace shoal::ledger
