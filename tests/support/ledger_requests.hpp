// Short ways to ask a ledger for things, and to say which error is expected.
#pragma once

#include "support/touch.hpp"

#include <shoal/base/error.hpp>
#include <shoal/ledger/ledger.hpp>
#include <shoal/numeric/units.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace shoal::test {

inline constexpr const char* kLineage = "people-2025";

inline ledger::Account account_of(double epsilon, double delta = 0) {
  return {kLineage, {Epsilon(epsilon), Delta(delta)}, Neighbors::add_remove, "a row of people"};
}

inline ledger::Request request_of(std::string key, double epsilon) {
  return {kLineage,
          std::move(key),
          "digest",
          "SELECT COUNT(*) FROM people",
          "policy",
          {Epsilon(kMaxEpsilon), Delta(0)},
          privacy::event::Pure{epsilon}};
}

// Reserves what must not have an answer yet.
inline privacy::Reservation reserve(ledger::Ledger& ledger, const ledger::Request& request) {
  return std::get<privacy::Reservation>(ledger.reserve(request));
}

inline ledger::StoredAnswer settle(ledger::Ledger& ledger, privacy::Reservation&& reservation,
                                   std::string_view answer) {
  test::touch(reservation);
  return ledger.settle(std::move(reservation).spend(), answer);
}

// Reserves and settles.
inline ledger::StoredAnswer ask(ledger::Ledger& ledger, const ledger::Request& request,
                                std::string_view answer) {
  return settle(ledger, reserve(ledger, request), answer);
}

inline std::int64_t units(double epsilon) {
  return numeric::decimal_units_up(epsilon, privacy::kEpsilonDecimals);
}

inline std::int64_t total_units(ledger::Ledger& ledger) {
  return ledger.total(kLineage).epsilon_units.value();
}

// The code of the error that the action throws; none if it throws none.
template <typename Action>
std::optional<ErrorCode> code_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

}  // namespace shoal::test
