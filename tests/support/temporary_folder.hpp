// A folder of its own for a test, removed with everything in it at the end.
#pragma once

#include <stdlib.h>  // for mkdtemp
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace shoal::test {

// In memory, where there is such a place, nothing waits for a disk: for tests that make very many
// files and do not depend on a real one.
enum class Place { disk, memory };

class TemporaryFolder {
 public:
  explicit TemporaryFolder(Place place = Place::disk) {
    const std::filesystem::path memory = "/dev/shm";
    const bool in_memory = place == Place::memory && ::access(memory.c_str(), W_OK) == 0;
    const std::filesystem::path parent =
        in_memory ? memory : std::filesystem::temp_directory_path();
    std::string name = (parent / "shoal_test_XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make a folder like " + name);
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace shoal::test
