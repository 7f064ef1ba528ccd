// Files that a command makes: what can be known to be wrong with them must be known before anything
// is spent.
#pragma once

#include <shoal/base/temporary_file.hpp>

#include <string>
#include <string_view>

namespace shoal::cli {

// Throws conflict if the file is there already and not_found if its folder is not.
void check_new_file(const std::string& path);

// A file that is written piece by piece and is there when it is whole, or not at all
// (base/temporary_file.hpp). The functions throw io, and conflict if a file of that name has come
// up.
class NewFile {
 public:
  explicit NewFile(const std::string& path);

  void write(std::string_view text);
  void finish();

 private:
  std::string path_;
  std::string waiting_;  // what is yet to be written
  TemporaryFile file_;
};

}  // namespace shoal::cli
