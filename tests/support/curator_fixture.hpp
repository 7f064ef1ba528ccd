// A ledger with room, reservations from it, and small coded tables, for tests of what curators let
// out.
#pragma once

#include "support/ledger_requests.hpp"
#include "support/temporary_folder.hpp"
#include "support/touch.hpp"

#include <shoal/data/coded_table.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace shoal::test {

class CuratorTest : public testing::Test {
 protected:
  void SetUp() override {
    ledger_.open_account(account_of(1000, 1e-3));
    ledger::Account exchange = account_of(1000, 1e-3);
    exchange.lineage = kExchangeLineage;
    exchange.neighbors = Neighbors::replace_one;
    ledger_.open_account(exchange);
  }

  privacy::Reservation reserve(const privacy::Event& event,
                               Neighbors neighbors = Neighbors::add_remove) {
    ledger::Request request = request_of("key" + std::to_string(++requests_), 1);
    if (neighbors == Neighbors::replace_one) request.lineage = kExchangeLineage;
    request.budget = {Epsilon(1000), Delta(1e-3)};
    request.event = event;
    privacy::Reservation reservation = test::reserve(ledger_, request);
    test::touch(reservation);
    return reservation;
  }

  static constexpr const char* kExchangeLineage = "people-exchanged";
  TemporaryFolder folder_;
  ledger::Ledger ledger_{folder_ / "ledger"};
  int requests_ = 0;
};

// Rows of codes, a row each.
inline data::CodedTable coded_table(std::vector<std::uint32_t> sizes,
                                    const std::vector<std::vector<std::uint16_t>>& rows) {
  data::CodedTable table(sizes);
  for (std::size_t j = 0; j < sizes.size(); ++j) {
    std::vector<std::uint16_t> column;
    for (const auto& row : rows) column.push_back(row[j]);
    table.append(j, column);
  }
  return table;
}

}  // namespace shoal::test
