// Makes the n-th step of the work on files fail, or the process end at it.
#pragma once

#include "base/file_step.hpp"

#include <shoal/base/error.hpp>

#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace shoal::test {

class FileFault {
 public:
  enum class Kind { fails, ends_the_process };

  // Steps count from 0. Those of another operation than `only` do not, if that is given.
  FileFault(int at, Kind kind, std::string only = {}) {
    file_step() = [this, at, kind, only = std::move(only)](std::string_view operation,
                                                           const std::filesystem::path&) {
      if ((!only.empty() && operation != only) || steps_++ != at) return;
      if (kind == Kind::ends_the_process) ::raise(SIGKILL);
      throw Error(ErrorCode::io, "no " + std::string(operation) + ", as the test wants it");
    };
  }
  FileFault(const FileFault&) = delete;
  FileFault& operator=(const FileFault&) = delete;
  ~FileFault() { file_step() = nullptr; }

  int steps() const { return steps_; }

 private:
  int steps_ = 0;
};

}  // namespace shoal::test
