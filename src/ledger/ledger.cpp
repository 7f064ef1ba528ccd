#include "ledger/state.hpp"

#include <shoal/base/digest.hpp>
#include <shoal/base/error.hpp>
#include <shoal/base/process.hpp>
#include <shoal/base/text.hpp>
#include <shoal/ledger/ledger.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

namespace shoal::ledger {
namespace {

using Json = nlohmann::ordered_json;

Json account_body(const Account& account) {
  return {{"epsilon", account.budget.epsilon.value()},   {"delta", account.budget.delta.value()},
          {"failures", account.budget.failures.value()}, {"rule", to_string(account.budget.rule)},
          {"neighbors", to_string(account.neighbors)},   {"unit", account.unit}};
}

}  // namespace

Entry Ledger::State::write(Entry entry) {
  entry.seq = chain.last_seq() + 1;
  entry.time = utc_now();
  if (entry.kind == "reserve") entry.reservation = entry.seq;
  entry.hash = entry_hash(entry, chain.last_hash());
  store->append(entry);
  chain.add(*store, entry);
  return entry;
}

Entry Ledger::State::append(Entry entry) {
  if (chain.entries_since_checkpoint() >= options.checkpoint_every) {
    Entry checkpoint;
    checkpoint.kind = "checkpoint";
    checkpoint.body = chain.checkpoint_body();
    write(std::move(checkpoint));
  }
  return write(std::move(entry));
}

namespace {

void require_name(const std::string& name, const char* what) {
  if (name.empty()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("the {} is empty; give one", what));
  }
}

void require_part(const privacy::Budget& budget) {
  if (budget.failures > budget.delta) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("delta {} is set aside for failures; it cannot exceed the whole, {}",
                    format_number(budget.failures.value()), format_number(budget.delta.value())));
  }
}

// Without the brackets that say by which columns it is told apart.
std::string_view kind_of(std::string_view unit) {
  return unit.ends_with(')') ? unit.substr(0, unit.find(" (")) : unit;
}

void require_same_meaning(const Account& held, const Account& asked) {
  if (held.neighbors != asked.neighbors || !same_unit(held.unit, asked.unit)) {
    throw Error(
        ErrorCode::conflict,
        fmt::format(
            "the budget of {} protects {} under {}, the policy says {} under {}; spends of two "
            "kinds cannot share a total: restore the policy, or start a new budget with shoal "
            "init --new-budget",
            held.lineage, held.unit, to_string(held.neighbors), asked.unit,
            to_string(asked.neighbors)));
  }
  if (held.budget.failures != asked.budget.failures || held.budget.rule != asked.budget.rule) {
    throw Error(
        ErrorCode::conflict,
        fmt::format("the budget of {} sets aside delta {} for failures and converts by "
                    "{}, asked for is delta {} and {}; both are fixed before the first "
                    "question: ask for the same, or start a new budget with shoal init "
                    "--new-budget",
                    held.lineage, format_number(held.budget.failures.value()),
                    to_string(held.budget.rule), format_number(asked.budget.failures.value()),
                    to_string(asked.budget.rule)));
  }
  if (asked.budget.epsilon > held.budget.epsilon || asked.budget.delta > held.budget.delta) {
    throw Error(
        ErrorCode::conflict,
        fmt::format(
            "the policy's total (epsilon {}, delta {}) is larger than the ledger's (epsilon {}, "
            "delta {}); if the owner means it: shoal budget <policy> --accept-policy",
            format_number(asked.budget.epsilon.value()), format_number(asked.budget.delta.value()),
            format_number(held.budget.epsilon.value()), format_number(held.budget.delta.value())));
  }
}

