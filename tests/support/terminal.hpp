// Runs the program on a terminal of its own (a pty), as a user at the keyboard would.
#pragma once

#include "support/paths.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace shoal::test {

class Terminal {
 public:
  // The program with these words, in the folder, on a terminal of so many columns.
  Terminal(const std::filesystem::path& folder, std::vector<std::string> words,
           unsigned short columns = 120, const char* locale = "C.UTF-8") {
    winsize size{};
    size.ws_row = 50;
    size.ws_col = columns;
    child_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    if (child_ != 0) return;
    std::vector<char*> arguments{const_cast<char*>(program().c_str())};
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::setenv("LC_ALL", locale, 1);
    ::setenv("TERM", "xterm", 1);
    ::setenv("XDG_STATE_HOME", (folder / "state").c_str(), 1);
    if (::chdir(folder.c_str()) == 0) ::execv(program().c_str(), arguments.data());
    ::_exit(127);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    if (!ended_) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    ::close(terminal_);
  }

  void type(const std::string& keys) {
    std::size_t written = 0;
    while (written < keys.size()) {
      const ssize_t count = ::write(terminal_, keys.data() + written, keys.size() - written);
      if (count <= 0) return;
      written += static_cast<std::size_t>(count);
    }
  }

  // Reads until the text shows after what was read before; false after `seconds` without it.
  bool shows(const std::string& text, int seconds = 30) {
    for (int waited = 0; waited < seconds * 10;) {
      const std::size_t at = output_.find(text, looked_);
      if (at != std::string::npos) {
        looked_ = at + text.size();
        return true;
      }
      if (!read_some()) return false;
      if (!ready_) ++waited;
    }
    return false;
  }

  // Reads to the end; the exit status, or -1 if a signal ended it.
  int wait_for_end() {
    while (read_some()) {
    }
    int status = 0;
    ::waitpid(child_, &status, 0);
    ended_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  const std::string& output() const { return output_; }

 private:
  bool read_some() {
    pollfd wait{terminal_, POLLIN, 0};
    ready_ = ::poll(&wait, 1, 100) > 0;
    if (!ready_) return true;
    std::array<char, 4096> block{};
    const ssize_t count = ::read(terminal_, block.data(), block.size());
    if (count <= 0) return false;
    output_.append(block.data(), static_cast<std::size_t>(count));
    return true;
  }

  int terminal_ = -1;
  pid_t child_ = -1;
  bool ended_ = false;
  bool ready_ = false;
  std::string output_;
  std::size_t looked_ = 0;
};

}  // namespace shoal::test
