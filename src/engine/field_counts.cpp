#include "engine/field_counts.hpp"

#include <shoal/base/error.hpp>
#include <shoal/base/text.hpp>

#include <duckdb.h>
#include <fmt/format.h>

#include <atomic>
#include <string_view>

namespace shoal::engine {

using catalog::ColumnType;

namespace {

struct Counters {
  ColumnType type = ColumnType::text;
  std::atomic<std::int64_t> present{0};
  std::atomic<std::int64_t> not_numbers{0};
  std::atomic<std::int64_t> line_breaks{0};
  std::atomic<std::int64_t> blanks{0};
};

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// As the engine reads it: with a sign and blanks around, in any case.
bool is_nan_text(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  return text.size() == 3 && equals_ignoring_case(text, "nan");
}

void look_at(ColumnType type, std::string_view text, FieldCount& count) {
  ++count.present;
  if (type == ColumnType::real) {
    if (is_nan_text(text)) ++count.not_numbers;
  } else if (type == ColumnType::text && !text.empty()) {
    if (is_blank(text.front()) || is_blank(text.back())) ++count.blanks;
    if (text.find('\n') != std::string_view::npos) ++count.line_breaks;
  }
}

}  // namespace

struct FieldCounts::State {
  std::vector<std::unique_ptr<Counters>> columns;
};

namespace {

using Shared = std::shared_ptr<FieldCounts::State>;

void count_fields(duckdb_function_info info, duckdb_data_chunk chunk, duckdb_vector output) {
  const auto& state = **static_cast<Shared*>(duckdb_scalar_function_get_extra_info(info));
  const idx_t size = duckdb_data_chunk_get_size(chunk);
  duckdb_vector fields = duckdb_data_chunk_get_vector(chunk, 1);
  duckdb_vector_reference_vector(output, fields);
  if (size == 0) return;
  const auto column = static_cast<std::size_t>(*static_cast<const std::int64_t*>(
      duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 0))));
  Counters& counters = *state.columns.at(column);
  auto* texts = static_cast<duckdb_string_t*>(duckdb_vector_get_data(fields));
  std::uint64_t* valid = duckdb_vector_get_validity(fields);
  FieldCount count;
  for (idx_t i = 0; i < size; ++i) {
    if (valid != nullptr && !duckdb_validity_row_is_valid(valid, i)) continue;
    look_at(counters.type, {duckdb_string_t_data(&texts[i]), duckdb_string_t_length(texts[i])},
            count);
  }
  counters.present += count.present;
  counters.not_numbers += count.not_numbers;
  counters.line_breaks += count.line_breaks;
  counters.blanks += count.blanks;
}

}  // namespace

FieldCounts::FieldCounts(DuckdbConnection& connection, const std::vector<ColumnType>& types)
    : state_(std::make_shared<State>()) {
  for (const ColumnType type : types)
    state_->columns.emplace_back(std::make_unique<Counters>())->type = type;
  duckdb_scalar_function function = duckdb_create_scalar_function();
  duckdb_logical_type number = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT);
  duckdb_logical_type text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
  duckdb_scalar_function_set_name(function, "shoal_field");
  duckdb_scalar_function_add_parameter(function, number);
  duckdb_scalar_function_add_parameter(function, text);
  duckdb_scalar_function_set_return_type(function, text);
  duckdb_scalar_function_set_special_handling(function);
  // Each field passes once, whatever is done with it.
  duckdb_scalar_function_set_volatile(function);
  duckdb_scalar_function_set_extra_info(function, new Shared(state_),
                                        [](void* shared) { delete static_cast<Shared*>(shared); });
  duckdb_scalar_function_set_function(function, count_fields);
  const duckdb_state made = duckdb_register_scalar_function(connection.handle(), function);
  duckdb_destroy_logical_type(&number);
  duckdb_destroy_logical_type(&text);
  duckdb_destroy_scalar_function(&function);
  SHOAL_CHECK(made == DuckDBSuccess);
}

std::string FieldCounts::counted(std::size_t column, const std::string& text) {
  return fmt::format("shoal_field({}::BIGINT, {})", column, text);
}

FieldCount FieldCounts::of(std::size_t column) const {
  const Counters& counters = *state_->columns.at(column);
  return {counters.present, counters.not_numbers, counters.line_breaks, counters.blanks};
}

}  // namespace shoal::engine
