// The secure source on each of its key streams: streams differ, also across fork(), keys and used
// bytes are erased, and nothing is given when entropy, cipher or memory fails.
#include "random/key_stream.hpp"

#include <shoal/base/error.hpp>
#include <shoal/random/secure_source.hpp>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

// What the operating system does when asked for entropy, for as long as a test says so.
enum class Entropy { real, fails, interrupted_once, empty, one_byte };
Entropy entropy = Entropy::real;

// The last entropy given to this thread, masked so that this copy is not found when memory is
// searched for it.
constexpr unsigned char kMask = 0x5a;
thread_local std::array<unsigned char, 32> masked_key{};

// The cipher fails at the call with this number, counted down from here; never if negative.
int failing_update = -1;

}  // namespace

// These take the place of the libraries' in this program, so that failures can be tried without a
// seam in the source.
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
  const ssize_t got = ::syscall(SYS_getrandom, buffer, size, flags);
  if (size == masked_key.size()) {
    for (size_t i = 0; i < size; ++i) {
      masked_key[i] = static_cast<unsigned char>(static_cast<unsigned char*>(buffer)[i] ^ kMask);
    }
  }
  return got;
}

extern "C" int EVP_EncryptUpdate(EVP_CIPHER_CTX* context, unsigned char* out, int* written,
                                 const unsigned char* in, int size) {
  static const auto original =
      reinterpret_cast<decltype(&EVP_EncryptUpdate)>(::dlsym(RTLD_NEXT, "EVP_EncryptUpdate"));
  const bool fails = failing_update >= 0 && failing_update-- == 0;
  const int result = original(context, out, written, in, size);
  return fails ? 0 : result;  // with the bytes written: the worst that it could do
}

