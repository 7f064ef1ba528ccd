// Who is alive: an identity tells this process from every other, and from itself in an earlier
// life.
#include "base/descriptor.hpp"
#include "base/life_sign.hpp"
#include "support/child_process.hpp"

#include <shoal/base/process.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <csignal>
#include <regex>
#include <string>

namespace shoal {
namespace {

// What the child says before it ends or is ended.
std::string read_line(int fd) {
  std::string line;
  char byte = 0;
  while (::read(fd, &byte, 1) == 1 && byte != '\n') line.push_back(byte);
  return line;
}

struct TalkingChild {
  std::array<int, 2> ends{};
  pid_t pid = 0;
  std::string identity;

  TalkingChild() {
    EXPECT_EQ(::pipe(ends.data()), 0);
    pid = test::start_child([&] {
      const std::string line = process_identity() + "\n";
      if (::write(ends[1], line.data(), line.size()) < 0) return 1;
      while (true) ::pause();
    });
    identity = read_line(ends[0]);
  }
  TalkingChild(const TalkingChild&) = delete;
  TalkingChild& operator=(const TalkingChild&) = delete;
  ~TalkingChild() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  void kill() const { ::kill(pid, SIGKILL); }
};

// The three parts of this process's identity.
std::array<std::string, 3> parts() {
  const std::string identity = process_identity();
  const std::size_t first = identity.find(':');
  const std::size_t second = identity.find(':', first + 1);
  return {identity.substr(0, first), identity.substr(first + 1, second - first - 1),
          identity.substr(second + 1)};
}

TEST(Process, AProcessIsNotGoneToItself) {
  EXPECT_EQ(process_identity(), process_identity());
  EXPECT_FALSE(process_is_gone(process_identity()));
  EXPECT_EQ(parts()[1], std::to_string(::getpid()));
}

TEST(Process, AChildIsAnotherProcess) {
  TalkingChild child;
  EXPECT_NE(child.identity, process_identity());
  EXPECT_FALSE(process_is_gone(child.identity));
  child.kill();
  test::wait_for_child(child.pid);
  EXPECT_TRUE(process_is_gone(child.identity));
}

// A killed process that its parent has not asked after yet writes nothing any more.
TEST(Process, AZombieIsGone) {
  TalkingChild child;
  child.kill();
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(process_is_gone(child.identity));
  test::wait_for_child(child.pid);
}

// It may end between the opening of what tells of it and the reading.
TEST(Process, OneThatEndsWhileItIsLookedAtIsGone) {
  TalkingChild child;
  const Descriptor stat(
      ::open(("/proc/" + std::to_string(child.pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_GE(stat.get(), 0);
  child.kill();
  test::wait_for_child(child.pid);
  EXPECT_EQ(read_life_sign(stat.get()).state, LifeSign::State::gone);
}

// Without a free descriptor nothing can be told of anybody.
TEST(Process, OneThatCannotBeLookedAtCountsAsAlive) {
  TalkingChild child;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const LifeSign::State told = life_sign_of(std::to_string(child.pid)).state;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(told, LifeSign::State::unknown);
  child.kill();
  test::wait_for_child(child.pid);
}

TEST(Process, AnotherStartTimeOrBootIsAnotherProcess) {
  const auto [boot, pid, start] = parts();
  EXPECT_TRUE(process_is_gone(boot + ":" + pid + ":" + start + "0"));
  EXPECT_TRUE(process_is_gone("00000000-0000-0000-0000-000000000000:" + pid + ":" + start));
}

TEST(Process, ANameThatCannotBeReadCountsAsAlive) {
  const auto [boot, pid, start] = parts();
  for (const std::string& name :
       {std::string(), std::string("x"), boot, boot + ":" + pid, ":" + pid + ":" + start,
        boot + "::" + start, boot + ":" + pid + ":", boot + ":" + pid + ":?",
        boot + ":self:" + start, boot + ":1/../" + pid + ":1"}) {
    EXPECT_FALSE(process_is_gone(name)) << name;
  }
}

TEST(Process, TimeIsWrittenInUtc) {
  const std::regex form(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)");
  EXPECT_TRUE(std::regex_match(utc_now(), form)) << utc_now();
}

}  // namespace
}  // namespace shoal
