// Settling: what becomes of a file, when it has to be done again, and what is left behind.
#include "engine/duckdb_connection.hpp"
#include "engine/settled_rows.hpp"
#include "engine/source.hpp"
#include "support/code_of.hpp"
#include "support/settled_engine.hpp"
#include "support/temporary_folder.hpp"

#include <shoal/base/file.hpp>
#include <shoal/catalog/rows_manifest.hpp>
#include <shoal/engine/engine.hpp>
#include <shoal/engine/settle.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <set>

namespace shoal::engine {
namespace {

using catalog::Column;
using catalog::ColumnType;
using catalog::SettledKind;
using test::code_of;

using Rows = std::vector<std::vector<std::string>>;

class SettleTest : public testing::Test {
 protected:
  SettleTest() {
    policy_.folder = folder_.path();
    table_.name = "t";
    table_.source = "t.csv";
    table_.columns = {column("id", ColumnType::integer), column("x", ColumnType::real)};
  }

  static Column column(const char* name, ColumnType type) {
    Column made;
    made.name = name;
    made.type = type;
    return made;
  }

  void write(const std::string& text, const char* name = "t.csv") {
    write_file_durably(folder_ / name, text, IfExists::replace);
  }

  // As a question does it.
  void open() { open_engine(policy_, std::array{&std::as_const(table_)}, test::no_budget); }

  Settled settle() { return report().when; }
  SettledReport report() { return settle_rows(policy_, table_, test::no_budget); }

  std::filesystem::path data() const { return folder_ / table_.source; }
  std::filesystem::path folder() const { return data().string() + ".rows"; }
  catalog::SettledRows settled() const { return catalog::RowsManifest(data()).settled().at(0); }
  std::filesystem::path snapshot() const { return folder() / settled().file; }

  std::set<std::string> names() const {
    std::set<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder()))
      all.insert(entry.path().filename());
    return all;
  }

  // In the order of the file.
  Rows rows() const {
    DuckdbConnection connection(InsertionOrder::kept);
    return connection.rows("SELECT CAST(COLUMNS(*) AS VARCHAR) FROM " + parquet_source(snapshot()));
  }

  static void touch(const std::filesystem::path& path) {
    std::filesystem::last_write_time(
        path, std::filesystem::last_write_time(path) + std::chrono::seconds(5));
  }

  // A Parquet file of one statement's rows.
  void write_parquet(const std::string& select, const std::string& options = "") {
    table_.source = "t.parquet";
    table_.format = catalog::SourceFormat::parquet;
    DuckdbConnection connection(InsertionOrder::kept);
    connection.run(fmt::format("COPY ({}) TO {} (FORMAT parquet{})", select,
                               quoted(data().string()), options));
  }

  test::TemporaryFolder folder_;
  catalog::Policy policy_;
  catalog::Table table_;
};

TEST_F(SettleTest, ASnapshotHasThePolicysTypesAndNothingElse) {
  write("note,x,id\nsecret,1.5,2\n,nan,abc\n,1e999,7.6\n");
  open();
  EXPECT_EQ(rows(), (Rows{{"1.5", "2"}, {"", ""}, {"inf", "8"}}));
  EXPECT_EQ(settled().rows, 3);
  EXPECT_EQ(settled().kind, SettledKind::snapshot);
  EXPECT_EQ(names(), (std::set<std::string>{"lock", "rows.toml", settled().file}));
}

TEST_F(SettleTest, TheOwnerIsToldOfOddRowsAlsoLater) {
  table_.columns.push_back(column("note", ColumnType::text));
  write("note,x,id\n a,1.5,1\nb\t,x,2\nc,-NaN,3\n\"d\ne\",2,4\n ,,\n");
  const auto is = [](const RowReport& found) {
    EXPECT_EQ(found.rows, 5);
    ASSERT_EQ(found.problems.size(), 5U);
    EXPECT_EQ(found.problems[0].column, "note");
    EXPECT_TRUE(found.problems[0].what.starts_with("holds a line break"));
    EXPECT_EQ(found.problems[1].rows, 3);
    EXPECT_TRUE(found.problems[1].what.starts_with("begins or ends with a blank"));
    EXPECT_EQ(found.problems[2].rows, 1);
    EXPECT_EQ(found.problems[2].what, "cannot be read as real: NULL in queries");
    EXPECT_EQ(found.problems[3].what, "is NaN: NULL in queries");
    EXPECT_TRUE(found.problems[4].what.starts_with("goes on for several"));
  };
  is(report().rows);
  const SettledReport again = report();
  EXPECT_EQ(again.when, Settled::before);
  is(again.rows);
  table_.columns[2].trim = true;
  EXPECT_EQ(report().rows.problems.size(), 4U);
  const catalog::RowsManifest manifest(data());
  DuckdbConnection connection(InsertionOrder::kept);
  EXPECT_EQ(connection.rows("SELECT note FROM " +
                            parquet_source(folder() / manifest.settled().at(1).file)),
            (Rows{{"a"}, {"b"}, {"c"}, {"d\ne"}, {""}}));
}

