#include "neighbors/programs.hpp"

namespace shoal::test {

const std::string& scripted_program() {
  static const std::string path = SHOAL_SCRIPTED_PROGRAM;
  return path;
}

}  // namespace shoal::test
