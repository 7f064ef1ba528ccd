#include "answer_file.hpp"

#include <shoal/base/text.hpp>
#include <shoal/engine/arrow_file.hpp>
#include <shoal/engine/table_file.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace shoal::cli {
namespace {

using catalog::ColumnType;
using engine::FileColumn;
using engine::FileValue;

ColumnType type_of(const std::string& name) {
  for (int i = 0; i < static_cast<int>(ColumnType::other); ++i) {
    const auto type = static_cast<ColumnType>(i);
    if (to_string(type) == name) return type;
  }
  return ColumnType::text;
}

FileValue value_of(const plan::Cell& cell) {
  if (const auto* flag = std::get_if<bool>(&cell.value)) return *flag;
  if (const auto* text = std::get_if<std::string>(&cell.value)) return *text;
  if (const auto* value = std::get_if<double>(&cell.value)) return *value;
  return std::monostate{};
}

FileValue end_of(const std::optional<double>& end) {
  if (end) return *end;
  return std::monostate{};
}

bool fits_integer(const FileValue& value) {
  const auto* real = std::get_if<double>(&value);
  return !real || (std::fabs(*real) < 0x1p63 && std::trunc(*real) == *real);
}

// Whole numbers are stored as such; a column with one beyond 64 bits is stored as real instead of
// losing it.
void settle_integers(FileColumn& column) {
  if (column.type != ColumnType::integer) return;
  if (!std::all_of(column.values.begin(), column.values.end(), fits_integer)) {
    column.type = ColumnType::real;
    return;
  }
  for (FileValue& value : column.values) {
    if (const auto* real = std::get_if<double>(&value)) value = static_cast<std::int64_t>(*real);
  }
}

// A name that is taken, in any case of its letters, gets a number: the answer is paid, so the file
// must be written.
std::string free_name(const std::string& name, std::set<std::string>& taken) {
  std::string made = name;
  for (int i = 2; !taken.insert(to_lower(made)).second; ++i) {
    made = name + "_" + std::to_string(i);
  }
  return made;
}

std::vector<FileColumn> columns_of(const session::Answer& answer) {
  std::vector<FileColumn> columns;
  std::set<std::string> taken;
  for (std::size_t i = 0; i < answer.columns.size(); ++i) {
    const session::AnswerColumn& column = answer.columns[i];
    const ColumnType type = type_of(column.type);
    FileColumn values{column.name, type, {}};
    FileColumn lower{column.name + "_lower", type, {}};
    FileColumn upper{column.name + "_upper", type, {}};
    for (const session::AnswerRow& row : answer.rows) {
      values.values.push_back(value_of(row[i]));
      lower.values.push_back(end_of(row[i].lower));
      upper.values.push_back(end_of(row[i].upper));
    }
    for (FileColumn* one : {&values, &lower, &upper}) {
      settle_integers(*one);
      one->name = free_name(one->name, taken);
      columns.push_back(std::move(*one));
      if (column.aggregate == "key") break;
    }
  }
  return columns;
}

}  // namespace

void write_answer_parquet(const std::filesystem::path& path, const session::Answer& answer) {
  engine::write_parquet(path, columns_of(answer), session::to_json(answer));
}

std::string answer_arrow(const session::Answer& answer) {
  return engine::arrow_file(columns_of(answer), session::to_json(answer));
}

}  // namespace shoal::cli
