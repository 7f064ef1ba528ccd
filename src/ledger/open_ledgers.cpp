#include "ledger/open_ledgers.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/ledger_place.hpp>

#include <unistd.h>

#include <utility>

namespace shoal::ledger {
namespace {

std::unique_ptr<Store> open_store(const std::filesystem::path& place, const Options& options) {
  if (const auto schema = server_schema(place)) return open_postgres_store(*schema, options);
  return open_sqlite_store(place, options);
}

bool serves(const Options& open, const Options& asked) {
  return open.vfs == asked.vfs && open.busy_milliseconds == asked.busy_milliseconds &&
         (asked.read_only || !open.read_only);
}

}  // namespace

std::shared_ptr<OpenLedgers> keep_open() { return std::make_shared<OpenLedgers>(); }

// A connection that came over a fork is the parent's: to close it would be to act for the parent.
OpenLedgers::~OpenLedgers() {
  for (Idle& idle : idle_) {
    if (idle.process != ::getpid()) static_cast<void>(idle.state.release());
  }
}

std::unique_ptr<Ledger::State> OpenLedgers::take(const std::filesystem::path& place,
                                                 const Options& options) {
  std::unique_ptr<Ledger::State> state;
  {
    const std::lock_guard lock(mutex_);
    for (auto idle = idle_.begin(); idle != idle_.end() && !state; ++idle) {
      if (idle->process != ::getpid() || idle->state->place != place ||
          !serves(idle->state->options, options))
        continue;
      state = std::move(idle->state);
      idle_.erase(idle);
      break;
    }
  }
  // Closed here if its place leads elsewhere by now.
  if (!state || !state->store->is_in_place()) return nullptr;
  return state;
}

void OpenLedgers::put(std::unique_ptr<Ledger::State> state) {
  const std::lock_guard lock(mutex_);
  idle_.push_back({::getpid(), std::move(state)});
}

Ledger::Ledger(const std::filesystem::path& place, const Options& options) {
  SHOAL_CHECK(options.checkpoint_every >= 1);
  if (options.keep) state_ = options.keep->take(place, options);
  if (state_) {
    const bool read_only = state_->options.read_only;
    state_->options = options;
    state_->options.read_only = read_only;
    try {
      state_->chain.advance(*state_->store);
      return;
    } catch (const Error& error) {
      // A connection that broke; another may do.
      if (error.code() == ErrorCode::corrupt) throw;
      state_.reset();
    }
  }
  state_ = std::make_unique<State>(State{
      open_store(place, options), ChainState(ChainState::From::last_checkpoint), place, options});
  state_->chain.advance(*state_->store);
}

Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;

Ledger::~Ledger() {
  if (!state_ || !state_->options.keep) return;
  // Whoever is kept must not keep the keeper.
  const std::shared_ptr<OpenLedgers> keep = std::exchange(state_->options.keep, nullptr);
  try {
    keep->put(std::move(state_));
  } catch (...) {
    // Without memory to note it, it is closed.
  }
}

}  // namespace shoal::ledger
