// Engines that a session keeps from question to question: opening one takes longer than most
// questions do. One is used again for the same tables of the same policy, if their files are what
// they were when it was opened, and its last question was answered.
#pragma once

#include <shoal/engine/engine.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace shoal::session {

class KeptEngines {
 public:
  // What tells a file from another, and from itself after a change.
  struct FileStamp {
    std::uint64_t device = 0;
    std::uint64_t number = 0;
    std::int64_t size = 0;
    std::int64_t written = 0;
    std::int64_t changed = 0;
    bool operator==(const FileStamp&) const = default;
  };

  struct Kept {
    std::vector<std::string> tables;
    std::vector<FileStamp> files;
    std::unique_ptr<engine::Engine> engine;
    std::set<std::string> checked = {};  // digests of requests
  };

  // An engine in use, by one at a time. Closed at its end unless it was kept.
  class Lease {
   public:
    Lease(KeptEngines& owner, Kept&& kept) : owner_(owner), kept_(std::move(kept)) {}
    engine::Engine& operator*() const { return *kept_.engine; }
    engine::Engine* operator->() const { return kept_.engine.get(); }
    // Whether a request with this digest was checked on this engine already, and saying so: the
    // same request binds to the same.
    bool is_checked(const std::string& digest) const { return kept_.checked.contains(digest); }
    void note_checked(const std::string& digest);
    // Its question was answered: the next one may use it.
    void keep();

   private:
    KeptEngines& owner_;
    Kept kept_;
  };

  // Throws as open_engine() does (settled_data.hpp).
  Lease open(const catalog::Policy& policy, std::span<const catalog::Table* const> tables);

 private:
  std::mutex mutex_;
  std::vector<Kept> idle_;
};

}  // namespace shoal::session
