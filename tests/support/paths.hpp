// Where the sources and the built program are. Its own source file alone knows the folders, so that
// the others compile alike wherever they lie.
#pragma once

#include <string>

namespace shoal::test {

// The root of the source tree.
std::string source_folder();

// The built command-line program.
const std::string& program();

}  // namespace shoal::test
