#include "ledger/chain.hpp"

#include "ledger/store.hpp"

#include <shoal/base/digest.hpp>
#include <shoal/base/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <limits>
#include <utility>

namespace shoal::ledger {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void corrupt(const Store& store, std::int64_t seq, const char* what) {
  throw Error(
      ErrorCode::corrupt,
      fmt::format(
          "entry {} of the ledger {} was changed after it was written ({}); nothing more is "
          "spent or answered until the owner restores it",
          seq, store.name(), what));
}

std::int64_t add_checked(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  SHOAL_CHECK(!__builtin_add_overflow(a, b, &sum));
  return sum;
}

// The totals of an entry; those that its format does not have, as they follow from the charges.
Totals stored_totals(const Entry& entry, const Totals& expected) {
  Totals totals = entry.totals;
  if (entry.format == 1) {
    totals.delta_units = expected.delta_units;
    totals.gaussian_units = expected.gaussian_units;
    totals.other = expected.other;
  }
  return totals;
}

}  // namespace

privacy::Charge Totals::charge() const {
  privacy::Charge charge;
  charge.epsilon_units = std::nullopt;
  if (unbounded == 0) charge.epsilon_units = epsilon_units;
  charge.rho_units = rho_units;
  charge.delta_units = delta_units;
  charge.gaussian_units = std::nullopt;
  if (other == 0) charge.gaussian_units = gaussian_units;
  return charge;
}

Totals plus(const Totals& totals, const privacy::Charge& charge) {
  return {add_checked(totals.epsilon_units, charge.epsilon_units.value_or(0)),
          add_checked(totals.rho_units, charge.rho_units),
          totals.unbounded + (charge.epsilon_units ? 0 : 1),
          add_checked(totals.delta_units, charge.delta_units),
          add_checked(totals.gaussian_units, charge.gaussian_units.value_or(0)),
          totals.other + (charge.gaussian_units ? 0 : 1)};
}

Totals minus(const Totals& totals, const privacy::Charge& charge) {
  return {totals.epsilon_units - charge.epsilon_units.value_or(0),
          totals.rho_units - charge.rho_units,
          totals.unbounded - (charge.epsilon_units ? 0 : 1),
          totals.delta_units - charge.delta_units,
          totals.gaussian_units - charge.gaussian_units.value_or(0),
          totals.other - (charge.gaussian_units ? 0 : 1)};
}

std::string entry_hash(const Entry& entry, const std::string& previous_hash) {
  FieldBytes fields;
  fields.add(previous_hash).add(entry.seq).add(entry.time).add(entry.lineage).add(entry.kind);
  fields.add(entry.reservation).add(entry.request_key).add(entry.request_digest).add(entry.holder);
  fields.add(entry.body);
  fields.add(entry.charge.epsilon_units ? std::to_string(*entry.charge.epsilon_units) : "none");
  fields.add(entry.charge.rho_units);
  fields.add(entry.totals.epsilon_units).add(entry.totals.rho_units).add(entry.totals.unbounded);
  if (entry.format >= 2) {
    fields.add(entry.charge.delta_units);
    fields.add(entry.charge.gaussian_units ? std::to_string(*entry.charge.gaussian_units) : "none");
    fields.add(entry.totals.delta_units).add(entry.totals.gaussian_units).add(entry.totals.other);
  }
  return to_hex(sha256(fields.bytes()));
}

namespace {

void require_hash(const Store& store, const Entry& entry, const std::string& previous_hash) {
  if (entry.hash != entry_hash(entry, previous_hash)) corrupt(store, entry.seq, "its hash differs");
}

std::string hash_before(Store& store, std::int64_t seq) {
  if (seq == 1) return "";
  auto hash = store.hash_at(seq - 1);
  if (!hash) corrupt(store, seq - 1, "it is missing");
  return *std::move(hash);
}

bool is_closing(const std::string& kind) {
  return kind == "cancel" || kind == "settle" || kind == "fail";
}

Json to_json(const LineageState& state) {
  const Totals& totals = state.totals;
  return {{"account", state.account},
          {"spends", state.spends},
          {"failures", state.failures},
          {"totals",
           {totals.epsilon_units, totals.rho_units, totals.unbounded, totals.delta_units,
            totals.gaussian_units, totals.other}}};
}

LineageState lineage_from_json(const Json& json) {
  LineageState state;
  state.account = json.at("account").get<std::int64_t>();
  state.spends = json.at("spends").get<std::int64_t>();
  state.failures = json.at("failures").get<std::vector<std::int64_t>>();
  const auto totals = json.at("totals").get<std::array<std::int64_t, 6>>();
  state.totals = {totals[0], totals[1], totals[2], totals[3], totals[4], totals[5]};
  return state;
}

}  // namespace

