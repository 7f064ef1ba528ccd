#include "neighbors/commands.hpp"

#include "neighbors/scenarios.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

namespace shoal::test {
namespace {

using Format = catalog::SourceFormat;

bool any(const Setting&) { return true; }
bool is_file(const Setting& setting) { return setting.format != Format::postgresql; }
// Joins with a public file.
bool is_file_of_rows(const Setting& setting) {
  return is_file(setting) && setting.unit == catalog::PrivacyUnit::row;
}
bool exchanges_rows(const Setting& setting) {
  return is_file_of_rows(setting) && setting.neighbors == Neighbors::replace_one;
}

const std::vector<ScenarioKind>& kinds() {
  static const std::vector<ScenarioKind> all = {
      {"counts", {"query"}, any, scenarios::counts},
      {"sums", {"query"}, any, scenarios::sums},
      {"public groups", {"query"}, any, scenarios::public_groups},
      {"hidden groups", {"query"}, any, scenarios::hidden_groups},
      {"quantiles", {"query"}, any, scenarios::quantiles},
      {"automatic bounds", {"query"}, any, scenarios::automatic_bounds},
      {"expressions", {"query"}, any, scenarios::expressions},
      {"joins", {"query"}, is_file, scenarios::joins},
      {"formats", {"query", "budget"}, any, scenarios::formats},
      {"refusals", {"query", "explain"}, any, scenarios::refusals},
      {"explained", {"explain", "budget"}, is_file, scenarios::explained},
      {"shell", {"shell"}, any, scenarios::shell},
      {"classification", {"train"}, is_file, scenarios::classification},
      {"regression", {"train"}, is_file, scenarios::regression},
      {"mean", {"train"}, is_file, scenarios::mean},
      {"frank-wolfe", {"train"}, is_file, scenarios::frank_wolfe},
      {"exponential", {"train"}, is_file, scenarios::weights_of_candidates},
      {"synthesis", {"synthesize"}, is_file, scenarios::synthesis},
      {"holdout",
       {"holdout create", "holdout ask", "holdout status"},
       exchanges_rows,
       scenarios::holdout},
      {"leaderboard",
       {"leaderboard create", "leaderboard submit", "leaderboard show"},
       exchanges_rows,
       scenarios::leaderboard},
      {"streams", {"watch", "choose", "respond"}, is_file_of_rows, scenarios::streams},
      {"owner", {"init", "import", "reopen"}, is_file, scenarios::owner_commands},
  };
  return all;
}

constexpr std::array kPublicCommands = {
    PublicCommand{"predict", "reads a model and rows of its caller"},
    PublicCommand{"evaluate", "reads a model and rows that are public"},
    PublicCommand{"noise", "reads no data"},
    PublicCommand{"tally", "reads randomized answers"},
    PublicCommand{"calibrate gaussian", "reads no data"},
    PublicCommand{"calibrate laplace", "reads no data"},
    PublicCommand{"calibrate count", "reads no data"},
    PublicCommand{"calibrate queries", "reads no data"},
    PublicCommand{"calibrate split", "reads no data"},
    PublicCommand{"account", "reads an event"},
    PublicCommand{"plot", "reads events"},
    PublicCommand{"generalize", "reads no data"},
};

}  // namespace

std::span<const ScenarioKind> scenario_kinds() { return kinds(); }
std::span<const PublicCommand> public_commands() { return kPublicCommands; }

bool can_be_on(const ScenarioKind& kind, Where where) {
  Setting setting;
  if (where == Where::server) setting.format = Format::postgresql;
  for (const auto unit : {catalog::PrivacyUnit::row, catalog::PrivacyUnit::person}) {
    for (const auto neighbors : {Neighbors::add_remove, Neighbors::replace_one}) {
      setting.unit = unit;
      setting.neighbors = neighbors;
      if (kind.allows(setting)) return true;
    }
  }
  return false;
}

Setting draw_setting(Dice& dice, const ScenarioKind& kind, Where where) {
  for (int tries = 0; tries < 1000; ++tries) {
    Setting setting;
    setting.format = where == Where::server ? Format::postgresql
                     : dice.one_in(3)       ? Format::parquet
                                            : Format::csv;
    setting.unit = dice.one_in(3) ? catalog::PrivacyUnit::person : catalog::PrivacyUnit::row;
    setting.neighbors = dice.one_in(2) ? Neighbors::add_remove : Neighbors::replace_one;
    if (setting.format == Format::csv) {
      if (dice.one_in(8)) setting.line_end = "\r\n";
      setting.byte_order_mark = dice.one_in(8);
      setting.last_line_ends = !dice.one_in(8);
    }
    setting.milliseconds = setting.format == Format::parquet && dice.one_in(3);
    setting.numbers_as_decimals = setting.format == Format::postgresql && dice.one_in(2);
    setting.threads = dice.one_in(6) ? 2 : 1;
    if (kind.allows(setting)) return setting;
  }
  throw std::logic_error(fmt::format("no setting suits {}", kind.name));
}

}  // namespace shoal::test
