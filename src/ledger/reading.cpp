// What a ledger says without writing. Opening starts at the last checkpoint, so every older entry
// is held against its hash when it is used.
#include "ledger/state.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace shoal::ledger {
namespace {

using Json = nlohmann::ordered_json;

Account parse_account(const std::string& lineage, const std::string& body) {
  const Json json = Json::parse(body);
  // Accounts of format 1 state neither failures nor a rule: there was nothing to choose.
  return {lineage,
          {Epsilon(json.at("epsilon").get<double>()), Delta(json.at("delta").get<double>()),
           Delta(json.value("failures", 0.0)),
           privacy::parse_rule(json.value("rule", std::string("zcdp")))},
          parse_neighbors(json.at("neighbors").get<std::string>()),
          json.at("unit").get<std::string>()};
}

// When an answer was settled shows to nobody before it has left.
std::string state_of(const Entry& reserve, const std::optional<Entry>& closed) {
  if (!closed) return "reserved";
  if (closed->kind == "cancel") return "cancelled";
  if (stored_answer(reserve, *closed).hidden_for.count() > 0) return "reserved";
  return closed->kind == "settle" ? "settled" : "failed";
}

[[noreturn]] void missing(const Store& store, std::int64_t seq) {
  throw Error(ErrorCode::corrupt,
              fmt::format("entry {} of the ledger {} is missing or was changed; nothing more is "
                          "spent or answered until the owner restores it",
                          seq, store.name()));
}

}  // namespace

Entry Ledger::State::entry_at(std::int64_t seq, std::string_view kind) const {
  auto entry = store->entry_at(seq);
  if (!entry || (!kind.empty() && entry->kind != kind)) missing(*store, seq);
  require_chained(*store, *entry);
  return *std::move(entry);
}

std::optional<Entry> Ledger::State::reserve_of_key(const std::string& lineage,
                                                   const std::string& key) const {
  auto entry = store->reserve_of_key(lineage, key);
  if (entry) require_chained(*store, *entry);
  return entry;
}

std::optional<Entry> Ledger::State::closing_of(std::int64_t reservation) const {
  auto entry = store->closing_of(reservation);
  if (entry) require_chained(*store, *entry);
  return entry;
}

std::string Ledger::State::holder_of(const Entry& reserve) const {
  const auto resumed = store->last_resume_of(reserve.seq);
  if (!resumed) return reserve.holder;
  require_chained(*store, *resumed);
  return resumed->holder;
}

// An entry that is gone cannot be held against its hash, but it leaves a gap.
void Ledger::State::require_still_open(const Entry& reserve) const {
  if (!chain.is_open(reserve.seq)) require_chained(*store, reserve.seq, chain.last_seq());
}

std::optional<Account> Ledger::State::account(const std::string& lineage) const {
  const std::int64_t seq = chain.lineage(lineage).account;
  if (seq == 0) return std::nullopt;
  return parse_account(lineage, entry_at(seq, "").body);
}

Account Ledger::State::known_account(const std::string& lineage) const {
  auto found = account(lineage);
  if (!found) {
    throw Error(ErrorCode::not_found,
                fmt::format("the ledger has no budget named {}", printable(lineage, 80)));
  }
  return *std::move(found);
}

bool Ledger::is_in_place() const { return state_->store->is_in_place(); }

Head Ledger::head() const { return {state_->chain.last_seq(), state_->chain.last_hash()}; }

bool Ledger::contains(const Head& head) const {
  if (head.seq == 0) return head.hash.empty();
  const auto entry = state_->store->entry_at(head.seq);
  if (!entry || entry->hash != head.hash) return false;
  require_chained(*state_->store, *entry);
  return true;
}

std::optional<Account> Ledger::account(const std::string& lineage) const {
  state_->chain.advance(*state_->store);
  return state_->account(lineage);
}

void require_same_request(const Entry& reserve, const std::string& digest) {
  if (reserve.request_digest == digest) return;
  throw Error(ErrorCode::conflict,
              "this key was used for another question; use a new key for a new question");
}

std::optional<StoredAnswer> Ledger::stored(const std::string& lineage, const std::string& key,
                                           const std::string& digest) const {
  const auto reserved = state_->reserve_of_key(lineage, key);
  if (!reserved) return std::nullopt;
  require_same_request(*reserved, digest);
  const auto closed = state_->closing_of(reserved->seq);
  if (!closed || closed->kind == "cancel") return std::nullopt;
  return stored_answer(*reserved, *closed);
}

std::optional<StoredAnswer> Ledger::answered(const Request& request) const {
  state_->chain.advance(*state_->store);
  state_->require_open(request);
  return stored(request.lineage, request.key, request.digest);
}

privacy::Charge Ledger::total(const std::string& lineage) {
  state_->chain.advance(*state_->store);
  return state_->chain.totals(lineage).charge();
}

std::int64_t Ledger::spend_count(const std::string& lineage) {
  state_->chain.advance(*state_->store);
  return state_->chain.lineage(lineage).spends;
}

std::vector<Spend> Ledger::spends(const std::string& lineage) {
  return last_spends(lineage, std::numeric_limits<std::int64_t>::max());
}

std::vector<Spend> Ledger::last_spends(const std::string& lineage, std::int64_t limit) {
  std::vector<Spend> spends;
  for (const Entry& entry : state_->store->last_reserves(lineage, limit)) {
    require_chained(*state_->store, entry);
    const Json body = Json::parse(entry.body);
    spends.push_back({entry.seq, entry.time, state_of(entry, state_->closing_of(entry.seq)),
                      body.at("description").get<std::string>(), entry.request_key,
                      privacy::event_from_json(body.at("event").dump()), entry.charge,
                      body.at("accountant").get<int>()});
  }
  std::reverse(spends.begin(), spends.end());
  return spends;
}

privacy::Charge Ledger::repriced_total(const std::string& lineage) {
  const auto held = account(lineage);
  privacy::Charge total;
  if (!held) return total;
  for (const Spend& spend : spends(lineage)) {
    if (spend.state == "cancelled") continue;
    // The first accountant's events state each sensitivity under the account's own relation, in the
    // field that now is about coming and going: it is to be taken as it stands.
    const Neighbors stated = spend.accountant == 1 ? Neighbors::add_remove : held->neighbors;
    total = privacy::add(total, privacy::price(spend.event, stated));
  }
  return total;
}

void Ledger::backup(const std::filesystem::path& file) const { state_->store->backup(file); }

Head Ledger::verify() {
  state_->store->check_integrity();
  ChainState whole(ChainState::From::first_entry);
  whole.advance(*state_->store);
  return {whole.last_seq(), whole.last_hash()};
}

}  // namespace shoal::ledger
