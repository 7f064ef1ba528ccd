#include "ledger/chain.hpp"

#include <shoal/base/digest.hpp>
#include <shoal/base/error.hpp>

#include <fmt/format.h>

#include <limits>

namespace shoal::ledger {
namespace {

[[noreturn]] void corrupt(const Connection& connection, std::int64_t seq, const char* what) {
  throw Error(
      ErrorCode::corrupt,
      fmt::format(
          "entry {} of the ledger {} was changed after it was written ({}); nothing more is "
          "spent or answered until the owner restores it",
          seq, connection.path().string(), what));
}

std::int64_t add_checked(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  SHOAL_CHECK(!__builtin_add_overflow(a, b, &sum));
  return sum;
}

}  // namespace

privacy::Charge Totals::charge() const {
  privacy::Charge charge;
  if (unbounded == 0) {
    charge.epsilon_units = epsilon_units;
  } else {
    charge.epsilon_units = std::nullopt;
  }
  charge.rho_units = rho_units;
  return charge;
}

Totals plus(const Totals& totals, const privacy::Charge& charge) {
  return {add_checked(totals.epsilon_units, charge.epsilon_units.value_or(0)),
          add_checked(totals.rho_units, charge.rho_units),
          totals.unbounded + (charge.epsilon_units ? 0 : 1)};
}

Totals minus(const Totals& totals, const privacy::Charge& charge) {
  return {totals.epsilon_units - charge.epsilon_units.value_or(0),
          totals.rho_units - charge.rho_units, totals.unbounded - (charge.epsilon_units ? 0 : 1)};
}

std::string entry_hash(const Entry& entry, const std::string& previous_hash) {
  FieldBytes fields;
  fields.add(previous_hash).add(entry.seq).add(entry.time).add(entry.lineage).add(entry.kind);
  fields.add(entry.reservation).add(entry.request_key).add(entry.request_digest).add(entry.holder);
  fields.add(entry.body);
  fields.add(entry.charge.epsilon_units ? std::to_string(*entry.charge.epsilon_units) : "none");
  fields.add(entry.charge.rho_units);
  fields.add(entry.totals.epsilon_units).add(entry.totals.rho_units).add(entry.totals.unbounded);
  return to_hex(sha256(fields.bytes()));
}

Entry read_entry(const Statement& statement) {
  Entry entry;
  entry.seq = statement.integer(0);
  entry.time = statement.text(1);
  entry.lineage = statement.text(2);
  entry.kind = statement.text(3);
  entry.reservation = statement.integer(4);
  entry.request_key = statement.text(5);
  entry.request_digest = statement.text(6);
  entry.holder = statement.text(7);
  entry.body = statement.text(8);
  entry.charge.epsilon_units = statement.optional_integer(9);
  entry.charge.rho_units = statement.integer(10);
  entry.totals = {statement.integer(11), statement.integer(12), statement.integer(13)};
  entry.hash = statement.text(14);
  return entry;
}

void ChainState::advance(const Connection& connection) {
  Statement newer(connection, "SELECT * FROM entry WHERE seq >= ?1 ORDER BY seq");
  // From the very first row, so that none hides below number 1.
  newer.bind(1, last_seq_ == 0 ? std::numeric_limits<std::int64_t>::min() : last_seq_ + 1);
  while (newer.step()) {
    const Entry entry = read_entry(newer);
    if (entry.seq != last_seq_ + 1) corrupt(connection, last_seq_ + 1, "it is missing");
    if (entry.hash != entry_hash(entry, last_hash_))
      corrupt(connection, entry.seq, "its hash differs");
    Totals expected = totals(entry.lineage);
    if (entry.kind == "reserve") {
      expected = plus(expected, entry.charge);
      if (entry.reservation != entry.seq) corrupt(connection, entry.seq, "it names another spend");
      open_[entry.seq] = {entry.lineage, entry.charge};
    } else if (entry.kind == "cancel" || entry.kind == "settle" || entry.kind == "resume") {
      const auto found = open_.find(entry.reservation);
      if (found == open_.end() || found->second.lineage != entry.lineage)
        corrupt(connection, entry.seq, "it is about no open reservation");
      if (entry.kind == "cancel") expected = minus(expected, found->second.charge);
      if (entry.kind != "resume") open_.erase(found);
    }
    if (entry.totals != expected) corrupt(connection, entry.seq, "its totals differ");
    totals_[entry.lineage] = expected;
    last_seq_ = entry.seq;
    last_hash_ = entry.hash;
  }
}

Totals ChainState::totals(const std::string& lineage) const {
  const auto found = totals_.find(lineage);
  return found == totals_.end() ? Totals{} : found->second;
}

}  // namespace shoal::ledger