[[noreturn]] void refuse(const privacy::Budget& budget, const Totals& totals,
                         const privacy::Charge& charge) {
  if (charge.delta_units > 0 && budget.failures.value() == 0) {
    throw Error(ErrorCode::budget_exceeded,
                "this question may fail with a probability of its own, and the budget sets no part "
                "of its delta aside for failures; state it as a zcdp or gdp event, or open a "
                "budget that does");
  }
  const double left = privacy::epsilon_left_down(budget, totals.charge());
  throw Error(
      ErrorCode::budget_exceeded,
      fmt::format(
          "this question does not fit into what is left of the budget (epsilon {}, delta {}); {}",
          format_number(budget.epsilon.value()), format_number(budget.delta.value()),
          left > 0
              ? fmt::format("one of epsilon {} without delta still fits", format_rounded(left, 6))
              : "it is used up, and only the owner can raise it"));
}

}  // namespace

bool same_unit(std::string_view one, std::string_view other) {
  return kind_of(one) == kind_of(other);
}

void Ledger::open_account(const Account& account) {
  require_name(account.lineage, "lineage");
  require_part(account.budget);
  state_->transact([&] {
    if (const auto held = state_->account(account.lineage)) {
      require_same_meaning(*held, account);
      return false;
    }
    Entry entry;
    entry.lineage = account.lineage;
    entry.kind = "open";
    entry.body = account_body(account).dump();
    state_->append(std::move(entry));
    return true;
  });
}

void Ledger::change_budget(const std::string& lineage, const privacy::Budget& budget) {
  state_->transact([&] {
    Account account = state_->known_account(lineage);
    account.budget.epsilon = budget.epsilon;
    account.budget.delta = budget.delta;
    require_part(account.budget);
    Entry entry;
    entry.lineage = lineage;
    entry.kind = "budget";
    entry.body = account_body(account).dump();
    entry.totals = state_->chain.totals(lineage);
    return state_->append(std::move(entry));
  });
}

// The key was reserved before: its answer, or an entry that takes the reservation over.
std::variant<Ledger::Held, StoredAnswer> Ledger::State::reserve_again(const Request& request,
                                                                      const Entry& earlier,
                                                                      Entry entry) {
  require_same_request(earlier, request.digest);
  if (const auto closed = closing_of(earlier.seq)) {
    if (closed->kind == "cancel") {
      throw Error(ErrorCode::conflict, "the request with this key was cancelled; use a new key");
    }
    return stored_answer(earlier, *closed);
  }
  if (!store->is_gone(holder_of(earlier))) throw KeyInWork();
  require_still_open(earlier);
  // Its process died before an answer was stored, so none has left: one may still be given for the
  // spend.
  entry.kind = "resume";
  entry.reservation = earlier.seq;
  entry.body = "{}";
  return Held{earlier.seq, append(std::move(entry)).holder,
              privacy::event_from_json(Json::parse(earlier.body).at("event").dump()),
              known_account(request.lineage).neighbors};
}

std::variant<Ledger::Held, StoredAnswer> Ledger::State::reserve(const Request& request) {
  require_open(request);
  const Account account = known_account(request.lineage);
  Entry entry;
  entry.lineage = request.lineage;
  entry.request_key = request.key;
  entry.request_digest = request.digest;
  entry.holder = store->new_holder();
  entry.totals = chain.totals(request.lineage);
  if (const auto earlier = reserve_of_key(request.lineage, request.key))
    return reserve_again(request, *earlier, std::move(entry));

  entry.kind = "reserve";
  entry.charge = privacy::price(request.event, account.neighbors);
  const privacy::Budget budget = privacy::smaller(account.budget, request.budget);
  if (!privacy::fits(budget, privacy::add(entry.totals.charge(), entry.charge)))
    refuse(budget, entry.totals, entry.charge);
  entry.totals = plus(entry.totals, entry.charge);
  entry.body = fmt::format(R"({{"event":{},"description":{},"policy":{},"accountant":{}}})",
                           privacy::to_json(request.event), Json(request.description).dump(),
                           Json(request.policy_digest).dump(), privacy::kAccountantVersion);
  const Entry written = append(std::move(entry));
  return Held{written.seq, written.holder, request.event, account.neighbors};
}

Reserved Ledger::handed_out(std::variant<Held, StoredAnswer>&& made) {
  if (auto* stored = std::get_if<StoredAnswer>(&made)) return std::move(*stored);
  Held held = std::get<Held>(std::move(made));
  return privacy::Reservation(held.entry, std::move(held.holder), std::move(held.event),
                              held.neighbors);
}

