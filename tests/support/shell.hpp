// Runs the program from a shell line, as a user would.
#pragma once

#include "support/paths.hpp"

#include <shoal/base/file.hpp>

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

namespace shoal::test {

struct Ran {
  int status = -1;
  std::string output;
  std::string errors;
};

// A line for the shell, in the folder. `shoal` stands for the program.
inline Ran run_shell(const std::filesystem::path& folder, const std::string& line) {
  const std::string command = "cd '" + folder.string() + "' && shoal() { '" + program() +
                              "' \"$@\"; } && { " + line + " ; } 2>errors.txt";
  Ran ran;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return ran;
  std::array<char, 65536> buffer{};
  for (std::size_t size = 0; (size = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    ran.output.append(buffer.data(), size);
  }
  const int status = pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  ran.errors = read_file(folder / "errors.txt");
  return ran;
}

}  // namespace shoal::test
