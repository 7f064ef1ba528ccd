// What an open ledger works with: the store, and what is known of its chain.
#pragma once

#include "ledger/chain.hpp"
#include "ledger/store.hpp"

#include <shoal/ledger/ledger.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace shoal::ledger {

// What a reservation is made of.
struct Ledger::Held {
  std::int64_t entry;
  std::string holder;
  privacy::Event event;
  Neighbors neighbors;
};

struct Ledger::State {
  std::unique_ptr<Store> store;
  ChainState chain;
  std::filesystem::path place;
  Options options;

  // The action's result, once it is on disk. It sees the chain as it then is, and may be run more
  // than once. What is only in a transaction is forgotten with it, also when it is tried again.
  template <typename Action>
  auto transact(Action&& action) {
    const ChainState before = chain;
    std::optional<decltype(action())> result;
    try {
      store->transact([&] {
        chain = before;
        chain.advance(*store);
        result.reset();
        result.emplace(action());
      });
    } catch (...) {
      chain = before;
      throw;
    }
    return std::move(*result);
  }

  Entry append(Entry entry);
  // Of the chain as it is known: advance it first.
  std::optional<Account> account(const std::string& lineage) const;
  Account known_account(const std::string& lineage) const;
  std::string holder_of(const Entry& reserve) const;

  // Entries that are used: each throws corrupt unless its hash fits.
  Entry entry_at(std::int64_t seq, std::string_view kind) const;
  std::optional<Entry> reserve_of_key(const std::string& lineage, const std::string& key) const;
  std::optional<Entry> closing_of(std::int64_t reservation) const;
  // Throws corrupt if the entry that closed a reservation may have been removed.
  void require_still_open(const Entry& reserve) const;

  // Throws refused_by_policy if failures closed the lineage.
  void require_open(const Request& request) const;
  std::variant<Held, StoredAnswer> reserve(const Request& request);
  std::variant<Held, StoredAnswer> reserve_again(const Request& request, const Entry& earlier,
                                                 Entry entry);
  Entry write(Entry entry);
  Entry close(std::int64_t reservation, const std::string& kind, const std::string& holder,
              const std::string& body);
};

// What a settle or fail entry says in its body: {"digest", "answer"}, and if the answer leaves
// later than it is stored {"leaves", "hidden"}, when and how long after, in microseconds.
std::string closing_body(std::string_view answer, std::chrono::microseconds hidden_for);
StoredAnswer stored_answer(const Entry& reserve, const Entry& closed);

// Throws conflict if the key of the reservation was used for another request.
void require_same_request(const Entry& reserve, const std::string& digest);

}  // namespace shoal::ledger
