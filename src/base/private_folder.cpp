#include <shoal/base/error.hpp>
#include <shoal/base/private_folder.hpp>

#include <fmt/format.h>
#include <stdlib.h>  // for mkdtemp

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace shoal {

PrivateFolder::PrivateFolder(const std::filesystem::path& parent, std::string_view name) {
  std::string made = (parent / fmt::format("{}_XXXXXX", name)).string();
  if (::mkdtemp(made.data()) == nullptr) {
    throw Error(ErrorCode::io,
                fmt::format("cannot make a temporary folder in {}: {}; free some space, or name "
                            "another folder in TMPDIR",
                            parent.string(), std::generic_category().message(errno)));
  }
  path_ = std::move(made);
}

PrivateFolder::PrivateFolder(PrivateFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

PrivateFolder& PrivateFolder::operator=(PrivateFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

PrivateFolder::~PrivateFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace shoal
