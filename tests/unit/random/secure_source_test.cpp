// The secure source: streams differ, also across fork(), and nothing is given when entropy or
// memory fails.
#include <shoal/base/error.hpp>
#include <shoal/random/secure_source.hpp>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <type_traits>

namespace {

// What the operating system does when asked for entropy, for as long as a test says so.
enum class Entropy { real, fails, interrupted_once, empty, one_byte };
Entropy entropy = Entropy::real;

}  // namespace

// Takes the place of libc's in this program, so that its failures can be tried without a seam in
// the source.
extern "C" ssize_t getrandom(void* buffer, size_t size, unsigned int flags) {
  switch (entropy) {
    case Entropy::real:
      break;
    case Entropy::fails:
      errno = ENOSYS;
      return -1;
    case Entropy::interrupted_once:
      entropy = Entropy::real;
      errno = EINTR;
      return -1;
    case Entropy::empty:
      return 0;
    case Entropy::one_byte:
      size = 1;
      break;
  }
  return ::syscall(SYS_getrandom, buffer, size, flags);
}

namespace shoal::random {
namespace {

using Block = std::array<unsigned char, 64>;

Block next_block(BitSource& source) {
  Block block{};
  source.fill(block);
  return block;
}

// The block that a forked child draws from the source it inherited.
Block child_block(SecureSource& source) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const Block block = next_block(source);
    const bool written = ::write(ends[1], block.data(), block.size()) == ssize_t{block.size()};
    ::_exit(written ? 0 : 1);
  }
  Block block{};
  EXPECT_EQ(::read(ends[0], block.data(), block.size()), ssize_t{block.size()});
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  return block;
}

TEST(SecureSource, IsNeitherCopiedNorMoved) {
  EXPECT_FALSE(std::is_copy_constructible_v<SecureSource>);
  EXPECT_FALSE(std::is_copy_assignable_v<SecureSource>);
  EXPECT_FALSE(std::is_move_constructible_v<SecureSource>);
}

TEST(SecureSource, TwoSourcesAndTwoBlocksDiffer) {
  SecureSource a;
  SecureSource b;
  const Block first = next_block(a);
  EXPECT_NE(first, next_block(a));
  EXPECT_NE(first, next_block(b));
  EXPECT_NE(first, Block{});
}

TEST(SecureSource, ChildOfForkHasItsOwnStream) {
  SecureSource source;
  next_block(source);  // keyed, with bytes buffered that the child must not see
  const Block first_child = child_block(source);
  const Block second_child = child_block(source);
  const Block parent = next_block(source);
  EXPECT_NE(first_child, parent);
  EXPECT_NE(second_child, parent);
  EXPECT_NE(first_child, second_child);
}

TEST(SecureSource, ChildOfForkBeforeTheFirstUseHasItsOwnStream) {
  SecureSource source;
  EXPECT_NE(child_block(source), next_block(source));
}

TEST(SecureSource, BitsAreBalancedAcrossRefills) {
  // 2^20 bytes: the count of ones is within 6 standard deviations but for a chance of 2e-9.
  SecureSource source;
  std::array<unsigned char, 4096> bytes{};
  long long ones = 0;
  for (int i = 0; i < 256; ++i) {
    source.fill(bytes);
    for (const unsigned char byte : bytes) ones += std::popcount(byte);
  }
  EXPECT_NEAR(static_cast<double>(ones), 4194304.0, 6 * 1448.2);
}

TEST(SecureSource, RequestsLargerThanTheBufferAreFilled) {
  SecureSource source;
  std::vector<unsigned char> bytes(100000, 0);
  source.fill(bytes);
  int zeros = 0;
  for (const unsigned char byte : bytes) zeros += byte == 0 ? 1 : 0;
  // 391 expected, standard deviation 19.7; beyond 7 of them with a chance of 3e-12.
  EXPECT_NEAR(zeros, 391, 140);
}

TEST(SecureSource, RekeyDropsTheBuffer) {
  SecureSource source;
  next_block(source);
  source.rekey();
  EXPECT_NE(next_block(source), Block{});
}

void expect_unavailable(BitSource& source) {
  try {
    next_block(source);
    ADD_FAILURE() << "bytes without entropy";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unavailable);
  }
}

TEST(SecureSource, FailsClosedWithoutEntropy) {
  SecureSource source;
  for (const Entropy broken : {Entropy::fails, Entropy::empty}) {
    entropy = broken;
    expect_unavailable(source);
    expect_unavailable(source);
  }
  entropy = Entropy::real;
  EXPECT_NE(next_block(source), Block{});
}

TEST(SecureSource, FailedRekeyLeavesNothingToUse) {
  SecureSource source;
  next_block(source);
  entropy = Entropy::fails;
  EXPECT_THROW(source.rekey(), Error);
  expect_unavailable(source);
  entropy = Entropy::real;
  EXPECT_NE(next_block(source), Block{});
}

TEST(SecureSource, InterruptedAndShortReadsAreContinued) {
  SecureSource a;
  entropy = Entropy::interrupted_once;
  EXPECT_NE(next_block(a), Block{});
  SecureSource b;
  entropy = Entropy::one_byte;
  EXPECT_NE(next_block(b), Block{});
  entropy = Entropy::real;
}

}  // namespace
}  // namespace shoal::random
