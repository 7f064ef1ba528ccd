// Literals that are none of the public values of what they are compared with.
#pragma once

#include <shoal/catalog/policy.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace shoal::plan {

// The values that a policy lists for a column; those of a boolean need no list. Empty: any value.
std::vector<std::string> listed_values(const catalog::Column& column);

// Whether a literal in the notation of a key is one of them; numbers are compared as numbers.
bool is_listed(std::string_view literal, catalog::ColumnType type,
               const std::vector<std::string>& listed);

// What to tell the asker whose literal is not: it quotes public values, the nearest ones, and the
// literal alone.
std::string why_not_listed(std::string_view literal, catalog::ColumnType type,
                           std::vector<std::string> listed, std::string_view compared_with);

}  // namespace shoal::plan
