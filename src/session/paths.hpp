// How paths are written into files.
#pragma once

#include <filesystem>

namespace shoal::session {

inline std::filesystem::path normal_path(const std::filesystem::path& path) {
  return std::filesystem::absolute(path).lexically_normal();
}

// A path as it is best written into a file of that folder: relative if it lies below.
inline std::filesystem::path as_seen_from(const std::filesystem::path& folder,
                                          const std::filesystem::path& path) {
  const std::filesystem::path relative = normal_path(path).lexically_relative(normal_path(folder));
  return !relative.empty() && *relative.begin() != ".." ? relative : normal_path(path);
}

}  // namespace shoal::session
