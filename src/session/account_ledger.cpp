#include "session/account_ledger.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/ledger_place.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace shoal::session {
namespace {

namespace fs = std::filesystem;
using catalog::BudgetMark;
using catalog::BudgetTerms;
using catalog::Witness;
using catalog::WitnessedEntry;

struct MarkedFile {
  fs::path data;
  std::vector<BudgetMark> marks;
  BudgetMark* mine = nullptr;  // among them; null if there is none
};

// What the markers say: those of the files in question, and those of their kin.
struct Markers {
  std::vector<MarkedFile> files;
  std::vector<MarkedFile> kin;

  bool opened() const {
    const auto is_opened = [](const MarkedFile& file) { return file.mine && file.mine->opened; };
    return std::any_of(files.begin(), files.end(), is_opened) ||
           std::any_of(kin.begin(), kin.end(), is_opened);
  }
  // Nothing of them is left to be written.
  bool complete() const {
    return std::all_of(files.begin(), files.end(), [](const MarkedFile& file) {
      return file.mine && file.mine->opened && file.mine->witnessed && file.mine->terms;
    });
  }
};

std::vector<MarkedFile> read_each(const std::vector<fs::path>& data, const AccountPlace& place) {
  std::vector<MarkedFile> files;
  for (const fs::path& file : data) {
    MarkedFile& read = files.emplace_back(MarkedFile{file, catalog::read_marks(file)});
    // Of another budget, they know nothing of this one; of this one in another ledger, too much.
    if (catalog::find_lineage(read.marks, place.lineage))
      read.mine = catalog::require_mark(file, read.marks, place.lineage, place.ledger);
  }
  return files;
}

Markers look_at_markers(const AccountPlace& place) {
  return {read_each(place.data, place), read_each(place.kin, place)};
}

// The files in question must belong to this budget, or to none yet.
Markers read_markers(const AccountPlace& place) {
  Markers markers = look_at_markers(place);
  for (MarkedFile& file : markers.files)
    file.mine = catalog::require_mark(file.data, file.marks, place.lineage, place.ledger);
  return markers;
}

// A name is a name: "file:..." is one too, which SQLite would read as a URI.
fs::path ledger_path(const fs::path& place) {
  return server_schema(place) ? place : fs::absolute(place);
}

std::optional<ledger::Ledger> existing_ledger(const fs::path& place, ledger::Options options) {
  options.create = false;
  try {
    return ledger::Ledger(ledger_path(place), options);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_found) throw;
    return std::nullopt;
  }
}

[[noreturn]] void lost_ledger(const AccountPlace& place) {
  throw Error(ErrorCode::corrupt,
              fmt::format("the ledger {} does not know the budget {}, although it was used; "
                          "restore the ledger from a backup",
                          place.ledger.string(), place.lineage));
}

// What a witness saw, and where it says so.
struct Seen {
  fs::path witness;
  WitnessedEntry entry;
};

[[noreturn]] void behind(const AccountPlace& place, const Seen& seen,
                         const ledger::Ledger& ledger) {
  throw Error(
      ErrorCode::corrupt,
      fmt::format(
          "the ledger {} is behind its witness {}: it does not have entry {} as the witness saw it "
          "(its last one is {}), so an older copy was put in its place, or its -wal file was lost "
          "or damaged, and spends are missing; restore the newest ledger, with its -wal file. If "
          "there is none, what was spent is not known any more: the owner can only start another "
          "budget with shoal init --new-budget",
          place.ledger.string(), seen.witness.string(), seen.entry.number, ledger.head().seq));
}

void require_witnessed(const AccountPlace& place, const std::vector<Seen>& seen,
                       const ledger::Ledger& ledger) {
  for (const Seen& one : seen) {
    if (!ledger.contains({one.entry.number, one.entry.hash})) behind(place, one, ledger);
  }
}

