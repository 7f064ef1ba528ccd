// Records of a synthetic table as CSV.
#include <shoal/base/error.hpp>
#include <shoal/random/secure_source.hpp>
#include <shoal/session/synthesis.hpp>
#include <shoal/synth/records.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace shoal::session {
namespace {

// As it is written: in quotes where it needs them. Nothing at all, in a record that has nothing
// else, would be a blank line, which readers drop.
void add_field(std::string& line, std::string_view text, const catalog::CsvFormat& format,
               bool alone) {
  const char special[] = {format.delimiter, format.quote, '\n', '\r', '\0'};
  const bool blank = alone && text.empty();
  if (!blank && text.find_first_of(special) == std::string_view::npos) {
    line += text;
    return;
  }
  line += format.quote;
  for (const char one : text) {
    if (one == format.quote) line += one;
    line += one;
  }
  line += format.quote;
}

}  // namespace

void check_synthetic_rows(std::int64_t rows) {
  if (rows >= 1 && rows <= synth::kMaxSyntheticRows) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} synthetic rows are out of range: give 1 to {}", rows,
                          synth::kMaxSyntheticRows));
}

void write_records(const SyntheticTable& table, const catalog::CsvFormat& format, std::int64_t rows,
                   const std::function<void(std::string_view)>& write) {
  random::SecureSource bits;
  write_records(table, format, rows, bits, write);
}

void write_records(const SyntheticTable& table, const catalog::CsvFormat& format, std::int64_t rows,
                   random::BitSource& bits, const std::function<void(std::string_view)>& write) {
  check_synthetic_rows(rows);
  const synth::Domain& domain = table.plan.domain;
  synth::CodedRecords records = generate_records(table.synthesis.model, rows, bits);
  if (table.plan.method == SynthesisMethod::graded) {
    const int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    refine_records(records, table.synthesis.model, table.plan.workload, threads);
  }
  std::string text;
  const std::vector<std::size_t>& order = table.column_order;
  for (const std::size_t j : order) {
    if (j != order.front()) text += format.delimiter;
    add_field(text, domain[j].name, format, order.size() == 1);
  }
  text += '\n';
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
    for (const std::size_t j : order) {
      if (j != order.front()) text += format.delimiter;
      const auto value = synth::value_of_code(domain[j], records[j][i], bits);
      add_field(text, value.value_or(""), format, order.size() == 1);
    }
    text += '\n';
    if (text.size() < kBlock) continue;
    write(text);
    text.clear();
  }
  write(text);
}

}  // namespace shoal::session
