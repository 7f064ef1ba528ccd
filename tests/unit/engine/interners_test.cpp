// Numbers for texts: the same for equal texts, wherever they lie; never that of what lay there
// before.
#include "engine/interners.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace shoal::engine {
namespace {

TEST(TextInterner, ATextIsNotItsAddress) {
  TextInterner interner;
  char place[2][64];
  const auto number_of = [&](const std::string& text, int at) {
    std::memcpy(place[at], text.data(), text.size());
    return interner.number({place[at], text.size()});
  };
  const GroupNumber first = number_of("a text of some length: 1", 0);
  const GroupNumber second = number_of("a text of some length: 2", 0);
  EXPECT_NE(first, second);
  EXPECT_EQ(number_of("a text of some length: 1", 1), first);
  EXPECT_EQ(interner.text(second), "a text of some length: 2");
  const GroupNumber brief = number_of("short", 0);
  EXPECT_EQ(number_of("short", 1), brief);
  EXPECT_NE(number_of("shorT", 0), brief);
  EXPECT_NE(number_of("", 0), brief);
}

TEST(TextInterner, ManyTextsKeepTheirNumbers) {
  TextInterner interner;
  for (int round = 0; round < 2; ++round) {
    for (GroupNumber i = 0; i < 5'000; ++i) {
      const std::string text = "text number " + std::to_string(i * 7);
      ASSERT_EQ(interner.number(text), i) << text;
      ASSERT_EQ(interner.text(i), text);
    }
  }
}

TEST(WordInterner, ManyTuplesKeepTheirNumbers) {
  for (const std::size_t words : {1u, 2u, 3u}) {
    WordInterner interner(words);
    for (int round = 0; round < 2; ++round) {
      for (GroupNumber i = 0; i < 40'000; ++i) {
        // Small words, large ones, and tuples that differ in their last word alone.
        std::uint64_t tuple[3] = {0, 0, 0};
        tuple[words - 1] = i % 2 == 0 ? i : ~std::uint64_t{0} - i;
        ASSERT_EQ(interner.number(tuple), i);
        ASSERT_EQ(interner.tuple(i)[words - 1], tuple[words - 1]);
      }
      ASSERT_EQ(interner.size(), 40'000u);
    }
  }
}

}  // namespace
}  // namespace shoal::engine
