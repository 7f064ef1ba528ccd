// The Arrow file format, version 5 of its metadata: one schema, one record batch, a footer.
//
//   ARROW1 00 00 | schema message | batch message | end | footer | length of the footer | ARROW1
//
// A message is FFFFFFFF, the length of its metadata, the metadata (a FlatBuffer), and for a batch
// the body: for each column which values are there, and the values. Everything begins at a multiple
// of 8 bytes.
#include "engine/flatbuffer.hpp"

#include <shoal/base/error.hpp>
#include <shoal/engine/arrow_file.hpp>

#include <fmt/format.h>

#include <bit>
#include <chrono>
#include <cstdio>
#include <optional>

namespace shoal::engine {
namespace {

using catalog::ColumnType;

constexpr std::int64_t kVersion5 = 4;
constexpr std::int64_t kSchemaHeader = 1;
constexpr std::int64_t kBatchHeader = 3;

void append(std::string& bytes, std::uint64_t bits, int size) {
  for (int i = 0; i < size; ++i, bits >>= 8) bytes += static_cast<char>(bits & 0xFFU);
}

void pad(std::string& bytes) {
  while (bytes.size() % 8 != 0) bytes += '\0';
}

// ---- metadata ----

// The number of a type in Arrow's union of types, and its table.
struct ArrowType {
  std::int64_t number;
  std::size_t place;
};

ArrowType write_type(ColumnType type, FlatBuffer& buffer) {
  switch (type) {
    case ColumnType::integer:
      return {2, buffer.table({{0, 4, 64}, {1, 1, 1}}).back()};  // 64 bits, signed
    case ColumnType::real:
      return {3, buffer.table({{0, 2, 2}}).back()};  // double
    case ColumnType::boolean:
      return {6, buffer.table({}).back()};
    case ColumnType::date:
      return {8, buffer.table({{0, 2, 0}}).back()};  // days
    case ColumnType::timestamp:
      return {10, buffer.table({{0, 2, 2}}).back()};  // microseconds, of no time zone
    case ColumnType::text:
    case ColumnType::other:
      break;
  }
  return {5, buffer.table({}).back()};
}

std::int64_t type_number(ColumnType type) {
  FlatBuffer scratch;
  return write_type(type, scratch).number;
}

std::size_t write_field(const FileColumn& column, FlatBuffer& buffer) {
  const auto places =
      buffer.table({{0, 4}, {1, 1, 1}, {2, 1, type_number(column.type)}, {3, 4}, {5, 4}});
  buffer.refer(places[0], buffer.text(column.name));
  buffer.refer(places[3], write_type(column.type, buffer).place);
  buffer.refer(places[4], buffer.references(0) - 4);
  return places.back();
}

std::size_t write_schema(const std::vector<FileColumn>& columns, const std::string& note,
                         FlatBuffer& buffer) {
  const auto places = buffer.table({{1, 4}, {2, 4}});
  const std::size_t fields = buffer.references(columns.size());
  buffer.refer(places[0], fields - 4);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    buffer.refer(fields + 4 * i, write_field(columns[i], buffer));
  }
  const std::size_t notes = buffer.references(1);
  buffer.refer(places[1], notes - 4);
  const auto pair = buffer.table({{0, 4}, {1, 4}});
  buffer.refer(notes, pair.back());
  buffer.refer(pair[0], buffer.text("shoal"));
  buffer.refer(pair[1], buffer.text(note));
  return places.back();
}

std::string message_of(const FlatBuffer& metadata) {
  std::string bytes;
  std::string padded = metadata.bytes();
  pad(padded);
  append(bytes, 0xFFFFFFFFU, 4);
  append(bytes, padded.size(), 4);
  return bytes + padded;
}

std::string schema_message(const std::vector<FileColumn>& columns, const std::string& note) {
  FlatBuffer buffer;
  const auto message = buffer.table({{0, 2, kVersion5}, {1, 1, kSchemaHeader}, {2, 4}, {3, 8, 0}});
  buffer.refer(0, message.back());
  buffer.refer(message[2], write_schema(columns, note, buffer));
  return message_of(buffer);
}

// ---- values ----

// 2024-01-31, and 2024-01-31 12:30:00[.5]; nothing for what is none.
std::optional<std::int64_t> microseconds_of(const std::string& text) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int hour = 0;
  int minute = 0;
  double second = 0;
  const int read = std::sscanf(text.c_str(), "%d-%u-%u%*1[ T]%d:%d:%lf", &year, &month, &day, &hour,
                               &minute, &second);
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if ((read != 3 && read != 6) || !date.ok()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return ((days * 24 + hour) * 60 + minute) * 60'000'000 +
         static_cast<std::int64_t>(second * 1e6 + 0.5);
}

struct Body {
  std::string bytes;
  std::vector<std::int64_t> nodes;    // rows and missing ones, for each column
  std::vector<std::int64_t> buffers;  // where and how long

  void add(const std::string& buffer) {
    buffers.push_back(static_cast<std::int64_t>(bytes.size()));
    buffers.push_back(static_cast<std::int64_t>(buffer.size()));
    bytes += buffer;
    pad(bytes);
  }
};

class ColumnWriter {
 public:
  explicit ColumnWriter(ColumnType type) : type_(type) {
    if (is_text()) append(offsets_, 0, 4);
  }