// What the witnesses saw. One that a marker knows of must be there.
std::vector<Seen> read_witnesses(const AccountPlace& place, const Markers& markers) {
  std::vector<Seen> seen;
  for (const auto* files : {&markers.files, &markers.kin}) {
    for (const MarkedFile& file : *files) {
      if (!file.mine || !file.mine->witnessed) continue;
      seen.push_back({catalog::witness_path(file.data, place.lineage),
                      catalog::existing_witness(file.data, place.lineage)});
    }
  }
  if (place.witness.empty()) return seen;
  if (const auto entry = Witness(place.witness, place.lineage).read())
    seen.push_back({place.witness, *entry});
  return seen;
}

// One beside each file whose mark says so, and the owner's own.
std::vector<Witness> witnesses_of(const AccountPlace& place, const Markers& markers) {
  std::vector<Witness> witnesses;
  for (const MarkedFile& file : markers.files) {
    if (file.mine && file.mine->witnessed)
      witnesses.emplace_back(catalog::witness_path(file.data, place.lineage), place.lineage);
  }
  if (!place.witness.empty()) witnesses.emplace_back(place.witness, place.lineage);
  return witnesses;
}

void keep_head(const ledger::Ledger& ledger, const std::vector<Witness>& witnesses) {
  const ledger::Head head = ledger.head();
  for (const Witness& witness : witnesses) witness.keep({head.seq, head.hash});
}

void require_terms(const AccountPlace& place, const BudgetTerms& held, const BudgetTerms& asked) {
  const bool same_meaning =
      held.neighbors == asked.neighbors && ledger::same_unit(held.unit, asked.unit);
  if (same_meaning && asked.epsilon <= held.epsilon && asked.delta <= held.delta) return;
  throw Error(
      ErrorCode::conflict,
      fmt::format("the data was given the budget {}, (epsilon {}, delta {}) for {} under {}; asked "
                  "for is (epsilon {}, delta {}) for {} under {}. Nothing was asked yet, so if the "
                  "owner means it: shoal budget <policy> --accept-policy",
                  place.lineage, format_number(held.epsilon.value()),
                  format_number(held.delta.value()), held.unit, to_string(held.neighbors),
                  format_number(asked.epsilon.value()), format_number(asked.delta.value()),
                  asked.unit, to_string(asked.neighbors)));
}

// Those of the markers, which must not differ among each other; failing them what is asked for.
BudgetTerms opening_terms(const AccountPlace& place, const std::vector<MarkedFile>& files,
                          const BudgetTerms& asked) {
  std::optional<BudgetTerms> terms;
  for (const MarkedFile& file : files) {
    if (!file.mine || !file.mine->terms) continue;
    if (terms) require_terms(place, *file.mine->terms, *terms);
    terms = file.mine->terms;
  }
  if (!terms) return asked;
  require_terms(place, *terms, asked);
  return *terms;
}

privacy::Budget budget_of(const BudgetTerms& terms, const std::optional<Delta>& failures) {
  privacy::Budget budget{terms.epsilon, terms.delta};
  budget.failures = failures.value_or(Delta(terms.delta.value() / 2));
  return budget;
}

privacy::Budget asked_budget(const AccountTerms& asked, const ledger::Account& account) {
  return budget_of(asked.terms, asked.failures.value_or(account.budget.failures));
}

void require_account(ledger::Ledger& ledger, const AccountPlace& place, const AccountTerms& asked,
                     const ledger::Account& account) {
  ledger.open_account(
      {place.lineage, asked_budget(asked, account), asked.terms.neighbors, asked.terms.unit});
}

BudgetTerms terms_of(const ledger::Account& account) {
  return {account.budget.epsilon, account.budget.delta, account.neighbors, account.unit};
}

