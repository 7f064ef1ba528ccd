#include "ledger/chain.hpp"

#include <shoal/base/digest.hpp>
#include <shoal/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
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
  entry.totals.epsilon_units = statement.integer(11);
  entry.totals.rho_units = statement.integer(12);
  entry.totals.unbounded = statement.integer(13);
  entry.hash = statement.text(14);
  entry.charge.gaussian_units = statement.optional_integer(16);
  const std::optional<std::int64_t> newer[] = {
      statement.optional_integer(15), statement.optional_integer(17),
      statement.optional_integer(18), statement.optional_integer(19)};
  const auto present = std::count_if(std::begin(newer), std::end(newer),
                                     [](const auto& column) { return column.has_value(); });
  if (present < 4) {
    entry.format = present == 0 && !entry.charge.gaussian_units ? 1 : 0;
    return entry;
  }
  entry.charge.delta_units = *newer[0];
  entry.totals.delta_units = *newer[1];
  entry.totals.gaussian_units = *newer[2];
  entry.totals.other = *newer[3];
  return entry;
}

void ChainState::advance(const Connection& connection) {
  Statement newer(connection, "SELECT * FROM entry WHERE seq >= ?1 ORDER BY seq");
  // From the very first row, so that none hides below number 1.
  newer.bind(1, last_seq_ == 0 ? std::numeric_limits<std::int64_t>::min() : last_seq_ + 1);
  while (newer.step()) {
    const Entry entry = read_entry(newer);
    if (entry.seq != last_seq_ + 1) corrupt(connection, last_seq_ + 1, "it is missing");
    if (entry.format < last_format_) corrupt(connection, entry.seq, "its format differs");
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
    if (stored_totals(entry, expected) != expected)
      corrupt(connection, entry.seq, "its totals differ");
    totals_[entry.lineage] = expected;
    last_seq_ = entry.seq;
    last_format_ = entry.format;
    last_hash_ = entry.hash;
  }
}

Totals ChainState::totals(const std::string& lineage) const {
  const auto found = totals_.find(lineage);
  return found == totals_.end() ? Totals{} : found->second;
}

}  // namespace shoal::ledger
