#include "neighbors/shrink.hpp"

#include <utility>
#include <vector>

namespace shoal::test {
namespace {

class Shrinker {
 public:
  Shrinker(TablePair pair, const std::function<bool(const TablePair&)>& shows, int tries)
      : pair_(std::move(pair)), shows_(shows), tries_(tries) {}

  TablePair run() {
    bool smaller = true;
    while (smaller && tries_ > 0) {
      smaller = false;
      for (Rows TablePair::*rows :
           {&TablePair::before, &TablePair::after, &TablePair::one, &TablePair::other})
        smaller = drop_rows(rows) || smaller;
    }
    for (Rows TablePair::*rows :
         {&TablePair::before, &TablePair::after, &TablePair::one, &TablePair::other})
      empty_cells(rows);
    for (const auto& change : plain_settings()) try_with(change);
    return pair_;
  }

 private:
  // What replace_one exchanges stays as many rows where a row is protected.
  bool may_drop(Rows TablePair::*rows) const {
    if (rows == &TablePair::before || rows == &TablePair::after) return true;
    return pair_.setting.unit == catalog::PrivacyUnit::person && (pair_.*rows).size() > 1;
  }

  // Halves, quarters and so on, then each by itself.
  bool drop_rows(Rows TablePair::*rows) {
    if (!may_drop(rows)) return false;
    bool dropped = false;
    for (std::size_t size = std::max<std::size_t>((pair_.*rows).size() / 2, 1); size > 0;
         size /= 2) {
      for (std::size_t from = 0; from + size <= (pair_.*rows).size();) {
        if (!may_drop(rows)) return dropped;
        TablePair smaller = pair_;
        Rows& cut = smaller.*rows;
        cut.erase(cut.begin() + static_cast<std::ptrdiff_t>(from),
                  cut.begin() + static_cast<std::ptrdiff_t>(from + size));
        const bool keeps_somebody =
            rows == &TablePair::before || rows == &TablePair::after || !cut.empty();
        if (keeps_somebody && still(smaller)) {
          dropped = true;
        } else {
          from += size;
        }
      }
    }
    return dropped;
  }

  void empty_cells(Rows TablePair::*rows) {
    for (std::size_t row = 0; row < (pair_.*rows).size(); ++row) {
      for (std::size_t cell = 1; cell < kFields.size(); ++cell) {
        if ((pair_.*rows)[row].raw || !(pair_.*rows)[row].cells[cell]) continue;
        try_with([&](TablePair& pair) { (pair.*rows)[row].cells[cell].reset(); });
      }
    }
  }

  static std::vector<std::function<void(TablePair&)>> plain_settings() {
    return {[](TablePair& pair) { pair.setting.byte_order_mark = false; },
            [](TablePair& pair) { pair.setting.line_end = "\n"; },
            [](TablePair& pair) { pair.setting.last_line_ends = true; },
            [](TablePair& pair) { pair.setting.milliseconds = false; },
            [](TablePair& pair) { pair.setting.numbers_as_decimals = false; },
            [](TablePair& pair) { pair.setting.threads = 1; }};
  }

  void try_with(const std::function<void(TablePair&)>& change) {
    TablePair smaller = pair_;
    change(smaller);
    still(std::move(smaller));
  }

  bool still(TablePair smaller) {
    if (tries_-- <= 0 || !shows_(smaller)) return false;
    pair_ = std::move(smaller);
    return true;
  }

  TablePair pair_;
  const std::function<bool(const TablePair&)>& shows_;
  int tries_;
};

}  // namespace

TablePair shrink(TablePair pair, const std::function<bool(const TablePair&)>& shows, int tries) {
  return Shrinker(std::move(pair), shows, tries).run();
}

}  // namespace shoal::test
