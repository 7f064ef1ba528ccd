// Deciding once what the rows of a data file are. Every question, training and synthesis reads the
// settled rows, never the source: what could fail on one row fails here, in front of the owner.
//
// A CSV file is read once, by the public rules of docs/reference/values.md, and becomes a snapshot
// beside it, <data>.rows/<...>.parquet, in the policy's types, ordered by person if the unit is
// one and in the order of the file otherwise. A Parquet file is read to its end and pinned by its
// digest; if its types are not the engine's own it becomes a snapshot too. The format of the
// folder is in catalog/rows_manifest.hpp.
#pragma once

#include <shoal/catalog/policy.hpp>
#include <shoal/engine/inspect.hpp>

#include <filesystem>
#include <functional>

namespace shoal::engine {

// A snapshot is a copy of the data. This is called when it is whole, to call in turn what gives it
// its name, once its budget marker is there.
using NameCopy = std::function<void(const catalog::Table& table, const std::filesystem::path& copy,
                                    const std::function<void()>& give_name)>;

enum class Settled { before, now };

struct SettledReport {
  Settled when = Settled::before;
  RowReport rows;  // for the owner
};

// The owner's command: settles the rows of a table's file, unless they are settled and the source
// is the one of then. Throws not_found, invalid_argument (the file cannot be read: which column,
// and why), conflict (its columns are not the policy's; it changed while it was read), unavailable
// (another process is at it) or io.
SettledReport settle_rows(const catalog::Policy& policy, const catalog::Table& table,
                          const NameCopy& name_copy, const Progress& progress = {});

}  // namespace shoal::engine
