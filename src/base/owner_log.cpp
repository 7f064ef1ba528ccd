#include <shoal/base/owner_log.hpp>
#include <shoal/base/text.hpp>

#include <fcntl.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <unistd.h>

#include <memory>
#include <utility>

namespace shoal {

OwnerLog::OwnerLog(std::filesystem::path path) : path_(std::move(path)) {}

void OwnerLog::write(std::string_view where, std::string_view details) const noexcept {
  try {
    const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) return;
    ::close(fd);
    const auto sink = std::make_shared<spdlog::sinks::basic_file_sink_st>(path_.string(), false);
    spdlog::logger logger("owner", sink);
    logger.set_pattern("%Y-%m-%dT%H:%M:%SZ [%P] %v", spdlog::pattern_time_type::utc);
    logger.info("{}: {}", where, printable(details, 4000));
    logger.flush();
  } catch (...) {
    // Nothing may leave this way; see the header.
    return;
  }
}

}  // namespace shoal
