#include "budget_text.hpp"

#include "table.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>
#include <shoal/numeric/units.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

namespace shoal::cli {
namespace {

double delta_of(const privacy::Charge& charge) {
  return numeric::from_units_up(charge.delta_units, privacy::kDeltaDecimals);
}

std::string amount(const privacy::Charge& charge) {
  const double rho = numeric::from_units_up(charge.rho_units, privacy::kRhoDecimals);
  std::string text =
      charge.epsilon_units
          ? fmt::format("epsilon {}", format_number(numeric::decimal_from_units(
                                          *charge.epsilon_units, privacy::kEpsilonDecimals)))
          : fmt::format("rho {}", format_rounded(rho, 6));
  if (charge.delta_units > 0)
    text += fmt::format(", delta {}", format_rounded(delta_of(charge), 3));
  return text;
}

// The certified total in words, or why there is none.
std::string certified_in_words(const session::BudgetReport& report) {
  try {
    const privacy::Bounds bounds = session::certified_total(report).bounds;
    return fmt::format("epsilon {} to {} at delta {}, had all of it been fixed in advance",
                       format_rounded(bounds.lower, 6), format_rounded(bounds.upper, 6),
                       format_number(report.total.delta.value()));
  } catch (const Error& error) {
    return fmt::format("not available: {}", error.what());
  }
}

}  // namespace

std::span<const ledger::Spend> shown_spends(const session::BudgetReport& report, bool all) {
  const std::span<const ledger::Spend> spends(report.spends);
  const auto last = static_cast<std::size_t>(session::BudgetDetail{}.last_spends);
  return all || spends.size() <= last ? spends : spends.last(last);
}

std::string budget_table(const session::BudgetReport& report, const BudgetShown& shown) {
  std::string text = fmt::format("budget of {} ({})\n\n", report.name, report.lineage);
  const std::span<const ledger::Spend> spends = shown_spends(report, shown.all);
  const std::int64_t earlier = report.spend_count - static_cast<std::int64_t>(spends.size());
  if (!spends.empty()) {
    TextTable table({"entry", "time", "state", "cost", "question"},
                    {Align::right, Align::left, Align::left, Align::left, Align::left});
    for (const ledger::Spend& spend : spends) {
      table.add({fmt::format("{}", spend.entry), spend.time, spend.state, amount(spend.charge),
                 printable(spend.description, 70)});
    }
    if (earlier > 0)
      text +=
          fmt::format("the last {} of {} (--all lists them)\n", spends.size(), report.spend_count);
    text += fmt::format("{}\n", table.text());
  }
  text +=
      fmt::format("  total   epsilon {}, delta {}\n", format_number(report.total.epsilon.value()),
                  format_number(report.total.delta.value()));
  text += fmt::format("  spent   epsilon {} in {} question{}\n",
                      format_rounded(report.epsilon_spent, 6), report.spend_count,
                      report.spend_count == 1 ? "" : "s");
  text +=
      fmt::format("  left    one question of epsilon {}\n", format_rounded(report.epsilon_left, 6));
  text += fmt::format("  means   {}\n", report.statement);
  if (shown.certified && !report.spends.empty())
    text += fmt::format("  as one  {}\n", certified_in_words(report));
  text += fmt::format("  ledger  {}{}\n", report.ledger.string(),
                      !report.opened   ? ", nothing asked yet"
                      : shown.verified ? ", every entry verified"
                                       : ", verified since its last checkpoint");
  return text;
}

}  // namespace shoal::cli
