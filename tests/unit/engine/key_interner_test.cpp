// Numbers for texts: the same for equal texts, wherever they lie; never that of what lay there
// before.
#include "engine/key_interner.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace shoal::engine {
namespace {

duckdb_string_t as_duckdb(const std::string& text, char* place) {
  duckdb_string_t string{};
  string.value.inlined.length = static_cast<std::uint32_t>(text.size());
  if (text.size() <= sizeof string.value.inlined.inlined) {
    std::memcpy(string.value.inlined.inlined, text.data(), text.size());
    return string;
  }
  std::memcpy(place, text.data(), text.size());
  std::memcpy(string.value.pointer.prefix, text.data(), sizeof string.value.pointer.prefix);
  string.value.pointer.ptr = place;
  return string;
}

TEST(TextInterner, ATextIsNotItsAddress) {
  TextInterner interner;
  char place[2][64];
  const auto number_of = [&](const std::string& text, int at) {
    const duckdb_string_t string = as_duckdb(text, place[at]);
    std::uint64_t number = 0;
    interner.number_column({Storage::text, &string, nullptr}, 1, &number);
    return number;
  };
  const std::uint64_t first = number_of("a text of some length: 1", 0);
  const std::uint64_t second = number_of("a text of some length: 2", 0);
  EXPECT_NE(first, second);
  EXPECT_EQ(number_of("a text of some length: 1", 1), first);
  EXPECT_EQ(interner.text(second), "a text of some length: 2");
  const std::uint64_t brief = number_of("short", 0);
  EXPECT_EQ(number_of("short", 1), brief);
  EXPECT_NE(number_of("shorT", 0), brief);
  EXPECT_NE(number_of("", 0), brief);
}

TEST(TextInterner, ManyTextsKeepTheirNumbers) {
  TextInterner interner;
  char place[64];
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t i = 0; i < 5'000; ++i) {
      const std::string text = "text number " + std::to_string(i * 7);
      const duckdb_string_t string = as_duckdb(text, place);
      std::uint64_t number = 0;
      interner.number_column({Storage::text, &string, nullptr}, 1, &number);
      ASSERT_EQ(number, i) << text;
      ASSERT_EQ(interner.text(number), text);
    }
  }
}

}  // namespace
}  // namespace shoal::engine
