// Small files, read whole and written durably. A written file is either the old one or the new one
// after a crash, never a part: it goes to a temporary name (temporary_file.hpp), is fsynced,
// renamed, and its folder is fsynced.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace shoal {

// Throws not_found if there is no such file, io if it cannot be read.
std::string read_file(const std::filesystem::path& path);

// The first bytes of a file, at most `limit` of them. Throws as read_file does.
std::string read_file_head(const std::filesystem::path& path, std::size_t limit);

enum class IfExists { replace, refuse };

// Who may read a new file. A file that replaces another keeps the other's readers.
enum class Readers {
  usual,  // as the process's mask has it
  owner,  // mode 0600
};

// Throws conflict if the file is there and that is refused, io if it cannot be written.
void write_file_durably(const std::filesystem::path& path, std::string_view contents,
                        IfExists if_exists, Readers readers = Readers::usual);

// Makes the names in a file's folder durable. Throws io.
void sync_folder_of(const std::filesystem::path& path);

}  // namespace shoal
