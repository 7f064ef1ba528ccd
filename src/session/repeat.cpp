// Repeated requests. A stored answer is given without writing anything, and without the engine: it
// needs neither the private data, nor room on the disk, nor the right to spend.
#include "session/account_ledger.hpp"
#include "session/answer_clock.hpp"

#include <shoal/session/session.hpp>

#include <optional>
#include <string>

namespace shoal::session {

std::optional<std::string> Session::repeated(const AnswerClock& clock,
                                             const ledger::Request& request) const {
  const auto account = existing_account(place_of(policy_), reading_options());
  if (!account) return std::nullopt;
  const std::optional<ledger::StoredAnswer> stored = account->ledger().answered(request);
  if (!stored) return std::nullopt;
  // Its first asker may have ended before the witnesses knew of it.
  account->witness();
  clock.wait_repeated(stored->hidden_for);
  return stored->answer;
}

ledger::Options Session::reading_options() const {
  ledger::Options options = ledger_options_;
  options.create = false;
  options.read_only = true;
  return options;
}

}  // namespace shoal::session
