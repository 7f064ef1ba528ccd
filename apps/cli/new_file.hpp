// Files that a command makes: what can be known to be wrong with them must be known before anything
// is spent.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace shoal::cli {

// Throws conflict if the file is there already and not_found if its folder is not.
void check_new_file(const std::string& path);

// A file that is written piece by piece and is there when it is whole, or not at all: until then it
// has a temporary name in the same folder, and what is not finished is removed. The functions throw
// io, and conflict if a file of that name has come up.
class NewFile {
 public:
  explicit NewFile(std::string path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view text);
  void finish();

 private:
  [[noreturn]] void fail() const;

  std::string path_;
  std::string partial_;
  std::FILE* file_ = nullptr;
};

}  // namespace shoal::cli
