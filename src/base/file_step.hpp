// Where tests fail, or end the process in, the work on files: called before each change of the file
// system that base makes, with what it is about to do. A throw is a failure of that operation.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

namespace shoal {

// "create", "write", "sync", "name", "sync folder", "remove".
using FileStep = std::function<void(std::string_view operation, const std::filesystem::path&)>;

// Empty, except in tests.
FileStep& file_step();

inline void before_file_step(std::string_view operation, const std::filesystem::path& path) {
  if (file_step()) file_step()(operation, path);
}

}  // namespace shoal
