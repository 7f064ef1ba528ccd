#include "ledger/chain.hpp"

#include "ledger/store.hpp"

#include <shoal/base/digest.hpp>
#include <shoal/base/error.hpp>

#include <fmt/format.h>

#include <limits>

namespace shoal::ledger {
namespace {

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

void require_hash(const Store& store, const Entry& entry, const std::string& previous_hash) {
  if (entry.hash != entry_hash(entry, previous_hash)) corrupt(store, entry.seq, "its hash differs");
}

void ChainState::advance(Store& store) {
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

void ChainState::add(const Store& store, const Entry& entry) {
  SHOAL_CHECK(entry.seq == last_seq_ + 1);
  take(store, entry);
}

void ChainState::take(const Store& store, const Entry& entry) {
  Totals expected = totals(entry.lineage);
  if (entry.kind == "reserve") {
    expected = plus(expected, entry.charge);
    if (entry.reservation != entry.seq) corrupt(store, entry.seq, "it names another spend");
    open_[entry.seq] = {entry.lineage, entry.charge};
  } else if (entry.kind == "cancel" || entry.kind == "settle" || entry.kind == "fail" ||
             entry.kind == "resume") {
    const auto found = open_.find(entry.reservation);
    if (found == open_.end() || found->second.lineage != entry.lineage)
      corrupt(store, entry.seq, "it is about no open reservation");
    if (entry.kind == "cancel") expected = minus(expected, found->second.charge);
    if (entry.kind != "resume") open_.erase(found);
  }
  if (stored_totals(entry, expected) != expected) corrupt(store, entry.seq, "its totals differ");
  totals_[entry.lineage] = expected;
  last_seq_ = entry.seq;
  last_format_ = entry.format;
  last_hash_ = entry.hash;
}

Totals ChainState::totals(const std::string& lineage) const {
  const auto found = totals_.find(lineage);
  return found == totals_.end() ? Totals{} : found->second;
}

}  // namespace shoal::ledger
