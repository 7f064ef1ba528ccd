#include "new_file.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <filesystem>

namespace shoal::cli {

void check_new_file(const std::string& name) {
  const std::filesystem::path path = name;
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    throw Error(
        ErrorCode::conflict,
        fmt::format("{} exists already; remove it or choose another name", printable(name, 200)));
  }
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (!std::filesystem::is_directory(folder, error)) {
    throw Error(ErrorCode::not_found, fmt::format("there is no folder {}; make it first",
                                                  printable(folder.string(), 200)));
  }
}

}  // namespace shoal::cli