namespace shoal::random {
namespace {

using Block = std::array<unsigned char, 64>;
using Bytes = std::vector<unsigned char>;

constexpr std::size_t kLarge = 20000;  // more than is buffered, and served without the buffer

Block next_block(BitSource& source) {
  Block block{};
  source.fill(block);
  return block;
}

Bytes next_bytes(BitSource& source, std::size_t size) {
  Bytes bytes(size, 0);
  source.fill(bytes);
  return bytes;
}

// What `draw` gives in a forked child.
template <typename Draw>
Bytes in_child(const Draw& draw) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const Bytes bytes = draw();
    const bool written =
        ::write(ends[1], bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    ::_exit(written ? 0 : 1);
  }
  ::close(ends[1]);
  Bytes bytes;
  Block piece{};
  for (ssize_t got = 0; (got = ::read(ends[0], piece.data(), piece.size())) > 0;) {
    bytes.insert(bytes.end(), piece.begin(), piece.begin() + got);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ::close(ends[0]);
  return bytes;
}

Bytes joined(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

// Whether eight bytes occur twice, at whatever distance. Among a million by chance: 3e-8.
bool repeats(const Bytes& bytes) {
  std::vector<std::uint64_t> windows;
  for (std::size_t i = 0; i + 8 <= bytes.size(); ++i) {
    std::uint64_t window = 0;
    std::memcpy(&window, bytes.data() + i, 8);
    windows.push_back(window);
  }
  std::sort(windows.begin(), windows.end());
  return std::adjacent_find(windows.begin(), windows.end()) != windows.end();
}

struct Region {
  unsigned char* begin;
  unsigned char* end;

  bool contains(const Bytes& bytes) const {
    return std::search(begin, end, bytes.begin(), bytes.end()) != end;
  }
};

// The mappings of this process that are wiped on fork and left out of dumps: the sources' states.
std::vector<Region> secret_mappings() {
  std::ifstream maps("/proc/self/smaps");
  std::vector<Region> regions;
  Region region{};
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (const auto dash = word.find('-'); dash != std::string::npos && word.back() != ':') {
      region.begin = reinterpret_cast<unsigned char*>(std::stoull(word, nullptr, 16));
      region.end =
          reinterpret_cast<unsigned char*>(std::stoull(word.substr(dash + 1), nullptr, 16));
    }
    if (word != "VmFlags:") continue;
    if (line.find(" wf") != std::string::npos && line.find(" dd") != std::string::npos) {
      regions.push_back(region);
    }
  }
  return regions;
}

// The first half of the last entropy given, which is also the first round key of AES.
Bytes last_key() {
  Bytes key(masked_key.begin(), masked_key.begin() + 16);
  for (unsigned char& byte : key) byte ^= kMask;
  return key;
}

void expect_unavailable(BitSource& source) {
  for (const std::size_t size : {std::size_t{64}, kLarge}) {
    Bytes bytes(size, 0);
    try {
      source.fill(bytes);
      ADD_FAILURE() << "bytes without entropy";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unavailable);
    }
    EXPECT_EQ(bytes, Bytes(size, 0));
  }
  EXPECT_THROW(source.next_u64(), Error);
}

TEST(SecureSource, IsNeitherCopiedNorMoved) {
  EXPECT_FALSE(std::is_copy_constructible_v<SecureSource>);
  EXPECT_FALSE(std::is_copy_assignable_v<SecureSource>);
  EXPECT_FALSE(std::is_move_constructible_v<SecureSource>);
}

TEST(SecureSource, ChoosesItsCipher) {
  SecureSource source;
  EXPECT_NE(next_block(source), Block{});
  if (!can_run(KeyStream::vaes)) {
    EXPECT_THROW(SecureSource{KeyStream::vaes}, Error);
  }
}

class SecureSourceOn : public testing::TestWithParam<KeyStream> {
 protected:
  void SetUp() override {
    if (!can_run(GetParam())) GTEST_SKIP() << "this processor has no VAES";
  }
};

INSTANTIATE_TEST_SUITE_P(EachStream, SecureSourceOn,
                         testing::Values(KeyStream::vaes, KeyStream::openssl_aes,
                                         KeyStream::openssl_chacha20));

TEST_P(SecureSourceOn, TwoSourcesAndTwoBlocksDiffer) {
  SecureSource a(GetParam());
  SecureSource b(GetParam());
  const Block first = next_block(a);
  EXPECT_NE(first, next_block(a));
  EXPECT_NE(first, next_block(b));
  EXPECT_NE(first, Block{});
}

TEST_P(SecureSourceOn, TwoThreadsDiffer) {
  std::array<Bytes, 2> drawn;
  std::array<std::thread, 2> threads;
  for (std::size_t i = 0; i < 2; ++i) {
    threads[i] = std::thread([&, i] {
      SecureSource source(GetParam());
      drawn[i] = joined(next_bytes(source, 100), next_bytes(source, kLarge));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(repeats(joined(drawn[0], drawn[1])));
}

// Keyed and half used, keyed by a large request with nothing buffered, and not used at all: child
// and grandchild have streams of their own, whatever they ask for first.
TEST_P(SecureSourceOn, ChildAndGrandchildHaveTheirOwnStream) {
  for (const std::size_t used : {std::size_t{0}, std::size_t{64}, std::size_t{3001}, kLarge}) {
    for (const std::size_t size : {std::size_t{64}, kLarge}) {
      SecureSource source(GetParam());
      next_bytes(source, used);
      const auto draw = [&] { return next_bytes(source, size); };
      const auto draw_twice = [&] {
        const Bytes child = draw();
        const Bytes grandchild = in_child(draw);
        return joined(joined(child, grandchild), draw());
      };
      Bytes all = in_child(draw_twice);
      all = joined(all, in_child(draw));
      EXPECT_EQ(all.size(), 4 * size);
      EXPECT_FALSE(repeats(joined(all, draw()))) << used << " used, " << size << " drawn";
    }
  }
}

TEST_P(SecureSourceOn, SmallAndLargeRequestsNeverRepeat) {
  SecureSource source(GetParam());
  Bytes all;
  for (std::size_t i = 0; i < 400; ++i) {
    all = joined(std::move(all), next_bytes(source, (i * 7) % 83));
    all = joined(std::move(all), next_bytes(source, i % 40 == 0 ? 4096 + i : i));
    const std::uint64_t word = source.next_u64();
    Bytes bytes(8);
    std::memcpy(bytes.data(), &word, 8);
    all = joined(std::move(all), bytes);
  }
  EXPECT_GT(all.size(), 100000U);
  EXPECT_FALSE(repeats(all));
}

TEST_P(SecureSourceOn, AMegabyteHasNoRepeats) {
  SecureSource source(GetParam());
  EXPECT_FALSE(repeats(next_bytes(source, (std::size_t{1} << 20) + 5)));
}

TEST_P(SecureSourceOn, BitsAreBelowTheirBoundAndReachIt) {
  SecureSource source(GetParam());
  EXPECT_EQ(source.next_bits(0), 0U);
  for (int count = 1; count <= 64; ++count) {
    std::uint64_t seen = 0;
    for (int i = 0; i < 64; ++i) seen |= source.next_bits(count);
    // A bit that is never one in 64 draws: 64 * 65 / 2 bits at 2^-64 each, 1.2e-16.
    EXPECT_EQ(seen, ~std::uint64_t{0} >> (64 - count));
  }
  EXPECT_THROW(source.next_bits(65), Error);
  EXPECT_THROW(source.next_bits(-1), Error);
}

TEST_P(SecureSourceOn, KeysAreErasedByEachRun) {
  SecureSource source(GetParam());
  for (const std::size_t size : {std::size_t{64}, kLarge}) {
    source.rekey();
    const auto mappings = secret_mappings();
    ASSERT_EQ(mappings.size(), 1U);
    EXPECT_TRUE(mappings[0].contains(last_key()));  // or the search would show nothing below
    next_bytes(source, size);
    EXPECT_FALSE(mappings[0].contains(last_key())) << size;
  }
}

#if defined(__OPTIMIZE__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
// The stack below this frame is where a cipher would leave its round keys. Sanitizers and builds
// without optimisation make copies of their own, and only GCC tells in a macro that it sanitizes.
TEST_P(SecureSourceOn, NeitherKeysNorBytesAreLeftOnTheStack) {
  SecureSource source(GetParam());
  for (const std::size_t size : {std::size_t{64}, kLarge}) {
    source.rekey();
    const Bytes bytes = next_bytes(source, size);
    const Bytes last(bytes.end() - 16, bytes.end());
    const Bytes key = last_key();
    auto* frame = static_cast<unsigned char*>(__builtin_frame_address(0));
    EXPECT_FALSE((Region{frame - 8192, frame}.contains(key))) << size;
    EXPECT_FALSE((Region{frame - 8192, frame}.contains(last))) << size;
  }
}
#endif

TEST_P(SecureSourceOn, UsedBytesAreErased) {
  SecureSource source(GetParam());
  next_block(source);
  const auto mappings = secret_mappings();
  ASSERT_EQ(mappings.size(), 1U);
  for (const int size : {8, 9, 16, 31, 64, 65, 1000, 4096}) {
    const Bytes bytes = next_bytes(source, static_cast<std::size_t>(size));
    EXPECT_FALSE(mappings[0].contains(Bytes(bytes.begin(), bytes.begin() + 8))) << size;
    EXPECT_FALSE(mappings[0].contains(Bytes(bytes.end() - 8, bytes.end()))) << size;
  }
  const std::uint64_t word = source.next_u64();
  Bytes bytes(8);
  std::memcpy(bytes.data(), &word, 8);
  EXPECT_FALSE(mappings[0].contains(bytes));
}

class SecureSourceOnOpenssl : public SecureSourceOn {};

INSTANTIATE_TEST_SUITE_P(EachStream, SecureSourceOnOpenssl,
                         testing::Values(KeyStream::openssl_aes, KeyStream::openssl_chacha20));

// The cipher fails when it makes the next key, and when it makes the bytes. Our own kernel has
// nothing that could fail.
TEST_P(SecureSourceOnOpenssl, FailingCipherLeavesNothingToUse) {
  for (const int call : {0, 1}) {
    for (const std::size_t size : {std::size_t{64}, kLarge}) {
      SecureSource source(GetParam());
      const Bytes before = next_bytes(source, size == kLarge ? 64 : kLarge);
      failing_update = call;
      Bytes bytes(size, 0);
      EXPECT_THROW(source.fill(bytes), Error);
      EXPECT_EQ(failing_update, -1);  // it did fail there
      EXPECT_EQ(bytes, Bytes(size, 0));
      entropy = Entropy::fails;
      expect_unavailable(source);
      entropy = Entropy::real;
      EXPECT_FALSE(repeats(joined(before, next_bytes(source, kLarge))));
    }
  }
}

TEST_P(SecureSourceOn, FailsClosedWithoutEntropy) {
  SecureSource source(GetParam());
  for (const Entropy broken : {Entropy::fails, Entropy::empty}) {
    entropy = broken;
    expect_unavailable(source);
    expect_unavailable(source);
  }
  entropy = Entropy::real;
  EXPECT_NE(next_block(source), Block{});
}

TEST_P(SecureSourceOn, FailedRekeyLeavesNothingToUse) {
  SecureSource source(GetParam());
  next_block(source);
  entropy = Entropy::fails;
  EXPECT_THROW(source.rekey(), Error);
  expect_unavailable(source);
  entropy = Entropy::real;
  EXPECT_NE(next_block(source), Block{});
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
