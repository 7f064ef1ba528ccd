#include "new_file.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <cstddef>
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

namespace {

constexpr std::size_t kBlock = std::size_t{1} << 18;

// What was spent is spent, and the same command gives the same again.
template <typename Action>
void or_ask_again(const std::string& path, Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::io) throw;
    throw Error(ErrorCode::io, fmt::format("{} cannot be written; make room and run the same "
                                           "command again, which costs nothing",
                                           printable(path, 200)));
  }
}

}  // namespace

NewFile::NewFile(const std::string& path) : path_(path), file_(path, Readers::usual) {}

void NewFile::write(std::string_view text) {
  waiting_ += text;
  if (waiting_.size() < kBlock) return;
  or_ask_again(path_, [&] { file_.write(waiting_); });
  waiting_.clear();
}

void NewFile::finish() {
  or_ask_again(path_, [&] {
    file_.write(waiting_);
    file_.take_name(IfExists::refuse);
  });
}

}  // namespace shoal::cli