TEST_F(SettleTest, AFileWithoutAHeaderHasThePolicys) {
  table_.csv.header = {"note", "x", "id"};
  write("a,1.5,1\nb,2.5,2\n");
  open();
  EXPECT_EQ(rows(), (Rows{{"1.5", "1"}, {"2.5", "2"}}));
}

TEST_F(SettleTest, OddDatesStayWhatTheyAre) {
  table_.columns = {column("d", ColumnType::date), column("s", ColumnType::timestamp)};
  write("d,s\ninfinity,-infinity\n5874897-12-31,290309-12-22 (BC) 00:00:00\n");
  open();
  EXPECT_EQ(rows(),
            (Rows{{"infinity", "-infinity"}, {"5874897-12-31", "290309-12-22 (BC) 00:00:00"}}));
}

TEST_F(SettleTest, WithoutAPersonTheOrderIsTheFiles) {
  std::string text = "id,x\n";
  for (int i = 0; i < 300'000; ++i) text += fmt::format("{},{}\n", (i * 7919LL) % 300'007, i);
  write(text);
  open();
  const Rows all = rows();
  ASSERT_EQ(all.size(), 300'000U);
  for (std::size_t i = 0; i < all.size(); ++i)
    ASSERT_EQ(all[i][0], std::to_string((i * 7919) % 300'007)) << i;
}

TEST_F(SettleTest, WithAPersonTheOrderIsByPersonAndThenTheFiles) {
  policy_.unit = catalog::PrivacyUnit::person;
  table_.person_column = "id";
  write("x,id\n3,2\n1,10\n2,2\n,2\n5,\n");
  open();
  const Rows first = rows();
  EXPECT_EQ(first, (Rows{{"3.0", "2"}, {"2.0", "2"}, {"", "2"}, {"1.0", "10"}, {"5.0", ""}}));
  // Where others stand changes nothing of it.
  write("x,id\n5,\n3,2\n2,2\n1,10\n,2\n");
  settle();
  EXPECT_EQ(rows(), first);
}

TEST_F(SettleTest, ACopyHasItsMarkerBeforeItsName) {
  write("id,x\n1,2\n");
  std::filesystem::path named;
  settle_rows(policy_, table_,
              [&](const catalog::Table& table, const std::filesystem::path& copy,
                  const std::function<void()>& give_name) {
                EXPECT_EQ(table.name, "t");
                EXPECT_FALSE(std::filesystem::exists(copy));
                EXPECT_EQ(names(), (std::set<std::string>{"lock", "snapshot.tmp"}));
                named = copy;
                give_name();
                EXPECT_TRUE(std::filesystem::exists(copy));
              });
  EXPECT_EQ(named, snapshot());
  // Where it gets no marker it gets no name.
  write("id,x\n1,2\n3,4\n");
  EXPECT_THROW(settle_rows(policy_, table_,
                           [](const auto&, const auto&, const auto&) {
                             throw Error(ErrorCode::conflict, "another budget");
                           }),
               Error);
  EXPECT_EQ(settled().rows, 1);
  EXPECT_EQ(code_of([&] { open(); }), ErrorCode::conflict);
}

TEST_F(SettleTest, AChangedSourceIsRefusedUntilItsOwnerSettlesItAnew) {
  write("id,x\n1,2\n");
  open();
  EXPECT_EQ(settle(), Settled::before);
  write("id,x\n1,2\n2,3\n");
  EXPECT_EQ(code_of([&] { open(); }), ErrorCode::conflict);
  EXPECT_EQ(code_of([&] { DuckdbEngine(policy_, table_); }), ErrorCode::conflict);
  const std::string old = settled().file;
  EXPECT_EQ(settle(), Settled::now);
  open();
  EXPECT_EQ(settled().rows, 2);
  EXPECT_FALSE(names().contains(old));
  // Of the same size, and older: contents decide.
  write("id,x\n1,2\n2,4\n");
  std::filesystem::last_write_time(data(), std::filesystem::file_time_type(std::chrono::hours(1)));
  EXPECT_EQ(code_of([&] { open(); }), ErrorCode::conflict);
  std::filesystem::remove(data());
  EXPECT_EQ(code_of([&] { open(); }), ErrorCode::not_found);
}

TEST_F(SettleTest, ATouchedFileIsReadOnceMoreToKnowIt) {
  write("id,x\n1,2\n");
  open();
  touch(data());
  touch(snapshot());
  const auto before = settled();
  open();
  const auto after = settled();
  EXPECT_EQ(after.source, HeldFile(data()).stamp());
  EXPECT_EQ(after.stamp, HeldFile(snapshot()).stamp());
  EXPECT_NE(after.source, before.source);
  EXPECT_EQ(after.source_sha256, before.source_sha256);
}

TEST_F(SettleTest, ADamagedSnapshotIsRefused) {
  write("id,x\n1,2\n");
  open();
  std::string bytes = read_file(snapshot());
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  const auto time = std::filesystem::last_write_time(snapshot());
  write_file_durably(snapshot(), bytes, IfExists::replace);
  EXPECT_EQ(code_of([&] { open(); }), ErrorCode::conflict);
  bytes.pop_back();
  write_file_durably(snapshot(), bytes, IfExists::replace);
  std::filesystem::last_write_time(snapshot(), time);
  EXPECT_EQ(code_of([&] { open(); }), ErrorCode::conflict);
  std::filesystem::remove(snapshot());
  EXPECT_EQ(code_of([&] { open(); }), ErrorCode::conflict);
  EXPECT_EQ(settle(), Settled::now);
  open();
}

TEST_F(SettleTest, ADamagedManifestIsRefusedAndWrittenAnew) {
  write("id,x\n1,2\n");
  open();
  const std::string whole = read_file(folder() / "rows.toml");
  const auto damage = [&](const std::string& text, const char* from, const char* to) {
    std::string changed = text;
    changed.replace(changed.find(from), std::string(from).size(), to);
    return changed;
  };
  for (const std::string& text :
       {std::string("version = 2\n"), std::string("not toml ["), damage(whole, "\"snapshot\"", "1"),
        damage(whole, "rows = 1", "rows = \"1\""), damage(whole, "file = \"", "file = \"../"),
        damage(whole, "source_bytes = ", "source_bytes = -")}) {
    write_file_durably(folder() / "rows.toml", text, IfExists::replace);
    EXPECT_EQ(code_of([&] { open(); }), ErrorCode::corrupt) << text;
  }
  EXPECT_EQ(settle(), Settled::now);
  open();
}

// Other types are other rows, but nobody slips new data past the owner in this way.
TEST_F(SettleTest, AnotherPolicySettlesTheSameSourceForItself) {
  write("id,x\n1,2\n");
  open();
  const catalog::Table first = table_;
  table_.columns[1].type = ColumnType::text;
  open();
  EXPECT_EQ(catalog::RowsManifest(data()).settled().size(), 2U);
  write("id,x\n1,2\n3,4\n");
  table_.columns[0].type = ColumnType::text;
  EXPECT_EQ(code_of([&] { open(); }), ErrorCode::conflict);
  settle();
  open();
  // What was made of the old source is gone, and its policy starts from the new one.
  EXPECT_EQ(catalog::RowsManifest(data()).settled().size(), 1U);
  table_ = first;
  open();
}

TEST_F(SettleTest, LeftoversAreRemovedAndNothingElse) {
  write("id,x\n1,2\n");
  open();
  const std::string kept = settled().file;
  for (const char* name : {"snapshot.tmp", "rows.toml.77.1.tmp", "0123456789-0123456789.parquet",
                           "0123456789-0123456789.parquet.shoal"}) {
    write_file_durably(folder() / name, "left", IfExists::replace);
  }
  write_file_durably(folder() / (kept + ".shoal"), "marker", IfExists::replace);
  std::filesystem::create_directory(folder() / "spill.tmp");
  table_.columns[1].type = ColumnType::text;
  open();
  EXPECT_EQ(names(), (std::set<std::string>{"lock", "rows.toml", kept, kept + ".shoal",
                                            catalog::RowsManifest(data()).settled().at(1).file}));
}

TEST_F(SettleTest, AFolderOfSomebodyElseIsLeftAlone) {
  write("id,x\n1,2\n");
  std::filesystem::create_directory(folder());
  write_file_durably(folder() / "mine", "kept", IfExists::refuse);
  EXPECT_EQ(code_of([&] { open(); }), ErrorCode::conflict);
  EXPECT_EQ(code_of([&] { settle(); }), ErrorCode::conflict);
  EXPECT_EQ(read_file(folder() / "mine"), "kept");
}

TEST_F(SettleTest, NobodyReadsACopyWhoCannotReadTheSource) {
  const auto mode = [](const std::filesystem::path& path) {
    struct stat status = {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
  };
  write("id,x\n1,2\n");
  ASSERT_EQ(::chmod(data().c_str(), 0600), 0);
  open();
  EXPECT_EQ(mode(folder()), 0700U);
  EXPECT_EQ(mode(snapshot()), 0600U);
  std::filesystem::remove_all(folder());
  ASSERT_EQ(::chmod(data().c_str(), 0664), 0);
  open();
  EXPECT_EQ(mode(folder()), 0755U);
  EXPECT_EQ(mode(snapshot()), 0644U);
}

TEST_F(SettleTest, AFileWhoseColumnsAreNotThePolicysIsRefused) {
  for (const char* text : {"id,y\n1,2\n", "id,x,x\n1,2,3\n", "\n"}) {
    write(text);
    EXPECT_EQ(code_of([&] { open(); }), ErrorCode::conflict) << text;
    EXPECT_EQ(code_of([&] { settle(); }), ErrorCode::conflict) << text;
  }
}

// Whether it can be read may depend on one row: its owner has to see it first.
TEST_F(SettleTest, ParquetIsSettledByItsOwnerAlone) {
  write_parquet("SELECT 1::BIGINT AS id, 'nan'::DOUBLE AS x, [1] AS odd");
  EXPECT_EQ(code_of([&] { open(); }), ErrorCode::unavailable);
  EXPECT_FALSE(std::filesystem::exists(folder()));
  EXPECT_EQ(settle(), Settled::now);
  EXPECT_EQ(settled().kind, SettledKind::pinned);
  EXPECT_EQ(settled().rows, 1);
  EXPECT_EQ(settled().problems.at(0).what, "is NaN: NULL in queries");
  EXPECT_EQ(names(), (std::set<std::string>{"lock", "rows.toml"}));
  open();
  write_parquet("SELECT 2::BIGINT AS id, 3::DOUBLE AS x, [1] AS odd");
  EXPECT_EQ(code_of([&] { open(); }), ErrorCode::conflict);
  table_.columns[0].type = ColumnType::real;
  EXPECT_EQ(code_of([&] { settle(); }), ErrorCode::conflict);
}

TEST_F(SettleTest, ParquetOfOtherTypesBecomesASnapshot) {
  write_parquet("SELECT i::INTEGER AS id, i::DECIMAL(9, 2) AS x FROM range(5, 0, -1) AS r(i)");
  settle();
  EXPECT_EQ(settled().kind, SettledKind::snapshot);
  EXPECT_EQ(rows().front(), (std::vector<std::string>{"5", "5.0"}));
  open();
}

// Bytes of a file that no writer in its right mind leaves there.
class BrokenParquet : public SettleTest {
 protected:
  void replace_in_file(const std::string& from, const std::string& to) {
    std::string bytes = read_file(data());
    std::size_t found = 0;
    for (std::size_t at = 0; (at = bytes.find(from, at)) != std::string::npos; at += from.size()) {
      bytes.replace(at, from.size(), to);
      ++found;
    }
    ASSERT_GT(found, 0U);
    write_file_durably(data(), bytes, IfExists::replace);
  }

  std::string why() {
    try {
      settle();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.what();
    }
    ADD_FAILURE() << "was settled";
    return "";
  }
};

TEST_F(BrokenParquet, TextThatIsNoUtf8IsRefusedWithItsColumn) {
  table_.columns[1] = column("name", ColumnType::text);
  write_parquet("SELECT i::BIGINT AS id, 'plain' || i AS name FROM range(100) AS r(i)",
                ", COMPRESSION uncompressed, DICTIONARY_SIZE_LIMIT 1");
  replace_in_file("plain77", "pl\xff\xfen77");
  EXPECT_NE(why().find("column name of "), std::string::npos);
  EXPECT_EQ(code_of([&] { open(); }), ErrorCode::unavailable);
  // The owner can leave the column out.
  table_.columns[1].type = ColumnType::other;
  settle();
  open();
}

TEST_F(BrokenParquet, ADamagedPageIsRefusedWithItsColumn) {
  write_parquet("SELECT i::BIGINT AS id, sin(i) AS x FROM range(5000) AS r(i)");
  std::string bytes = read_file(data());
  // The header of the first page, behind the file's first word.
  std::fill(bytes.begin() + 4, bytes.begin() + 24, '\x55');
  write_file_durably(data(), bytes, IfExists::replace);
  EXPECT_NE(why().find("column id of "), std::string::npos);
}

}  // namespace
}  // namespace shoal::engine