void require_chained(Store& store, const Entry& entry) {
  require_hash(store, entry, hash_before(store, entry.seq));
}

void require_chained(Store& store, std::int64_t from, std::int64_t to) {
  std::string hash = hash_before(store, from);
  std::int64_t seq = from;
  store.read_from(from, [&](const Entry& entry) {
    if (entry.seq > to) return;
    if (entry.seq != seq) corrupt(store, seq, "it is missing");
    require_hash(store, entry, hash);
    hash = entry.hash;
    ++seq;
  });
  if (seq != to + 1) corrupt(store, seq, "it is missing");
}

void ChainState::start(Store& store) {
  if (from_ == From::first_entry) return;
  if (const auto checkpoint = store.last_checkpoint()) load_checkpoint(store, *checkpoint);
}

void ChainState::load_checkpoint(Store& store, const Entry& entry) {
  require_chained(store, entry);
  const Json body = Json::parse(entry.body, nullptr, false);
  try {
    for (const auto& [name, state] : body.at("lineages").items()) {
      lineages_[name] = lineage_from_json(state);
    }
  } catch (const Json::exception&) {
    corrupt(store, entry.seq, "it is no checkpoint");
  }
  first_ = checkpoint_ = last_seq_ = entry.seq;
  last_format_ = entry.format;
  last_hash_ = entry.hash;
}

std::string ChainState::checkpoint_body() const {
  Json lineages = Json::object();
  for (const auto& [name, state] : lineages_) lineages[name] = to_json(state);
  return Json{{"lineages", lineages}}.dump();
}

void ChainState::advance(Store& store) {
  if (last_seq_ == 0) start(store);
  // From the very first row, so that none hides below number 1.
  const std::int64_t from =
      last_seq_ == 0 ? std::numeric_limits<std::int64_t>::min() : last_seq_ + 1;
  store.read_from(from, [&](const Entry& entry) {
    if (entry.seq != last_seq_ + 1) corrupt(store, last_seq_ + 1, "it is missing");
    if (entry.format < last_format_) corrupt(store, entry.seq, "its format differs");
    require_hash(store, entry, last_hash_);
    take(store, entry);
  });
}

void ChainState::add(Store& store, const Entry& entry) {
  SHOAL_CHECK(entry.seq == last_seq_ + 1);
  take(store, entry);
}

// What the entry is about must be open: one made since the start is remembered until it is closed,
// an older one is looked up.
ChainState::OpenReservation ChainState::open_reservation(Store& store, const Entry& closing) const {
  const auto found = open_.find(closing.reservation);
  if (found != open_.end() && found->second.lineage == closing.lineage) return found->second;
  if (closing.reservation >= 1 && closing.reservation <= first_) {
    const auto reserve = store.reserve_at(closing.reservation);
    const auto closed = store.closing_of(closing.reservation);
    if (reserve && reserve->lineage == closing.lineage && (!closed || closed->seq >= closing.seq)) {
      require_chained(store, *reserve);
      return {reserve->lineage, reserve->charge};
    }
  }
  corrupt(store, closing.seq, "it is about no open reservation");
}

void ChainState::take(Store& store, const Entry& entry) {
  if (entry.kind == "checkpoint") {
    if (entry.body != checkpoint_body() || !entry.lineage.empty())
      corrupt(store, entry.seq, "it is no checkpoint of the entries before it");
    checkpoint_ = entry.seq;
  } else {
    LineageState next = lineage(entry.lineage);
    if (entry.kind == "reserve") {
      if (entry.reservation != entry.seq) corrupt(store, entry.seq, "it names another spend");
      next.totals = plus(next.totals, entry.charge);
      ++next.spends;
      open_[entry.seq] = {entry.lineage, entry.charge};
    } else if (is_closing(entry.kind) || entry.kind == "resume") {
      const OpenReservation open = open_reservation(store, entry);
      if (entry.kind == "cancel") next.totals = minus(next.totals, open.charge);
      if (entry.kind == "fail") next.failures.push_back(entry.seq);
      if (entry.kind != "resume") open_.erase(entry.reservation);
    } else if (entry.kind == "reopen") {
      next.failures.clear();
    } else if (entry.kind == "open" || entry.kind == "budget") {
      next.account = entry.seq;
    }
    if (stored_totals(entry, next.totals) != next.totals)
      corrupt(store, entry.seq, "its totals differ");
    lineages_[entry.lineage] = std::move(next);
  }
  last_seq_ = entry.seq;
  last_format_ = entry.format;
  last_hash_ = entry.hash;
}

const LineageState& ChainState::lineage(const std::string& name) const {
  static const LineageState kNothing;
  const auto found = lineages_.find(name);
  return found == lineages_.end() ? kNothing : found->second;
}

}  // namespace shoal::ledger
