// A small public table, such as an answer, as an Arrow file (IPC): for DataFrames of any language.
// Nothing private comes here: the values are released ones.
#pragma once

#include <shoal/engine/table_file.hpp>

#include <string>
#include <vector>

namespace shoal::engine {

// The bytes of the file, with one record batch: whole numbers as int64, real ones as float64, dates
// as date32, timestamps in microseconds without a zone. `note` goes into the schema's metadata
// under the key "shoal". A value that its column's type cannot hold is NULL. Throws as
// write_parquet does, and unsupported beyond 2 GiB.
std::string arrow_file(const std::vector<FileColumn>& columns, const std::string& note);

}  // namespace shoal::engine
