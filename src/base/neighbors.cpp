#include <shoal/base/error.hpp>
#include <shoal/base/neighbors.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

namespace shoal {

std::string_view to_string(Neighbors neighbors) {
  return neighbors == Neighbors::add_remove ? "add_remove" : "replace_one";
}

Neighbors parse_neighbors(std::string_view text) {
  if (text == "add_remove") return Neighbors::add_remove;
  if (text == "replace_one") return Neighbors::replace_one;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("neighbors is \"{}\"; it must be \"add_remove\" or \"replace_one\"",
                          printable(text, 40)));
}

}  // namespace shoal
