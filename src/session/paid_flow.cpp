#include "session/paid_flow.hpp"

#include "session/touch_key.hpp"

#include <shoal/base/error.hpp>
#include <shoal/session/answer.hpp>

#include <exception>
#include <utility>
#include <variant>

namespace shoal::session {
namespace {

// Not written to, since touching so many pages takes a while: what runs out is the room for
// addresses, or what the system promised. Enough for SQLite's page cache and the texts of a
// failure.
constexpr std::size_t kSpareBytes = std::size_t{4} << 20;

std::string stored_failure() { return failure_json(kFailedSentence); }

}  // namespace

PaidFlow::PaidFlow(AccountLedger& account, const OwnerLog& log, const AnswerClock& clock,
                   std::string doing, std::vector<ledger::Reserved>&& parts)
    : account_(account),
      ledger_(account.ledger()),
      log_(log),
      clock_(clock),
      doing_(std::move(doing)),
      parts_(std::move(parts)),
      spare_(std::make_unique_for_overwrite<char[]>(kSpareBytes)) {}

bool PaidFlow::known(std::size_t part) const {
  return std::holds_alternative<ledger::StoredAnswer>(parts_.at(part));
}

const privacy::Event& PaidFlow::event(std::size_t part) const {
  return std::get<privacy::Reservation>(parts_.at(part)).event();
}

ledger::StoredAnswer PaidFlow::run(std::size_t part, const Work& work) {
  return run(part, work, stored_failure);
}

ledger::StoredAnswer PaidFlow::run(std::size_t part, const Work& work, const FailureText& failure) {
  if (const auto* stored = std::get_if<ledger::StoredAnswer>(&parts_.at(part))) {
    give_again(*stored);
    return *stored;
  }
  // Made now: when memory has run out there may be none for its text.
  const Error failed(ErrorCode::internal, std::string(kFailedSentence));
  privacy::Reservation reservation = std::get<privacy::Reservation>(std::move(parts_[part]));
  parts_[part] = ledger::StoredAnswer{reservation.entry(), ""};
  privacy::SpentReservation spent = TouchKey::touch(reservation);
  try {
    PaidWork done = work(std::move(reservation));
    ledger::StoredAnswer stored =
        ledger_.settle(std::move(done.spent), done.answer, clock_.until_next());
    parts_[part] = stored;
    return stored;
  } catch (...) {
    fail(part, std::move(spent), failure);
  }
  witness_failure();
  clock_.wait();
  throw failed;
}

// Called while the reason is being handled. Nothing in here may change what the asker sees, so what
// fails is let go: an entry that is not settled stays spent.
void PaidFlow::fail(std::size_t part, privacy::SpentReservation&& spent,
                    const FailureText& failure) noexcept {
  spare_.reset();
  log_reason();
  try {
    ledger_.settle_failure(std::move(spent), failure(), clock_.until_next());
  } catch (...) {
    log_.write(doing_, "the failure could not be settled; the entry stays reserved");
  }
  for (std::size_t other = 0; other < parts_.size(); ++other) {
    auto* open = std::get_if<privacy::Reservation>(&parts_[other]);
    if (other == part || open == nullptr) continue;
    try {
      ledger_.settle(std::move(*open).spend(), stored_failure(), clock_.until_next());
    } catch (...) {
      log_.write(doing_, "a part of the request could not be settled; it stays reserved");
    }
  }
}

// The failure leaves whatever becomes of the witness: it tells that its cost is spent.
void PaidFlow::witness_failure() const noexcept {
  try {
    account_.witness();
  } catch (...) {
    log_.write(doing_, "a witness could not be told of a failure");
  }
}

void PaidFlow::give_again(const ledger::StoredAnswer& stored) const {
  // Another request may be about to let it leave, or ended before it told the witnesses.
  try {
    account_.witness();
  } catch (...) {
    clock_.wait_repeated(stored.hidden_for);
    throw;
  }
  clock_.wait_repeated(stored.hidden_for);
}

void PaidFlow::finish() const {
  try {
    account_.witness();
  } catch (...) {
    clock_.wait();
    throw;
  }
  clock_.wait();
}

void PaidFlow::log_reason() const noexcept {
  try {
    throw;
  } catch (const std::exception& reason) {
    log_.write(doing_, reason.what());
  } catch (...) {
    log_.write(doing_, "something that is no std::exception was thrown");
  }
}

void PaidFlow::give_back(std::size_t part) {
  auto* open = std::get_if<privacy::Reservation>(&parts_.at(part));
  if (open == nullptr) return;
  try {
    ledger_.cancel(std::move(*open));
  } catch (const Error&) {
    // It stays spent.
  }
}

}  // namespace shoal::session
