// Base: the error table, quantities, integers, digests, text and durable files.
#include "support/temporary_folder.hpp"

#include <shoal/base/digest.hpp>
#include <shoal/base/error.hpp>
#include <shoal/base/file.hpp>
#include <shoal/base/int128.hpp>
#include <shoal/base/owner_log.hpp>
#include <shoal/base/quantity.hpp>
#include <shoal/base/text.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <thread>

namespace shoal {
namespace {

TEST(ErrorTable, HasOneRowACodeWithItsOwnExitStatus) {
  std::set<int> statuses;
  std::set<std::string_view> names;
  int index = 0;
  for (const ErrorDoor& door : error_doors()) {
    EXPECT_EQ(static_cast<int>(door.code), index++);
    EXPECT_EQ(&error_door(door.code), &door);
    EXPECT_TRUE(statuses.insert(door.exit_status).second) << door.name;
    EXPECT_TRUE(names.insert(door.name).second) << door.name;
    EXPECT_GT(door.exit_status, 1);
    EXPECT_GE(door.http_status, 400);
    EXPECT_FALSE(door.python_exception.empty());
  }
  EXPECT_EQ(index, 12);
}

TEST(Check, FailsClosedWithTheInternalCode) {
  try {
    SHOAL_CHECK(1 + 1 == 3);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::internal);
    EXPECT_NE(std::string(error.what()).find("base_test.cpp"), std::string::npos);
    EXPECT_EQ(std::string(error.what()).find("/tests/"), std::string::npos);
  }
}

TEST(Quantities, RefuseWhatIsOutOfRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {-1.0, nan, infinity, 1000.5}) EXPECT_THROW(Epsilon{bad}, Error) << bad;
  for (const double bad : {-1e-9, 1.0, nan, infinity}) EXPECT_THROW(Delta{bad}, Error) << bad;
  for (const double bad : {-1.0, nan, infinity}) EXPECT_THROW(Rho{bad}, Error) << bad;
  for (const double bad : {0.0, 1.0, nan, -1.0}) EXPECT_THROW(Confidence{bad}, Error) << bad;
  EXPECT_THROW(Sensitivity{0}, Error);
  EXPECT_EQ(Epsilon(1000).value(), 1000);
  EXPECT_EQ(Delta(0).value(), 0);
}

TEST(Int128, PrintsAndSaturates) {
  EXPECT_EQ(to_string(Int128{0}), "0");
  EXPECT_EQ(to_string(Int128{-42}), "-42");
  EXPECT_EQ(to_string(kInt128Max), "170141183460469231731687303715884105727");
  EXPECT_EQ(to_string(kInt128Min), "-170141183460469231731687303715884105728");
  EXPECT_EQ(saturating_add(kInt128Max, 1), kInt128Max);
  EXPECT_EQ(saturating_add(kInt128Min, -1), kInt128Min);
  EXPECT_EQ(saturating_add(kInt128Max, kInt128Min), -1);
  EXPECT_EQ(saturating_multiply(kInt128Max, -2), kInt128Min);
}

TEST(Digest, KnownAnswersAndUnambiguousFields) {
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_NE(FieldBytes().add("ab").add("c").bytes(), FieldBytes().add("a").add("bc").bytes());
  EXPECT_NE(FieldBytes().add("").bytes(), FieldBytes().bytes());
}

TEST(Text, NumbersReadBackAndNamesAreSuggested) {
  for (const double value : {0.1, 1e-300, 123456789.125, -0.5, 3.0}) {
    EXPECT_EQ(std::stod(format_number(value)), value);
  }
  EXPECT_EQ(format_number(1.0), "1");
  EXPECT_EQ(format_rounded(1234.5678, 6), "1234.57");
  EXPECT_EQ(format_rounded(0.00002, 3), "2e-05");
  const std::vector<std::string> names{"age", "hours", "state"};
  EXPECT_EQ(nearest_name("aeg", names), "age");
  EXPECT_EQ(nearest_name("HOUR", names), "hours");
  EXPECT_FALSE(nearest_name("income", names).has_value());
  EXPECT_EQ(join_names(names), "age, hours and state");
}

TEST(Text, Utf8) {
  EXPECT_TRUE(is_utf8("na\xC3\xAFve", false));
  EXPECT_FALSE(is_utf8("\xFF", false));
  EXPECT_FALSE(is_utf8("\xC3", false));
  EXPECT_TRUE(is_utf8("a\xC3", true));
  // Surrogates, longer than needed, beyond the last code point.
  for (const char* odd : {"\xED\xA0\x80", "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80"})
    EXPECT_FALSE(is_utf8(odd, false));
  EXPECT_TRUE(is_utf8("\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF", false));
  EXPECT_EQ(printable("a\nb\x1B[31m", 100), "a b [31m");
}

class Files : public testing::Test {
 protected:
  test::TemporaryFolder folder_;
};

TEST_F(Files, AreReplacedWholeOrRefused) {
  const auto path = folder_ / "a";
  write_file_durably(path, "one", IfExists::refuse);
  EXPECT_EQ(read_file(path), "one");
  try {
    write_file_durably(path, "two", IfExists::refuse);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::conflict);
  }
  write_file_durably(path, "two", IfExists::replace);
  EXPECT_EQ(read_file(path), "two");
  EXPECT_EQ(read_file_head(path, 2), "tw");
  // No temporary file stays behind.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(Files, ErrorsHaveTheirCode) {
  const auto code_of = [](auto action) {
    try {
      action();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  EXPECT_EQ(code_of([&] { read_file(folder_ / "missing"); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { read_file(folder_.path()); }), ErrorCode::invalid_argument);
  // This one opens, and reading it fails.
  EXPECT_EQ(code_of([&] { read_file("/proc/self/mem"); }), ErrorCode::io);
  EXPECT_EQ(code_of([&] { read_file_head("/proc/self/mem", 4); }), ErrorCode::io);
  EXPECT_EQ(code_of([&] { write_file_durably(folder_ / "no" / "such", "x", IfExists::replace); }),
            ErrorCode::io);
  EXPECT_EQ(code_of([&] { write_file_durably("/dev/full/x", "x", IfExists::replace); }),
            ErrorCode::io);
}

// Whoever reads a file that others move away and back gets all of it, or that there is none.
TEST_F(Files, MayBeMovedWhileTheyAreRead) {
  const std::filesystem::path here = folder_ / "here";
  const std::filesystem::path there = folder_ / "there";
  write_file_durably(here, "whole", IfExists::refuse);
  std::jthread mover([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::filesystem::rename(here, there);
      std::filesystem::rename(there, here);
    }
  });
  for (int i = 0; i < 20000; ++i) {
    try {
      ASSERT_EQ(read_file(here), "whole");
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::not_found) << error.what();
    }
  }
}

TEST_F(Files, TheOwnersLogIsTheOwnersAlone) {
  const OwnerLog log(folder_ / "log");
  log.write("here", "row 7 says\n\"secret\"");
  log.write("there", "again");
  struct stat info {};
  ASSERT_EQ(stat((folder_ / "log").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  const std::string text = read_file(folder_ / "log");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_NE(text.find("here: row 7 says \"secret\""), std::string::npos);
  OwnerLog("/no/such/folder/log").write("x", "y");  // does not throw
}

}  // namespace
}  // namespace shoal
