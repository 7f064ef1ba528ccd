#include "new_file.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

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

NewFile::NewFile(std::string path)
    : path_(std::move(path)), partial_(fmt::format("{}.{}.partial", path_, ::getpid())) {
  file_ = std::fopen(partial_.c_str(), "wbx");
  if (file_ == nullptr) fail();
}

NewFile::~NewFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  std::remove(partial_.c_str());
}

void NewFile::fail() const {
  throw Error(ErrorCode::io, fmt::format("{} cannot be written; make room and run the same command "
                                         "again, which costs nothing",
                                         printable(path_, 200)));
}

void NewFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail();
}

void NewFile::finish() {
  if (std::fflush(file_) != 0 || ::fsync(::fileno(file_)) != 0) fail();
  // A link refuses a name that is taken, which a rename would replace.
  if (::link(partial_.c_str(), path_.c_str()) != 0) {
    check_new_file(path_);  // otherwise it is a file system without links
    if (std::rename(partial_.c_str(), path_.c_str()) != 0) fail();
  }
  std::fclose(std::exchange(file_, nullptr));
  std::remove(partial_.c_str());
}

}  // namespace shoal::cli
