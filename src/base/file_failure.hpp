// What is told when the system refuses to work on a file.
#pragma once

#include <filesystem>
#include <string_view>

namespace shoal {

// Throws io.
[[noreturn]] void file_failed(std::string_view what, const std::filesystem::path& path, int error);

}  // namespace shoal
