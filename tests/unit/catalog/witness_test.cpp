// The witness: never goes back, and a write that was cut short loses nothing.
#include "support/child_process.hpp"
#include "support/code_of.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/catalog/witness.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace shoal::catalog {
namespace {

using test::code_of;

WitnessedEntry entry(std::int64_t number) { return {number, fmt::format("{:064x}", number)}; }

class WitnessTest : public testing::Test {
 protected:
  // Spoils one byte of a slot.
  void spoil(std::size_t slot, std::size_t byte) {
    std::string text = read_file(witness_.file());
    text.at(slot * Witness::kSlotBytes + byte) ^= 1;
    write_file_durably(witness_.file(), text, IfExists::replace);
  }

  test::TemporaryFolder folder_{test::Place::memory};
  Witness witness_{folder_ / "w", "people-1"};
};

TEST_F(WitnessTest, KeepsTheLastEntry) {
  EXPECT_FALSE(witness_.read().has_value());
  for (int number = 1; number <= 20; ++number) {
    witness_.keep(entry(number));
    EXPECT_EQ(witness_.read(), entry(number));
    EXPECT_EQ(std::filesystem::file_size(witness_.file()), Witness::kSlotBytes + 512);
  }
}

TEST_F(WitnessTest, NeverGoesBack) {
  witness_.keep(entry(7));
  witness_.keep(entry(3));
  EXPECT_EQ(witness_.read(), entry(7));
  witness_.keep(entry(9));
  witness_.keep(entry(8));
  EXPECT_EQ(witness_.read(), entry(9));
}

// A write that was cut short is a slot that is damaged, in any of its bytes; it is the older one.
TEST_F(WitnessTest, AWriteThatWasCutShortLeavesTheEntryBefore) {
  for (std::size_t byte = 0; byte < 212; ++byte) {
    std::filesystem::remove(witness_.file());
    witness_.keep(entry(5));
    witness_.keep(entry(6));  // into the second slot, or the first
    const std::string text = read_file(witness_.file());
    const bool second = text.find(entry(6).hash) > Witness::kSlotBytes;
    spoil(second ? 1 : 0, byte);
    EXPECT_EQ(witness_.read(), entry(5)) << byte;
    witness_.keep(entry(7));
    EXPECT_EQ(witness_.read(), entry(7)) << byte;
    // The slot that was damaged was the one to be written.
    spoil(second ? 1 : 0, byte);
    EXPECT_EQ(witness_.read(), entry(5)) << byte;
  }
}

TEST_F(WitnessTest, ThatIsDamagedIsNotOverwritten) {
  witness_.keep(entry(5));
  spoil(0, 100);
  spoil(1, 100);
  EXPECT_EQ(code_of([&] { witness_.read(); }), ErrorCode::corrupt);
  EXPECT_EQ(code_of([&] { witness_.keep(entry(6)); }), ErrorCode::corrupt);
  EXPECT_TRUE(witness_.is_damaged());
  write_file_durably(witness_.file(), "", IfExists::replace);
  EXPECT_EQ(code_of([&] { witness_.read(); }), ErrorCode::corrupt);
}

TEST_F(WitnessTest, OfAnotherBudgetIsRefused) {
  witness_.keep(entry(5));
  const Witness other(witness_.file(), "people-2");
  EXPECT_EQ(code_of([&] { other.read(); }), ErrorCode::corrupt);
  EXPECT_EQ(code_of([&] { other.keep(entry(9)); }), ErrorCode::corrupt);
}

TEST_F(WitnessTest, ManyProcessesKeepTheLargest) {
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    children.push_back(test::start_child([&, child] {
      std::int64_t last = 0;
      for (int number = 1 + child; number < 200; number += 4) {
        witness_.keep(entry(number));
        const std::int64_t now = witness_.read()->number;
        if (now < number || now < last) return 1;
        last = now;
      }
      return 0;
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(test::wait_for_child(child).status, 0);
  EXPECT_EQ(witness_.read(), entry(199));
}

TEST_F(WitnessTest, SaysBeforeAnythingIsSpentThatItCannotBeWritten) {
  EXPECT_EQ(code_of([&] { Witness("/proc/none/w", "people-1").require_writable(); }),
            ErrorCode::io);
  EXPECT_NO_THROW(witness_.require_writable());
}

}  // namespace
}  // namespace shoal::catalog
