// What an account fixes before the first question: the relation under which spends are priced, the
// part of delta for failures, and the rule of conversion.
#include "support/ledger_requests.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace shoal::ledger {
namespace {

using namespace shoal::test;

class AccountTest : public ::testing::Test {
 protected:
  std::filesystem::path path() const { return folder_ / "people.ledger"; }

 private:
  TemporaryFolder folder_{Place::memory};
};

TEST_F(AccountTest, SpendsArePricedUnderTheAccountsRelation) {
  Ledger ledger(path());
  Account account = account_of(10, 1e-6);
  account.neighbors = Neighbors::replace_one;
  ledger.open_account(account);
  Request request = request_of("laplace", 0);
  request.event = privacy::event::DiscreteLaplace{2, 1};
  reserve(ledger, request);
  EXPECT_EQ(total_units(ledger), units(1));
  request.key = "count";
  request.event = privacy::event::DiscreteLaplace{2, 1, 1};
  reserve(ledger, request);
  EXPECT_EQ(total_units(ledger), units(1.5));
  EXPECT_EQ(ledger.repriced_total(kLineage), ledger.total(kLineage));
  request.key = "sampled";
  request.event = privacy::event::SampledWithoutReplacement{100, 1, privacy::event::Pure{1}};
  reserve(ledger, request);
  EXPECT_LT(total_units(ledger), units(1.518));
}

Request failing_request(std::string key, double epsilon, double delta) {
  Request request = request_of(std::move(key), 0);
  request.budget.delta = Delta(0.1);
  request.event = privacy::event::EpsilonDelta{epsilon, delta};
  return request;
}

TEST_F(AccountTest, WhatMayFailNeedsAPartOfDelta) {
  Ledger ledger(path());
  ledger.open_account(account_of(1, 1e-6));
  try {
    ledger.reserve(failing_request("key", 0.1, 1e-9));
    ADD_FAILURE() << "it was reserved";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::budget_exceeded);
    EXPECT_NE(std::string(error.what()).find("sets no part"), std::string::npos);
  }
}

TEST_F(AccountTest, FailuresFillTheirPartAndNoMore) {
  Account account = account_of(1, 1e-6);
  account.budget.failures = Delta(3e-7);
  {
    Ledger ledger(path());
    ledger.open_account(account);
    for (const char* key : {"a", "b", "c"}) reserve(ledger, failing_request(key, 0.1, 1e-7));
    EXPECT_EQ(ledger.total(kLineage).delta_units, 300'000'000'000);
  }
  Ledger ledger(path());
  EXPECT_EQ(ledger.account(kLineage)->budget, account.budget);
  EXPECT_EQ(ledger.total(kLineage).delta_units, 300'000'000'000);
  EXPECT_EQ(code_of([&] { ledger.reserve(failing_request("d", 0, 1e-18)); }),
            ErrorCode::budget_exceeded);
  ledger.reserve(failing_request("e", 0.7, 0));
  EXPECT_EQ(code_of([&] { ledger.reserve(failing_request("f", 0.1, 0)); }),
            ErrorCode::budget_exceeded);
}

TEST_F(AccountTest, PartAndRuleCannotChange) {
  Account account = account_of(1, 1e-6);
  account.budget.failures = Delta(1e-7);
  account.budget.rule = privacy::Rule::gaussian;
  Ledger ledger(path());
  ledger.open_account(account);
  ledger.open_account(account);
  Account other = account;
  other.budget.failures = Delta(2e-7);
  EXPECT_EQ(code_of([&] { ledger.open_account(other); }), ErrorCode::conflict);
  other = account;
  other.budget.rule = privacy::Rule::zcdp;
  EXPECT_EQ(code_of([&] { ledger.open_account(other); }), ErrorCode::conflict);
  ledger.change_budget(kLineage, {Epsilon(2), Delta(1e-5)});
  const privacy::Budget changed{Epsilon(2), Delta(1e-5), Delta(1e-7), privacy::Rule::gaussian};
  EXPECT_EQ(ledger.account(kLineage)->budget, changed);
  EXPECT_EQ(code_of([&] {
              ledger.change_budget(kLineage, {Epsilon(2), Delta(1e-8)});
            }),
            ErrorCode::invalid_argument);
  other.lineage = "other";
  other.budget.failures = Delta(1e-5);
  EXPECT_EQ(code_of([&] { ledger.open_account(other); }), ErrorCode::invalid_argument);
}

TEST_F(AccountTest, CancellingTheOnlyOtherGivesTheGaussianTotalBack) {
  Account account = account_of(1, 1e-6);
  account.budget.rule = privacy::Rule::gaussian;
  Ledger ledger(path());
  ledger.open_account(account);
  Request request = request_of("gaussian", 0);
  request.budget = {Epsilon(1), Delta(1e-6)};
  request.event = privacy::event::Gaussian{100, 1};
  ask(ledger, request, "{}");
  request.key = "tiny";
  request.event = privacy::event::Pure{0.001};
  ask(ledger, request, "{}");
  const privacy::Charge before = ledger.total(kLineage);
  ASSERT_TRUE(before.gaussian_units.has_value());
  // Under this rule zCDP is of no use once a Gaussian is there.
  request.key = "zcdp";
  request.event = privacy::event::Zcdp{1e-6};
  EXPECT_EQ(code_of([&] { ledger.reserve(request); }), ErrorCode::budget_exceeded);
  ledger.cancel(reserve(ledger, [&] {
    Request again = request;
    again.key = "given back";
    again.event = privacy::event::Gaussian{200, 1};
    return again;
  }()));
  EXPECT_EQ(ledger.total(kLineage), before);
  EXPECT_EQ(Ledger(path()).total(kLineage), before);
}

}  // namespace
}  // namespace shoal::ledger
