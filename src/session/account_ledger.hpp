// The one way to a ledger, for every command that spends from it or looks into it.
//
// Invariants:
// - Each private file that is asked about belongs to this budget; its marker says so.
// - A budget is opened once, with the terms of the markers, which say so before the first spend. A
//   ledger that does not know a budget that was opened is lost, and no command opens it again.
// - Whatever a witness saw is in the ledger, or the ledger is refused. A witness is read before the
//   ledger is, so that others may go on meanwhile.
#pragma once

#include <shoal/catalog/budget_marker.hpp>
#include <shoal/catalog/policy.hpp>
#include <shoal/catalog/witness.hpp>
#include <shoal/ledger/ledger.hpp>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shoal::session {

// Which budget.
struct AccountPlace {
  std::string lineage;
  std::filesystem::path ledger;                 // a file or on a server
  std::vector<std::filesystem::path> data;      // private files, which have a marker each
  std::vector<std::filesystem::path> kin = {};  // files whose markers may know this budget as well
  std::filesystem::path witness = {};           // the owner's further one; empty for none
};

// What is asked of it. The account has the marker's total, which may be larger; never smaller.
struct AccountTerms {
  catalog::BudgetTerms terms;
  std::optional<Delta> failures;  // none: the account's, or half of its delta
};

// Those of a policy, for a request about these tables; its others are kin.
AccountPlace place_of(const catalog::Policy& policy, std::span<const catalog::Table* const> tables);
// For one about all of them.
AccountPlace place_of(const catalog::Policy& policy);
AccountTerms terms_of(const catalog::Policy& policy);

class AccountLedger {
 public:
  AccountLedger(ledger::Ledger ledger, privacy::Budget budget,
                std::vector<catalog::Witness> witnesses);

  ledger::Ledger& ledger() { return ledger_; }
  const ledger::Ledger& ledger() const { return ledger_; }
  // The smaller of the account's total and what was asked for.
  const privacy::Budget& budget() const { return budget_; }

  // Before anything is spent: whether witness() may write. Throws io.
  void require_witnesses() const;

  // Tells the witnesses the last entry. Only then may what it stands for leave. Throws io and
  // unavailable.
  void witness() const;

 private:
  ledger::Ledger ledger_;
  privacy::Budget budget_;
  std::vector<catalog::Witness> witnesses_;
};

// For a command that spends: opens the budget if it was not yet, and else checks that it means the
// same. Throws conflict (another budget, other terms), corrupt (lost, or behind a witness), io.
AccountLedger open_account(const AccountPlace& place, const AccountTerms& asked,
                           const ledger::Options& options = {});

// For one that goes on with what was paid: the budget as it was opened. Throws as open_account()
// does, not_found if it never was.
AccountLedger opened_account(const AccountPlace& place, const ledger::Options& options = {});

// For one that looks: writes nothing. None if the budget was never opened. Throws corrupt.
std::optional<AccountLedger> existing_account(const AccountPlace& place,
                                              const ledger::Options& options = {});

// For the owner: makes the terms that are asked for those of the markers and, once the budget is
// opened, its total that of the account. Throws not_found if there is neither.
void accept_terms(const AccountPlace& place, const AccountTerms& asked,
                  const ledger::Options& options = {});

// For the owner, who knows that the ledger is the newest: makes witnesses that are lost or damaged
// anew. One that can be read stays, and so does what it says. Throws not_found if no budget was
// opened, corrupt if the ledger is behind one that can be read.
void renew_witnesses(const AccountPlace& place, const ledger::Options& options = {});

}  // namespace shoal::session
