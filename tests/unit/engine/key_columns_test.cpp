// Numbers of key values: one a value, the same on every thread, none for NULL and NaN.
#include "engine/key_columns.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <thread>

namespace shoal::engine {
namespace {

GroupShape shape_of(KeyType type) {
  GroupedRequest request;
  request.keys = {type};
  request.sets = {{{0}, 1}};
  return GroupShape(request);
}

TEST(KeyColumns, ThreadsAgree) {
  const GroupShape shape = shape_of(KeyType::integer);
  KeyColumns columns(shape, {Storage::bits64});
  constexpr std::size_t kValues = 3'000;
  std::vector<std::vector<GroupNumber>> numbers(4, std::vector<GroupNumber>(kValues));
  std::vector<std::thread> threads;
  for (std::size_t own = 0; own < numbers.size(); ++own) {
    threads.emplace_back([&, own] {
      // Each in an order of its own, small values and large ones.
      for (std::size_t i = 0; i < kValues; ++i) {
        const std::size_t at = own % 2 == 0 ? i : kValues - 1 - i;
        const std::int64_t value =
            at % 3 == 0 ? -static_cast<std::int64_t>(at) : static_cast<std::int64_t>(at * at);
        columns.number(0, {Storage::bits64, &value, nullptr}, 1, &numbers[own][at]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& others : numbers) EXPECT_EQ(others, numbers[0]);
  std::vector<GroupNumber> sorted = numbers[0];
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < kValues; ++i) ASSERT_EQ(sorted[i], i + 1);
}

TEST(KeyColumns, NoNumberForNullAndNaNAndOneForBothZeros) {
  const GroupShape shape = shape_of(KeyType::real);
  KeyColumns columns(shape, {Storage::bits64});
  const double values[] = {0.0, -0.0, std::numeric_limits<double>::quiet_NaN(), 1.5, 7.0};
  const std::uint64_t validity = 0b01111;
  GroupNumber numbers[5];
  columns.number(0, {Storage::bits64, values, &validity}, 5, numbers);
  EXPECT_EQ(std::vector<GroupNumber>(numbers, numbers + 5),
            (std::vector<GroupNumber>{1, 1, 0, 2, 0}));
  EXPECT_EQ(columns.bytes(0, 0), std::string(1, '\0'));
  EXPECT_NE(columns.bytes(0, 1), columns.bytes(0, 2));
}

}  // namespace
}  // namespace shoal::engine
