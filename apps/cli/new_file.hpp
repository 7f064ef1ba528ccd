// Files that a command makes: what can be known to be wrong with them must be known before anything
// is spent.
#pragma once

#include <string>

namespace shoal::cli {

// Throws conflict if the file is there already and not_found if its folder is not.
void check_new_file(const std::string& path);

}  // namespace shoal::cli
