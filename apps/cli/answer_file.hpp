// Answers as Parquet and Arrow files.
#pragma once

#include <shoal/session/answer.hpp>

#include <filesystem>
#include <string>

namespace shoal::cli {

// One row a row of the answer; beside each value that has an interval the columns <name>_lower and
// <name>_upper. The whole answer, with its cost and its statement, is in the file's metadata under
// the key "shoal", as the JSON that --format json prints but for the budget.
void write_answer_parquet(const std::filesystem::path& path, const session::Answer& answer);

// The same as the bytes of an Arrow file.
std::string answer_arrow(const session::Answer& answer);

}  // namespace shoal::cli
