#include "neighbors/table_generator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace shoal::test {
namespace {

using Format = catalog::SourceFormat;

std::string broken_field(const std::string& person, const std::string& field) {
  return person + ",30,100,m,Paris,true,2000-01-01,2000-01-01 00:00:00,1," + field + "\n";
}

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

// Eight bytes at a time: where a break stands in its field decides which code reads it.
constexpr std::array kHostileRows = {
    HostileRow{"short quoted break",
               [](const std::string& person, const std::string&) {
                 return broken_field(person, "\"a\nb\"");
               }},
    HostileRow{"long quoted break",
               [](const std::string& person, const std::string& filler) {
                 return broken_field(person, "\"hello " + filler + "\nworld and " + filler + "\"");
               }},
    HostileRow{"quoted rows",
               [](const std::string& person, const std::string&) {
                 return broken_field(
                     person, "\"x\n" + broken_field("7", "z") + broken_field("8", "z") + "\"");
               }},
    HostileRow{"quoted carriage return",
               [](const std::string& person, const std::string& filler) {
                 return broken_field(person, "\"" + filler + "\r\n\r" + filler + "\"");
               }},
    HostileRow{"break in a number",
               [](const std::string& person, const std::string&) {
                 return person + ",\"3\n0\",100,m,Paris,true,2000-01-01,,1,x\n";
               }},
    HostileRow{"unclosed quote",
               [](const std::string& person, const std::string& filler) {
                 return broken_field(person, "\"" + filler);
               }},
    HostileRow{"unclosed quote in the first field",
               [](const std::string& person, const std::string&) {
                 return "\"" + broken_field(person, "x");
               }},
    HostileRow{"quote inside",
               [](const std::string& person, const std::string& filler) {
                 return broken_field(person, filler + "\"" + filler);
               }},
    HostileRow{"text after a quote",
               [](const std::string& person, const std::string& filler) {
                 return broken_field(person, "\"" + filler + "\"" + filler);
               }},
    HostileRow{"NUL byte",
               [](const std::string& person, const std::string& filler) {
                 return broken_field(person, filler + std::string(1, '\0') + filler);
               }},
    HostileRow{"NUL byte in a number",
               [](const std::string& person, const std::string&) {
                 return person + ",3" + std::string(1, '\0') + "0,100,m,Paris,true,,,1,x\n";
               }},
    HostileRow{"lone surrogate",
               [](const std::string& person, const std::string& filler) {
                 return broken_field(person, filler + "\xED\xA0\x80" + filler);
               }},
    HostileRow{"invalid UTF-8",
               [](const std::string& person, const std::string& filler) {
                 return broken_field(person, filler + "\xFF\xFE\xC0\x80");
               }},
    HostileRow{"invalid UTF-8 in a category",
               [](const std::string& person,
                  const std::string&) { return person + ",30,100,\xFF,\xC3,true,,,1,x\n"; }},
    HostileRow{"ends with a carriage return",
               [](const std::string& person, const std::string& filler) {
                 std::string row = broken_field(person, filler);
                 row.back() = '\r';
                 return row;
               }},
    HostileRow{"ends with carriage return and line feed",
               [](const std::string& person, const std::string& filler) {
                 return broken_field(person, filler + "\r");
               }},
    HostileRow{
        "byte order mark",
        [](const std::string& person,
           const std::string& filler) { return "\xEF\xBB\xBF" + broken_field(person, filler); }},
    HostileRow{"too few fields",
               [](const std::string& person, const std::string&) { return person + ",30\n"; }},
    HostileRow{"too many fields",
               [](const std::string& person,
                  const std::string&
                      filler) { return broken_field(person, filler + ",more,,\"and\",more"); }},
    // A quote by itself would close the one that a row before left open.
    HostileRow{"a quote and no more",
               [](const std::string&, const std::string&) { return std::string("\"x\n"); }},
    HostileRow{"only delimiters",
               [](const std::string&, const std::string&) { return std::string(",,,,,,,,,\n"); }},
    HostileRow{"a long line",
               [](const std::string& person,
                  const std::string&) { return broken_field(person, std::string(70'000, 'x')); }},
};

constexpr std::array kHugeRows = {
    HostileRow{"a field of 17 MiB",
               [](const std::string& person, const std::string&) {
                 return broken_field(person, std::string(17 * kMegabyte, 'x'));
               }},
    HostileRow{"a quoted field of 65 MiB with rows in it",
               [](const std::string& person, const std::string&) {
                 std::string rows;
                 while (rows.size() < 65 * kMegabyte) rows += broken_field("7", "x");
                 return broken_field(person, "\"" + rows + "\"");
               }},
};

std::string draw_person(Dice& dice, const Setting& setting) {
  // Few, so that rows meet.
  if (!dice.one_in(8)) return std::to_string(1 + dice.below(6));
  if (setting.format != Format::csv)
    return dice.pick({"0", "-1", "9223372036854775807", "-9223372036854775808"});
  return dice.pick({"0", "-1", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
                    "1e2", "1.0", " 3", "0x3", "007", "x", "123456789012345678901234567890"});
}

std::string draw_number(Dice& dice, std::size_t top) { return std::to_string(dice.below(top)); }

// Everywhere a number can stand. What does not convert is NULL.
std::string odd_number(Dice& dice, const Setting& setting) {
  if (setting.format == Format::csv && dice.one_in(2))
    return dice.pick({"1_000", "0x10", " 5 ", "+5", "1,5", "abc", "--1", "1e", "1e400", "-1e400",
                      "1e-400", "١٢", "9223372036854775808", "NULL", "-", ".", "1.5", "2.5"});
  return dice.pick({"NaN", "Infinity", "-Infinity", "1e308", "-1e308", "4.9e-324", "-0", "1e100",
                    "9223372036854775807", "-9223372036854775808",
                    "0.1000000000000000055511151231257827",
                    "99999999999999999999.99999999999999999999", "100.00000000000001", "1e-300"});
}

std::string odd_integer(Dice& dice, const Setting& setting) {
  if (setting.format == Format::csv) return odd_number(dice, setting);
  return dice.pick({"9223372036854775807", "-9223372036854775808", "-1", "101", "2147483648"});
}

std::string odd_date(Dice& dice, const Setting& setting) {
  if (setting.format == Format::csv)
    return dice.pick({"2000-02-30", "infinity", "-infinity", "0001-01-01", "9999-12-31",
                      "5881580-07-10", "5877642-06-25 (BC)", "99999999-01-01", "0000-00-00",
                      "2000-1-1", "2000-01-01 10:00:00", "01/02/2000", "epoch"});
  if (setting.format == Format::parquet)
    return dice.pick({"0001-01-01", "9999-12-31", "infinity", "-infinity", "5881580-07-10",
                      "5877642-06-25 (BC)"});
  return dice.pick(
      {"0001-01-01", "9999-12-31", "infinity", "-infinity", "4714-11-24 BC", "5874897-12-31"});
}

std::string odd_timestamp(Dice& dice, const Setting& setting) {
  if (setting.format == Format::csv)
    return dice.pick({"infinity", "-infinity", "0001-01-01 00:00:00",
                      "294247-01-10 04:00:54.775806", "290309-12-22 (BC) 00:00:00",
                      "2000-01-01T24:00:00", "2000-01-01 00:00:00Z",
                      "2000-01-01 00:00:00.9999999999", "2000-01-01 25:00:00", "2000-01-01"});
  if (setting.format == Format::parquet)
    return dice.pick({"0001-01-01 00:00:00", "infinity", "-infinity",
                      "294246-01-10 04:00:54.775806", "290307-12-22 (BC) 00:00:00"});
  return dice.pick({"0001-01-01 00:00:00", "infinity", "-infinity", "4714-11-24 00:00:00 BC",
                    "294276-12-31 23:59:59.999999"});
}

std::string odd_text(Dice& dice, const Setting& setting) {
  if (setting.format == Format::csv && dice.one_in(3))
    return dice.pick({"a,b", "say \"hi\"", "a\tb", "NULL"});
  if (dice.one_in(10)) return std::string(20'000, 'x');
  return dice.pick(
      {" ",      " m", "m ",    "M",     "ＭＭ", "ß", "İ",  "e\u0301", "é",   "👩‍👩‍👧",
       "\u202E", "'",  "\\",    "\\x00", "%",    "_", "{}", "a\x01z",  "NaN", "true",
       "1e308",  "🇫🇷", "\u00A0"});
}

Cell or_null(Dice& dice, std::string text) {
  if (dice.one_in(12)) return std::nullopt;
  return text;
}

// Where a person is protected, the rows that differ must all be that person's.
bool hides_person(std::string_view kind) {
  return kind == "a quote and no more" || kind == "only delimiters" || kind == "byte order mark" ||
         kind == "unclosed quote in the first field";
}

Row draw_any_row(Dice& dice, const Setting& setting, const Cell& person, bool keep_person,
                 std::size_t odd) {
  if (setting.format != Format::csv || !dice.one_in(5)) return draw_row(dice, setting, person, odd);
  const auto kinds = hostile_rows();
  const std::string_view kind = kinds[dice.below(kinds.size())].name;
  if (keep_person && hides_person(kind)) return draw_row(dice, setting, person, odd);
  return hostile_row(kind, person.value_or(""));
}

// One value of so many is one that few tables have; of the rows that differ, more are.
constexpr std::size_t kOddOfMost = 9;
constexpr std::size_t kOddOfOwn = 2;

// Rows that are alike in everything but the person.
void make_alike(Rows& rows, const Row& model) {
  for (Row& row : rows) {
    const Cell person = row[Field::person];
    row = model;
    row[Field::person] = person;
  }
}

// The rows of one person who is nobody else, or one row.
Rows draw_unit(Dice& dice, const Setting& setting, const Cell& person) {
  const bool one_row = setting.unit == catalog::PrivacyUnit::row;
  const std::size_t count = one_row ? 1 : 1 + dice.below(4);
  Rows rows;
  for (std::size_t i = 0; i < count; ++i)
    rows.push_back(draw_any_row(dice, setting, person, !one_row, kOddOfOwn));
  return rows;
}

}  // namespace

std::span<const HostileRow> hostile_rows() { return kHostileRows; }
std::span<const HostileRow> huge_rows() { return kHugeRows; }

Row hostile_row(std::string_view name, const std::string& person) {
  for (const auto kinds : {hostile_rows(), huge_rows()}) {
    for (const HostileRow& kind : kinds) {
      if (kind.name != name) continue;
      Row row;
      row[Field::person] = person;
      row.raw = kind.make(person, "words");
      row.label = name;
      return row;
    }
  }
  throw std::logic_error(fmt::format("there is no hostile row {}", name));
}

Row draw_row(Dice& dice, const Setting& setting, const Cell& person, std::size_t odd) {
  Row row;
  row[Field::person] = person;
  row[Field::age] =
      or_null(dice, dice.one_in(odd) ? odd_integer(dice, setting) : draw_number(dice, 100));
  row[Field::income] =
      or_null(dice, dice.one_in(odd) ? odd_number(dice, setting) : draw_number(dice, 9000) + ".25");
  row[Field::sex] =
      or_null(dice, dice.one_in(odd) ? odd_text(dice, setting) : dice.pick({"m", "f"}));
  row[Field::city] = or_null(
      dice, dice.one_in(odd) ? odd_text(dice, setting) : dice.pick({"Paris", "Rome", "Oslo"}));
  row[Field::member] = or_null(dice, dice.pick({"true", "false"}));
  row[Field::born] =
      or_null(dice, dice.one_in(odd) ? odd_date(dice, setting)
                                     : fmt::format("19{}-0{}-1{}", 50 + dice.below(50),
                                                   1 + dice.below(9), dice.below(10)));
  row[Field::seen] =
      or_null(dice, dice.one_in(odd) ? odd_timestamp(dice, setting)
                                     : fmt::format("2024-0{}-1{} 1{}:30:00", 1 + dice.below(9),
                                                   dice.below(10), dice.below(10)));
  row[Field::y] =
      or_null(dice, dice.one_in(odd) ? odd_integer(dice, setting) : dice.pick({"0", "1", "2"}));
  row[Field::note] = or_null(dice, dice.one_in(4) ? odd_text(dice, setting) : "a note");
  return row;
}

TablePair draw_pair(Dice& dice, const Setting& setting) {
  TablePair pair{setting, {}, {}, {}, {}};
  const std::size_t size = dice.one_in(6) ? dice.below(3) : dice.below(30);
  Rows rows;
  for (std::size_t i = 0; i < size; ++i) {
    const Cell person = dice.one_in(15) ? Cell() : Cell(draw_person(dice, setting));
    rows.push_back(draw_any_row(dice, setting, person, false, kOddOfMost));
  }
  if (dice.one_in(8) && !rows.empty()) make_alike(rows, draw_row(dice, setting, "1", kOddOfMost));
  if (dice.one_in(8)) {
    // Nothing to learn from: every feature 0, or unknown.
    for (Row& row : rows) {
      if (row.raw) continue;
      row[Field::age] = row[Field::income] = "0";
      row[Field::sex] = row[Field::member] = std::nullopt;
    }
  }
  const std::size_t cut = dice.below(rows.size() + 1);
  pair.before.assign(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(cut));
  pair.after.assign(rows.begin() + static_cast<std::ptrdiff_t>(cut), rows.end());
  // Somebody whom no other row belongs to.
  const std::string person = "4242";
  const Rows drawn = draw_unit(dice, setting, person);
  const bool first = dice.one_in(2);
  (first ? pair.one : pair.other) = drawn;
  if (setting.neighbors == Neighbors::replace_one)
    (first ? pair.other : pair.one) = draw_unit(dice, setting, person);
  return pair;
}

}  // namespace shoal::test
