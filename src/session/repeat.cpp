// Repeated requests. A stored answer is given without writing anything, and without the engine: it
// needs neither the private data, nor room on the disk, nor the right to spend.
#include "session/answer_clock.hpp"

#include <shoal/base/error.hpp>
#include <shoal/session/session.hpp>

#include <optional>
#include <string>
#include <utility>

namespace shoal::session {

std::optional<std::string> Session::repeated(const AnswerClock& clock,
                                             const ledger::Request& request) const {
  std::optional<ledger::StoredAnswer> stored;
  try {
    stored = ledger::Ledger(policy_.ledger_place(), reading_options()).answered(request);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::not_found) return std::nullopt;
    throw;
  }
  if (!stored) return std::nullopt;
  clock.wait_repeated(stored->hidden_for);
  return std::move(stored->answer);
}

ledger::Options Session::reading_options() const {
  ledger::Options options = ledger_options_;
  options.create = false;
  options.read_only = true;
  return options;
}

}  // namespace shoal::session
