// What LIKE means, by the book, and random patterns and texts that meet often: few characters,
// among them those of two and four bytes, ends of lines and every sign of regular expressions.
#pragma once

#include "support/seeded_source.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace shoal::test {

inline std::vector<std::string> characters_of(const std::string& text) {
  std::vector<std::string> all;
  for (const char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
    if (continues && !all.empty()) {
      all.back() += c;
    } else {
      all.emplace_back(1, c);
    }
  }
  return all;
}

// reached[i]: the pattern so far matches the first i characters.
inline bool matches_like(const std::string& text, const std::string& pattern) {
  const std::vector<std::string> characters = characters_of(text);
  std::vector<bool> reached(characters.size() + 1, false);
  reached[0] = true;
  for (const std::string& sign : characters_of(pattern)) {
    std::vector<bool> next(reached.size(), false);
    for (std::size_t i = 0; i < reached.size(); ++i) {
      if (sign == "%") {
        next[i] = reached[i] || (i > 0 && next[i - 1]);
      } else if (i > 0) {
        next[i] = reached[i - 1] && (sign == "_" || sign == characters[i - 1]);
      }
    }
    reached = next;
  }
  return reached.back();
}

class LikeGenerator {
 public:
  explicit LikeGenerator(std::uint64_t seed) : bits_(seed) {}

  std::string text() { return made_of(kCharacters, 10); }

  std::string pattern() {
    std::vector<std::string> parts = kCharacters;
    for (int i = 0; i < 24; ++i) parts.emplace_back("%");
    for (int i = 0; i < 6; ++i) parts.emplace_back("_");
    return made_of(parts, 12);
  }

 private:
  std::string made_of(const std::vector<std::string>& parts, std::uint64_t most) {
    std::string text;
    // Mostly the first few, so that texts match.
    for (std::uint64_t left = bits_.next_bits(32) % (most + 1); left > 0; --left) {
      const bool any = bits_.next_bits(2) == 0 || parts.size() > kCharacters.size();
      text += parts[bits_.next_bits(32) % (any ? parts.size() : 3)];
    }
    return text;
  }

  inline static const std::vector<std::string> kCharacters = {
      "a",  "b", "\xC3\xA9", "\n", "\xF0\x9F\x90\x9F",
      "\\", ".", "[",        "]",  "{",
      "}",  "(", ")",        "*",  "+",
      "?",  "^", "$",        "|",  "/",
      "-",  "'", " ",        "A"};

  SeededSource bits_;
};

}  // namespace shoal::test
