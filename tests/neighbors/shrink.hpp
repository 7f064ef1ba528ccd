// Makes a pair that shows a finding as small as it still shows one.
#pragma once

#include "neighbors/table_pair.hpp"

#include <functional>

namespace shoal::test {

// `shows` runs the pair; it is true of `pair`. Rows go first, then cells become NULL, then the
// setting becomes plain. At most `tries` runs.
TablePair shrink(TablePair pair, const std::function<bool(const TablePair&)>& shows,
                 int tries = 300);

}  // namespace shoal::test
