// Ledgers that stay open while nobody uses them.
#pragma once

#include "ledger/state.hpp"

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

namespace shoal::ledger {

class OpenLedgers {
 public:
  OpenLedgers() = default;
  OpenLedgers(const OpenLedgers&) = delete;
  OpenLedgers& operator=(const OpenLedgers&) = delete;
  ~OpenLedgers();

  // One that is open at the place and can do what the options ask for; none if there is none.
  std::unique_ptr<Ledger::State> take(const std::filesystem::path& place, const Options& options);
  void put(std::unique_ptr<Ledger::State> state);

 private:
  struct Idle {
    pid_t process;
    std::unique_ptr<Ledger::State> state;
  };

  std::mutex mutex_;
  std::vector<Idle> idle_;
};

}  // namespace shoal::ledger
