// The key streams against the published vectors, and our own kernel against OpenSSL byte for byte.
#include "random/key_stream.hpp"

#include <shoal/base/error.hpp>

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::random {
namespace {

using Bytes = std::vector<unsigned char>;

Bytes from_hex(std::string_view text) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(
        static_cast<unsigned char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

Bytes exclusive_or(Bytes left, const Bytes& right) {
  for (std::size_t i = 0; i < left.size(); ++i) left[i] ^= right.at(i);
  return left;
}

StreamStart start_at(const Bytes& bytes) {
  StreamStart start{};
  std::copy_n(bytes.begin(), start.size(), start.begin());
  return start;
}

// The first `size` bytes of the stream, from 32 on: what becomes the next key, then the rest. The
// rest lies `offset` bytes from an aligned address, between guards that must survive.
Bytes stream_of(KeyStream stream, const Bytes& key, const StreamStart& start, std::size_t size,
                std::size_t offset = 0) {
  constexpr unsigned char kGuard = 0xa5;
  std::array<unsigned char, kKeySize> head{};
  std::copy_n(key.begin(), kKeySize, head.begin());
  const std::size_t rest = size - kKeySize;
  Bytes memory(offset + rest + 64, kGuard);
  run_key_stream(stream, head, start, std::span(memory).subspan(offset, rest));
  const auto first = memory.begin() + static_cast<std::ptrdiff_t>(offset);
  const auto last = first + static_cast<std::ptrdiff_t>(rest);
  Bytes all(size, 0);
  std::copy(first, last, std::copy(head.begin(), head.end(), all.begin()));
  EXPECT_EQ(std::count(memory.begin(), first, kGuard), first - memory.begin());
  EXPECT_EQ(std::count(last, memory.end(), kGuard), memory.end() - last);
  return all;
}

// OpenSSL's AES-256-CTR, called as its manual says and not through the code under test.
Bytes openssl_reference(const Bytes& key, const StreamStart& start, std::size_t size) {
  Bytes bytes(size, 0);
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  int written = 0;
  EXPECT_EQ(EVP_EncryptInit_ex(context, EVP_aes_256_ctr(), nullptr, key.data(), start.data()), 1);
  EXPECT_EQ(EVP_EncryptUpdate(context, bytes.data(), &written, bytes.data(),
                              static_cast<int>(bytes.size())),
            1);
  EVP_CIPHER_CTX_free(context);
  return bytes;
}

class AesStream : public testing::TestWithParam<KeyStream> {
 protected:
  void SetUp() override {
    if (!can_run(GetParam())) GTEST_SKIP() << "this processor has no VAES";
  }
};

INSTANTIATE_TEST_SUITE_P(Both, AesStream, testing::Values(KeyStream::vaes, KeyStream::openssl_aes));

// FIPS 197, appendix C.3: the block is taken as the counter, so that the stream is its encryption.
TEST_P(AesStream, EncryptsTheBlockOfFips197) {
  const Bytes key = from_hex("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
  const StreamStart start = start_at(from_hex("00112233445566778899aabbccddeeff"));
  Bytes stream = stream_of(GetParam(), key, start, 32);
  stream.resize(16);
  EXPECT_EQ(stream, from_hex("8ea2b7ca516745bfeafc49904b496089"));
}

// NIST SP 800-38A, F.5.5 CTR-AES256.Encrypt: the stream is plaintext xor ciphertext.
TEST_P(AesStream, IsTheCounterModeOfSp80038a) {
  const Bytes key = from_hex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4");
  const StreamStart start = start_at(from_hex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"));
  const Bytes plain = from_hex(
      "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
      "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710");
  const Bytes cipher = from_hex(
      "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
      "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6");
  EXPECT_EQ(stream_of(GetParam(), key, start, 64), exclusive_or(plain, cipher));
}

TEST_P(AesStream, EqualsOpensslAtEveryLength) {
  Bytes key = from_hex("8f1d3c5a7b9e0f2143658709badcfe10a1b2c3d4e5f60718293a4b5c6d7e8f90");
  std::vector<std::size_t> sizes = {4095, 4096, 4128, 16352, 16353, 65536, 65567, 65568, 1048583};
  for (std::size_t size = 32; size <= 1100; ++size) sizes.push_back(size);
  for (const std::size_t size : sizes) {
    key[size % kKeySize] ^= static_cast<unsigned char>(size);
    ASSERT_EQ(stream_of(GetParam(), key, {}, size, size % 37), openssl_reference(key, {}, size))
        << size;
  }
}

// Where a counter of 32 bits would wrap, and where bytes carry.
TEST_P(AesStream, CarriesAsOpensslDoes) {
  const Bytes key = from_hex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4");
  for (const char* text :
       {"000000000000000000000000fffffff5", "0000000000000000000000ffffffffff",
        "ffffffffffffffff00ffffffffffff00", "0123456789abcdef7ffffffffffffffe"}) {
    const StreamStart start = start_at(from_hex(text));
    EXPECT_EQ(stream_of(GetParam(), key, start, 1000), openssl_reference(key, start, 1000)) << text;
  }
}

TEST(KeyStream, RefusesToWrapTheLowerHalfOfTheCounter) {
  if (!can_run(KeyStream::vaes)) GTEST_SKIP() << "this processor has no VAES";
  std::array<unsigned char, kKeySize> key{};
  std::array<unsigned char, 256> bytes{};
  StreamStart start{};
  start.fill(0xff);
  EXPECT_THROW(run_key_stream(KeyStream::vaes, key, start, bytes), Error);
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 0), 256);
}

// RFC 8439, 2.3.2: the block function.
TEST(KeyStream, ChachaBlockOfRfc8439) {
  const Bytes key = from_hex("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
  const StreamStart start = start_at(from_hex("01000000000000090000004a00000000"));
  EXPECT_EQ(stream_of(KeyStream::openssl_chacha20, key, start, 64),
            from_hex("10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
                     "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"));
}

// RFC 8439, 2.4.2: more than one block; the stream is plaintext xor ciphertext.
TEST(KeyStream, ChachaStreamOfRfc8439) {
  constexpr std::string_view kText =
      "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
      "sunscreen would be it.";
  const Bytes key = from_hex("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
  const StreamStart start = start_at(from_hex("01000000000000000000004a00000000"));
  const Bytes cipher = from_hex(
      "6e2e359a2568f98041ba0728dd0d6981e97e7aec1d4360c20a27afccfd9fae0b"
      "f91b65c5524733ab8f593dabcd62b3571639d624e65152ab8f530c359f0861d8"
      "07ca0dbf500d6a6156a38e088a22b65e52bc514d16ccf806818ce91ab7793736"
      "5af90bbf74a35be6b40b8eedf2785e42874d");
  EXPECT_EQ(stream_of(KeyStream::openssl_chacha20, key, start, kText.size()),
            exclusive_or(Bytes(kText.begin(), kText.end()), cipher));
}

TEST(KeyStream, TheBestIsOurKernelWhereItRuns) {
  EXPECT_TRUE(can_run(best_key_stream()));
  EXPECT_TRUE(can_run(KeyStream::openssl_aes));
  EXPECT_TRUE(can_run(KeyStream::openssl_chacha20));
  EXPECT_EQ(best_key_stream() == KeyStream::vaes, can_run(KeyStream::vaes));
}

}  // namespace
}  // namespace shoal::random