  void add(const FileValue& value) {
    const bool there = put(value);
    set_bit(present_, there);
    missing_ += there ? 0 : 1;
    if (!there) put_nothing();
    if (is_text()) append(offsets_, data_.size(), 4);
    ++rows_;
  }

  void finish(Body& body) const {
    body.nodes.push_back(rows_);
    body.nodes.push_back(missing_);
    body.add(missing_ == 0 ? "" : present_);
    if (is_text()) body.add(offsets_);
    body.add(data_);
  }

 private:
  bool is_text() const { return type_ == ColumnType::text || type_ == ColumnType::other; }

  void set_bit(std::string& bits, bool set) const {
    const auto row = static_cast<std::size_t>(rows_);
    if (row % 8 == 0) bits += '\0';
    if (set)
      bits.back() = static_cast<char>(static_cast<unsigned char>(bits.back()) | 1U << row % 8);
  }

  void put_nothing() {
    if (type_ == ColumnType::boolean) return set_bit(data_, false);
    if (!is_text()) append(data_, 0, type_ == ColumnType::date ? 4 : 8);
  }

  // False, and nothing written, if the type cannot hold the value.
  bool put(const FileValue& value) {
    const auto* whole = std::get_if<std::int64_t>(&value);
    const auto* real = std::get_if<double>(&value);
    const auto* text = std::get_if<std::string>(&value);
    const auto* flag = std::get_if<bool>(&value);
    if (type_ == ColumnType::integer && whole) {
      append(data_, static_cast<std::uint64_t>(*whole), 8);
    } else if (type_ == ColumnType::real && (whole || real)) {
      append(data_, std::bit_cast<std::uint64_t>(real ? *real : static_cast<double>(*whole)), 8);
    } else if (type_ == ColumnType::boolean && flag) {
      set_bit(data_, *flag);
    } else if (is_text() && text) {
      data_ += *text;
    } else if ((type_ == ColumnType::date || type_ == ColumnType::timestamp) && text) {
      return put_time(*text);
    } else {
      return false;
    }
    return true;
  }

  bool put_time(const std::string& text) {
    const auto time = microseconds_of(text);
    if (!time) return false;
    constexpr std::int64_t kDay = 86'400'000'000;
    const std::int64_t days = (*time - (*time % kDay + kDay) % kDay) / kDay;
    const bool date = type_ == ColumnType::date;
    append(data_, static_cast<std::uint64_t>(date ? days : *time), date ? 4 : 8);
    return true;
  }

  ColumnType type_;
  std::int64_t rows_ = 0;
  std::int64_t missing_ = 0;
  std::string present_;
  std::string offsets_;
  std::string data_;
};

Body body_of(const std::vector<FileColumn>& columns) {
  Body body;
  for (const FileColumn& column : columns) {
    ColumnWriter writer(column.type);
    for (const FileValue& value : column.values) writer.add(value);
    writer.finish(body);
  }
  return body;
}

std::string batch_message(std::size_t rows, const Body& body) {
  FlatBuffer buffer;
  const auto message = buffer.table({{0, 2, kVersion5},
                                     {1, 1, kBatchHeader},
                                     {2, 4},
                                     {3, 8, static_cast<std::int64_t>(body.bytes.size())}});
  buffer.refer(0, message.back());
  const auto batch = buffer.table({{0, 8, static_cast<std::int64_t>(rows)}, {1, 4}, {2, 4}});
  buffer.refer(message[2], batch.back());
  buffer.refer(batch[1], buffer.structs(body.nodes.size() / 2, body.nodes));
  buffer.refer(batch[2], buffer.structs(body.buffers.size() / 2, body.buffers));
  return message_of(buffer);
}

std::string footer(const std::vector<FileColumn>& columns, const std::string& note,
                   const std::vector<std::int64_t>& block) {
  FlatBuffer buffer;
  const auto places = buffer.table({{0, 2, kVersion5}, {1, 4}, {2, 4}, {3, 4}});
  buffer.refer(0, places.back());
  buffer.refer(places[1], write_schema(columns, note, buffer));
  buffer.refer(places[2], buffer.structs(0, {}));
  buffer.refer(places[3], buffer.structs(1, block));
  return buffer.bytes();
}

}  // namespace

std::string arrow_file(const std::vector<FileColumn>& columns, const std::string& note) {
  check_columns(columns);
  const std::size_t rows = columns.front().values.size();
  const Body body = body_of(columns);
  if (body.bytes.size() > 0x7FFFFFFF) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} bytes are too many for one batch of an Arrow file; write Parquet",
                            body.bytes.size()));
  }
  const std::string batch = batch_message(rows, body);
  std::string file("ARROW1\0\0", 8);
  file += schema_message(columns, note);
  const auto start = static_cast<std::int64_t>(file.size());
  file += batch + body.bytes;
  append(file, 0xFFFFFFFFU, 8);  // the end: a message of no length
  const std::string last = footer(columns, note,
                                  {start, static_cast<std::int64_t>(batch.size()),
                                   static_cast<std::int64_t>(body.bytes.size())});
  file += last;
  append(file, last.size(), 4);
  return file + "ARROW1";
}

}  // namespace shoal::engine