// The witness first, then the marker that says that it is there, and that the budget was opened.
void write_markers(catalog::LockedMarkers& locked, const AccountPlace& place, Markers& markers,
                   const ledger::Ledger& ledger, const BudgetTerms& terms) {
  const BudgetMark mark{place.lineage, ledger_path(place.ledger), true, true, terms};
  for (MarkedFile& file : markers.files) {
    if (!file.mine) file.mine = &file.marks.emplace_back();
    *file.mine = mark;
  }
  keep_head(ledger, witnesses_of(place, markers));
  for (const MarkedFile& file : markers.files) locked.write(file.data, file.marks);
}

// The ledger that has what the witnesses saw, and the account if it was opened.
struct Found {
  ledger::Ledger ledger;
  std::optional<ledger::Account> account;
};

// None if there is no ledger, and there need be none. The witnesses are read before.
std::optional<Found> find_ledger(const AccountPlace& place, const Markers& markers, bool make,
                                 const ledger::Options& options) {
  const std::vector<Seen> seen = read_witnesses(place, markers);
  const bool used = markers.opened() || !seen.empty();
  auto ledger = used || !make ? existing_ledger(place.ledger, options)
                              : std::optional<ledger::Ledger>(std::in_place,
                                                              ledger_path(place.ledger), options);
  auto account = ledger ? ledger->account(place.lineage) : std::nullopt;
  if (used && !account) lost_ledger(place);
  if (!ledger) return std::nullopt;
  require_witnessed(place, seen, *ledger);
  return Found{*std::move(ledger), std::move(account)};
}

AccountLedger account_ledger(const AccountPlace& place, const Markers& markers, Found&& found,
                             privacy::Budget budget) {
  return {std::move(found.ledger), privacy::smaller(found.account->budget, budget),
          witnesses_of(place, markers)};
}

// The same for who spends.
AccountLedger writable(AccountLedger&& account) {
  account.require_witnesses();
  return std::move(account);
}

// Nobody else changes the markers meanwhile: what they say is what the account is.
AccountLedger open_first(const AccountPlace& place, const AccountTerms& asked,
                         const ledger::Options& options) {
  catalog::LockedMarkers locked(place.data);
  Markers markers = read_markers(place);
  Found found = *find_ledger(place, markers, true, options);
  if (found.account) {
    require_account(found.ledger, place, asked, *found.account);
  } else {
    const BudgetTerms terms = opening_terms(place, markers.files, asked.terms);
    found.ledger.open_account(
        {place.lineage, budget_of(terms, asked.failures), terms.neighbors, terms.unit});
    found.account = found.ledger.account(place.lineage);
  }
  write_markers(locked, place, markers, found.ledger, terms_of(*found.account));
  const privacy::Budget budget = asked_budget(asked, *found.account);
  return writable(account_ledger(place, markers, std::move(found), budget));
}

}  // namespace

namespace {

bool has(const std::vector<fs::path>& files, const fs::path& file) {
  return std::find(files.begin(), files.end(), file) != files.end();
}

}  // namespace

// A private file carries a marker of its budget. A table of a server has none: there the ledger,
// and the witness that the owner names, alone tell what was spent.
AccountPlace place_of(const catalog::Policy& policy,
                      std::span<const catalog::Table* const> tables) {
  AccountPlace place{policy.lineage, policy.ledger_place(), {}, {}, policy.witness_place()};
  const auto add = [&](std::vector<fs::path>& files, const catalog::Table& table) {
    if (table.is_public || table.format == catalog::SourceFormat::postgresql) return;
    const fs::path file = policy.resolve(table.source);
    // A file that is a table twice is one file.
    if (!has(place.data, file) && !has(files, file)) files.push_back(file);
  };
  for (const catalog::Table* table : tables) add(place.data, *table);
  for (const catalog::Table& table : policy.tables) add(place.kin, table);
  return place;
}

AccountPlace place_of(const catalog::Policy& policy) {
  std::vector<const catalog::Table*> tables;
  for (const catalog::Table& table : policy.tables) tables.push_back(&table);
  return place_of(policy, tables);
}

