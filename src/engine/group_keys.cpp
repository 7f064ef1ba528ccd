#include "engine/group_keys.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <fmt/format.h>

#include <bit>
#include <chrono>
#include <cstring>
#include <limits>
#include <utility>

namespace shoal::engine {

GroupNumber GroupKeys::add(std::string bytes) {
  const std::uint64_t hash = mix(hash_text(hash_key_, bytes), hash_word(hash_key_, set_));
  return add(std::move(bytes), hash);
}

GroupNumber GroupKeys::add(std::string bytes, std::uint64_t hash) {
  // One number stays free: tables mark an empty place with it.
  SHOAL_CHECK(bytes_.size() < std::numeric_limits<GroupNumber>::max() - 1);
  hashes_.push_back(hash);
  bytes_.push_back(std::move(bytes));
  return static_cast<GroupNumber>(bytes_.size() - 1);
}

GroupNumber KeyIndex::find_or_add(const std::string& bytes) {
  const auto found = numbers_.find(bytes);
  if (found != numbers_.end()) return found->second;
  const GroupNumber number = keys_.add(bytes);
  numbers_.emplace(keys_.bytes(number), number);
  return number;
}

std::vector<GroupNumber> KeyIndex::absorb(const GroupKeys& other) {
  std::vector<GroupNumber> numbers;
  numbers.reserve(other.size());
  for (std::size_t i = 0; i < other.size(); ++i)
    numbers.push_back(find_or_add(other.bytes(static_cast<GroupNumber>(i))));
  return numbers;
}

void append_null(std::string& bytes) { bytes += '\0'; }

void append_word(std::string& bytes, std::uint64_t word) {
  bytes += '\1';
  bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
}

void append_text(std::string& bytes, std::string_view text) {
  append_word(bytes, text.size());
  bytes += text;
}

namespace {

std::string date_text(std::int64_t days) {
  // DuckDB keeps infinities at the ends of the range.
  if (days == std::numeric_limits<std::int32_t>::max()) return "infinity";
  if (days == -std::numeric_limits<std::int32_t>::max()) return "-infinity";
  const std::chrono::sys_days day{std::chrono::days{days}};
  // Beyond the calendar's 16-bit years the number of days itself is the name.
  if (days < -12'000'000 || days > 11'000'000) return fmt::format("{} days", days);
  const std::chrono::year_month_day date{day};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

std::string timestamp_text(std::int64_t microseconds) {
  if (microseconds == std::numeric_limits<std::int64_t>::max()) return "infinity";
  if (microseconds == -std::numeric_limits<std::int64_t>::max()) return "-infinity";
  constexpr std::int64_t kSecond = 1'000'000;
  constexpr std::int64_t kDay = 86'400 * kSecond;
  const std::int64_t days = microseconds / kDay - (microseconds % kDay < 0 ? 1 : 0);
  const std::int64_t within = microseconds - days * kDay;
  const std::int64_t seconds = within / kSecond;
  std::string text = fmt::format("{} {:02}:{:02}:{:02}", date_text(days), seconds / 3600,
                                 seconds / 60 % 60, seconds % 60);
  if (within % kSecond != 0) {
    text += fmt::format(".{:06}", within % kSecond);
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text;
}

std::string word_text(std::uint64_t word, KeyType type) {
  const auto number = static_cast<std::int64_t>(word);
  switch (type) {
    case KeyType::real:
      return format_number(std::bit_cast<double>(word));
    case KeyType::boolean:
      return number != 0 ? "true" : "false";
    case KeyType::date:
      return date_text(number);
    case KeyType::timestamp:
      return timestamp_text(number);
    case KeyType::integer:
    case KeyType::text:
      break;
  }
  return fmt::format("{}", number);
}

}  // namespace

catalog::Key read_key(std::string_view bytes, std::span<const KeyType> types) {
  catalog::Key key;
  for (const KeyType type : types) {
    SHOAL_CHECK(!bytes.empty());
    const bool null = bytes[0] == '\0';
    bytes.remove_prefix(1);
    if (null) {
      key.emplace_back();
      continue;
    }
    std::uint64_t word = 0;
    SHOAL_CHECK(bytes.size() >= sizeof word);
    std::memcpy(&word, bytes.data(), sizeof word);
    bytes.remove_prefix(sizeof word);
    if (type == KeyType::text) {
      SHOAL_CHECK(bytes.size() >= word);
      key.emplace_back(bytes.substr(0, word));
      bytes.remove_prefix(word);
    } else {
      key.emplace_back(word_text(word, type));
    }
  }
  return key;
}

}  // namespace shoal::engine
