// Pointing a table of a policy at another file, in the policy's own text: all that the owner wrote
// beside it, comments included, stays as it is.
#pragma once

#include <string>

namespace shoal::catalog {

// The text with this source for the table, in Parquet; `clustered`: its rows are ordered by person.
// `text` is a policy that parse_policy takes and has the table. Throws unsupported where the keys
// do not stand on lines of their own.
std::string redirect_table(const std::string& text, const std::string& table,
                           const std::string& source, bool clustered);

}  // namespace shoal::catalog