Reserved Ledger::reserve(const Request& request) {
  return std::move(reserve_together(std::span(&request, 1)).front());
}

namespace {

using Clock = std::chrono::steady_clock;

// So often reserve() looks whether the other still lives, which takes a transaction.
constexpr std::chrono::milliseconds kLookForDeath(250);
constexpr std::chrono::milliseconds kLongestPause(32);

// Until the request is answered, without keeping anybody from writing.
void wait_for_answer(const Ledger& ledger, const Request& request, Clock::time_point deadline) {
  std::chrono::milliseconds pause(1);
  while (Clock::now() < deadline && !ledger.answered(request)) {
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

}  // namespace

std::vector<Reserved> Ledger::reserve_together(std::span<const Request> requests) {
  for (const Request& request : requests) {
    require_name(request.key, "key");
    SHOAL_CHECK(request.lineage == requests.front().lineage);
  }
  const auto deadline = Clock::now() + state_->options.key_patience;
  while (true) {
    try {
      return try_to_reserve(requests);
    } catch (const KeyInWork&) {
      if (Clock::now() >= deadline) throw;
    }
    wait_for_answer(*this, requests.front(), std::min(deadline, Clock::now() + kLookForDeath));
  }
}

std::vector<Reserved> Ledger::try_to_reserve(std::span<const Request> requests) {
  auto made = state_->transact([&] {
    std::vector<std::variant<Held, StoredAnswer>> all;
    for (const Request& request : requests) {
      all.push_back(state_->reserve(request));
      if (all.size() == 1 && std::holds_alternative<StoredAnswer>(all.front())) break;
    }
    return all;
  });
  std::vector<Reserved> reserved;
  for (auto& one : made) reserved.push_back(handed_out(std::move(one)));
  return reserved;
}

// What ends a reservation.
Entry Ledger::State::close(std::int64_t reservation, const std::string& kind,
                           const std::string& holder, const std::string& body) {
  const Entry reserve = entry_at(reservation, "reserve");
  const bool held = holder_of(reserve) == holder && !closing_of(reservation);
  Entry entry;
  entry.lineage = reserve.lineage;
  entry.kind = kind;
  entry.reservation = reservation;
  entry.request_key = reserve.request_key;
  entry.request_digest = reserve.request_digest;
  entry.holder = holder;
  entry.body = body;
  entry.totals = chain.totals(reserve.lineage);
  if (kind == "cancel") {
    // Whoever took a reservation over, or lost it so, cannot know that the other touched no data.
    SHOAL_CHECK(held && reserve.holder == holder);
    entry.totals = minus(entry.totals, reserve.charge);
  } else if (!held) {
    throw Error(
        ErrorCode::conflict,
        "another process took this request over; retry with the same key to get its answer");
  }
  return append(std::move(entry));
}

StoredAnswer Ledger::settle_as(const char* kind, privacy::SpentReservation&& spent,
                               std::string_view answer, std::chrono::microseconds hidden_for) {
  const privacy::SpentReservation mine = std::move(spent);
  const std::string body = closing_body(answer, hidden_for);
  state_->transact([&] { return state_->close(mine.entry(), kind, mine.holder(), body); });
  return {mine.entry(), std::string(answer), hidden_for};
}

StoredAnswer Ledger::settle(privacy::SpentReservation&& spent, std::string_view answer,
                            std::chrono::microseconds hidden_for) {
  return settle_as("settle", std::move(spent), answer, hidden_for);
}

StoredAnswer Ledger::settle_failure(privacy::SpentReservation&& spent, std::string_view answer,
                                    std::chrono::microseconds hidden_for) {
  return settle_as("fail", std::move(spent), answer, hidden_for);
}

void Ledger::cancel(privacy::Reservation&& reservation) {
  const privacy::Reservation mine = std::move(reservation);
  SHOAL_CHECK(!mine.touched());
  state_->transact([&] { return state_->close(mine.entry(), "cancel", mine.holder_, "{}"); });
}

}  // namespace shoal::ledger
