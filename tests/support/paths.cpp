#include "support/paths.hpp"

namespace shoal::test {

std::string source_folder() { return SHOAL_SOURCE_DIR; }

const std::string& program() {
  static const std::string path = SHOAL_PROGRAM;
  return path;
}

}  // namespace shoal::test