AccountTerms terms_of(const catalog::Policy& policy) {
  return {{policy.epsilon, policy.delta, policy.neighbors, policy.unit_in_words()},
          policy.failures};
}

AccountLedger::AccountLedger(ledger::Ledger ledger, privacy::Budget budget,
                             std::vector<Witness> witnesses)
    : ledger_(std::move(ledger)), budget_(budget), witnesses_(std::move(witnesses)) {}

void AccountLedger::require_witnesses() const {
  for (const Witness& witness : witnesses_) witness.require_writable();
}

void AccountLedger::witness() const { keep_head(ledger_, witnesses_); }

AccountLedger open_account(const AccountPlace& place, const AccountTerms& asked,
                           const ledger::Options& options) {
  const Markers markers = read_markers(place);
  if (place.data.empty() || !markers.complete()) return open_first(place, asked, options);
  Found found = *find_ledger(place, markers, false, options);
  require_account(found.ledger, place, asked, *found.account);
  const privacy::Budget budget = asked_budget(asked, *found.account);
  return writable(account_ledger(place, markers, std::move(found), budget));
}

AccountLedger opened_account(const AccountPlace& place, const ledger::Options& options) {
  const Markers markers = read_markers(place);
  auto found = find_ledger(place, markers, false, options);
  if (!found || !found->account) {
    throw Error(ErrorCode::not_found,
                fmt::format("there is no budget {} in the ledger {}: it is not the one that this "
                            "was paid in; restore it",
                            printable(place.lineage, 80), place.ledger.string()));
  }
  const privacy::Budget budget = found->account->budget;
  return writable(account_ledger(place, markers, *std::move(found), budget));
}

std::optional<AccountLedger> existing_account(const AccountPlace& place,
                                              const ledger::Options& options) {
  const Markers markers = look_at_markers(place);
  auto found = find_ledger(place, markers, false, options);
  if (!found || !found->account) return std::nullopt;
  const privacy::Budget budget = found->account->budget;
  return account_ledger(place, markers, *std::move(found), budget);
}

void accept_terms(const AccountPlace& place, const AccountTerms& asked,
                  const ledger::Options& options) {
  catalog::LockedMarkers locked(place.data);
  Markers markers = read_markers(place);
  auto account = existing_account(place, options);
  const auto has_mark = [](const MarkedFile& file) { return file.mine != nullptr; };
  if (!account && std::none_of(markers.files.begin(), markers.files.end(), has_mark)) {
    throw Error(
        ErrorCode::not_found,
        "nothing was asked yet, so the policy's total holds as it is: there is nothing to accept");
  }
  BudgetTerms terms = asked.terms;
  if (account) {
    ledger::Ledger& ledger = account->ledger();
    ledger.change_budget(place.lineage, asked_budget(asked, *ledger.account(place.lineage)));
    terms = terms_of(*ledger.account(place.lineage));
  }
  for (MarkedFile& file : markers.files) {
    if (!file.mine) continue;
    file.mine->terms = terms;
    locked.write(file.data, file.marks);
  }
}

void renew_witnesses(const AccountPlace& place, const ledger::Options& options) {
  catalog::LockedMarkers locked(place.data);
  const Markers markers = read_markers(place);
  const auto ledger = existing_ledger(place.ledger, options);
  if (!ledger || !ledger->account(place.lineage)) {
    if (markers.opened()) lost_ledger(place);
    throw Error(ErrorCode::not_found, "nothing was asked yet, so there is no witness to renew");
  }
  const std::vector<Witness> witnesses = witnesses_of(place, markers);
  for (const Witness& witness : witnesses) {
    if (witness.is_damaged()) continue;
    if (const auto entry = witness.read())
      require_witnessed(place, {{witness.file(), *entry}}, *ledger);
  }
  for (const Witness& witness : witnesses) {
    if (witness.is_damaged()) fs::remove(witness.file());
  }
  keep_head(*ledger, witnesses);
}

}  // namespace shoal::session
