#include "engine/csv_function.hpp"

#include <shoal/base/error.hpp>

#include <duckdb.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace shoal::engine {
namespace {

// What a file of a statement looks like.
struct Bound {
  std::string path;
  CsvShape shape;
  bool row_numbers = false;
};

// What is known of one reading of a file, also when it is over.
struct Reading {
  std::mutex mutex;
  CsvCounts of_rows;
  CsvCounts of_fields;
  std::uint64_t consumed = 0;
  std::uint64_t size = 0;
};

// One reading of a file, shared by its threads.
struct Scan {
  explicit Scan(const Bound& bound) : file(bound.path), splitter(file, bound.shape) {
    reading->size = file.size();
  }

  FileBytes file;
  CsvSplitter splitter;  // under the mutex of the reading
  std::shared_ptr<Reading> reading = std::make_shared<Reading>();
};

}  // namespace

struct CsvReads::State {
  mutable std::mutex mutex;
  bool closed = false;
  std::set<std::string> allowed;
  std::map<std::string, std::shared_ptr<Reading>> newest;
  std::shared_ptr<Reading> last;
};

namespace {

// DuckDB's hold on a shared object.
template <typename Held>
void release(void* held) {
  delete static_cast<Held*>(held);
}

using Shared = std::shared_ptr<CsvReads::State>;

// What every thread has of its own.
struct Local {
  CsvBlock block;
  std::size_t row = 0;
  std::string text;
  CsvCounts counts;
  bool not_text = false;  // a field of the row is none
};

struct Global {
  explicit Global(const Bound& bound) : scan(bound), shape(bound.shape) {}

  Scan scan;
  CsvShape shape;
  std::vector<int> places;  // in the chunk, of each field; below 0: nobody asks for it
  std::vector<int> number_places;
  std::size_t used_fields = 0;  // fields behind these are not looked at
};

// No exception may cross into DuckDB.
template <typename Info, typename Report, typename Action>
void guarded(Info info, Report report, Action&& action) {
  try {
    action();
  } catch (const std::exception& failure) {
    report(info, failure.what());
  } catch (...) {
    report(info, "an unknown failure");
  }
}

class Value {
 public:
  explicit Value(duckdb_value value) : value_(value) {}
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  ~Value() { duckdb_destroy_value(&value_); }
  duckdb_value get() const { return value_; }
  std::string text() const {
    char* held = duckdb_get_varchar(value_);
    std::string copy = held == nullptr ? "" : held;
    duckdb_free(held);
    return copy;
  }

 private:
  duckdb_value value_;
};

void add_column(duckdb_bind_info info, const char* name, duckdb_type type) {
  duckdb_logical_type logical = duckdb_create_logical_type(type);
  duckdb_bind_add_result_column(info, name, logical);
  duckdb_destroy_logical_type(&logical);
}

void bind(duckdb_bind_info info) {
  guarded(info, duckdb_bind_set_error, [&] {
    const Shared& state = *static_cast<Shared*>(duckdb_bind_get_extra_info(info));
    auto bound = std::make_unique<Bound>();
    bound->path = Value(duckdb_bind_get_parameter(info, 0)).text();
    const std::string delimiter = Value(duckdb_bind_get_parameter(info, 1)).text();
    const std::string quote = Value(duckdb_bind_get_parameter(info, 2)).text();
    SHOAL_CHECK(delimiter.size() == 1 && quote.size() == 1);
    bound->shape.delimiter = delimiter[0];
    bound->shape.quote = quote[0];
    bound->shape.has_header = duckdb_get_bool(Value(duckdb_bind_get_parameter(info, 3)).get());
    const Value names(duckdb_bind_get_parameter(info, 4));
    bound->shape.fields = duckdb_get_list_size(names.get());
    for (idx_t i = 0; i < bound->shape.fields; ++i) {
      const std::string name = Value(duckdb_get_list_child(names.get(), i)).text();
      add_column(info, name.c_str(), DUCKDB_TYPE_VARCHAR);
    }
    bound->row_numbers = duckdb_get_bool(Value(duckdb_bind_get_parameter(info, 5)).get());
    if (bound->row_numbers) add_column(info, "shoal_row", DUCKDB_TYPE_BIGINT);
    {
      const std::lock_guard lock(state->mutex);
      if (state->closed && !state->allowed.contains(bound->path))
        throw Error(ErrorCode::refused_by_policy, "a file that is no table of the policy");
    }
    const std::uint64_t bytes = FileBytes(bound->path).size();
    // A guess: a field of eight bytes.
    duckdb_bind_set_cardinality(info, bytes / (8 * (bound->shape.fields + 1)), false);
    duckdb_bind_set_bind_data(info, bound.release(), release<Bound>);
  });
}

void start(duckdb_init_info info) {
  guarded(info, duckdb_init_set_error, [&] {
    const Shared& state = *static_cast<Shared*>(duckdb_init_get_extra_info(info));
    const Bound& bound = *static_cast<Bound*>(duckdb_init_get_bind_data(info));
    auto global = std::make_unique<Global>(bound);
    global->places.assign(bound.shape.fields, -1);
    const idx_t columns = duckdb_init_get_column_count(info);
    for (idx_t i = 0; i < columns; ++i) {
      const idx_t column = duckdb_init_get_column_index(info, i);
      if (column < bound.shape.fields) {
        global->places[column] = static_cast<int>(i);
        global->used_fields = std::max<std::size_t>(global->used_fields, column + 1);
      } else if (bound.row_numbers && column == bound.shape.fields) {
        global->number_places.push_back(static_cast<int>(i));
      }
    }
    {
      const std::lock_guard lock(state->mutex);
      state->newest[bound.path] = global->scan.reading;
      state->last = global->scan.reading;
    }
    duckdb_init_set_max_threads(info, std::max(1U, std::thread::hardware_concurrency()));
    duckdb_init_set_init_data(info, global.release(), release<Global>);
  });
}

void start_thread(duckdb_init_info info) {
  guarded(info, duckdb_init_set_error, [&] {
    duckdb_init_set_init_data(info, std::make_unique<Local>().release(), release<Local>);
  });
}

// One column of a chunk of texts.
class TextColumn {
 public:
  explicit TextColumn(duckdb_vector vector)
      : vector_(vector), texts_(static_cast<duckdb_string_t*>(duckdb_vector_get_data(vector))) {}

  void set_null(idx_t row) {
    if (valid_ == nullptr) {
      duckdb_vector_ensure_validity_writable(vector_);
      valid_ = duckdb_vector_get_validity(vector_);
    }
    duckdb_validity_set_row_invalid(valid_, row);
    std::memset(&texts_[row], 0, sizeof texts_[row]);
  }

  // Short texts are held in place, filled up with zeros; DuckDB copies the others.
  void set(idx_t row, std::string_view text) {
    duckdb_string_t& place = texts_[row];
    if (text.size() > sizeof place.value.inlined.inlined) {
      duckdb_vector_assign_string_element_len(vector_, row, text.data(), text.size());
      return;
    }
    std::memset(&place, 0, sizeof place);
    place.value.inlined.length = static_cast<std::uint32_t>(text.size());
    std::memcpy(place.value.inlined.inlined, text.data(), text.size());
  }

 private:
  duckdb_vector vector_;
  duckdb_string_t* texts_;
  std::uint64_t* valid_ = nullptr;
};

void set_field(const Global& global, Local& local, TextColumn& column, idx_t row,
               const CsvField& field) {
  std::string_view text = field.text;
  if (field.doubled) {
    undouble(text, global.shape.quote, local.text);
    text = local.text;
  }
  if (text.empty() || field.lost) return column.set_null(row);
  if (is_text(text)) return column.set(row, text);
  local.not_text = true;
  column.set_null(row);
}

void set_row(const Global& global, Local& local, std::vector<TextColumn>& columns, idx_t to,
             const CsvBlock::Row& row) {
  CsvFields fields(global.shape, local.block.bytes.data(), row);
  CsvField field;
  std::size_t at = 0;
  for (; at < global.used_fields && fields.next(field); ++at) {
    if (const int place = global.places[at]; place >= 0)
      set_field(global, local, columns[static_cast<std::size_t>(place)], to, field);
  }
  local.counts.not_text_rows += std::exchange(local.not_text, false) ? 1 : 0;
  if (at < global.used_fields) {
    local.counts.padded_rows += row.cut ? 0 : 1;
    for (; at < global.used_fields; ++at) {
      if (const int place = global.places[at]; place >= 0)
        columns[static_cast<std::size_t>(place)].set_null(to);
    }
  } else if (at == global.shape.fields && fields.next(field)) {
    ++local.counts.cut_rows;
  }
}

// The next block of rows for a thread. False at the end of the file.
bool take_block(Scan& scan, Local& local) {
  Reading& reading = *scan.reading;
  const std::lock_guard lock(reading.mutex);
  reading.of_fields += std::exchange(local.counts, {});
  local.row = 0;
  const bool found = scan.splitter.next(local.block);
  reading.of_rows = scan.splitter.counts();
  reading.consumed = scan.splitter.consumed();
  return found;
}

void read_rows(duckdb_function_info info, duckdb_data_chunk output) {
  guarded(info, duckdb_function_set_error, [&] {
    Global& global = *static_cast<Global*>(duckdb_function_get_init_data(info));
    Local& local = *static_cast<Local*>(duckdb_function_get_local_init_data(info));
    if (local.row == local.block.rows.size() && !take_block(global.scan, local))
      return duckdb_data_chunk_set_size(output, 0);
    const std::size_t size =
        std::min<std::size_t>(duckdb_vector_size(), local.block.rows.size() - local.row);
    std::vector<TextColumn> columns;
    const idx_t count = duckdb_data_chunk_get_column_count(output);
    columns.reserve(count);
    for (idx_t i = 0; i < count; ++i) columns.emplace_back(duckdb_data_chunk_get_vector(output, i));
    for (const int place : global.number_places) {
      auto* numbers = static_cast<std::int64_t*>(
          duckdb_vector_get_data(duckdb_data_chunk_get_vector(output, static_cast<idx_t>(place))));
      for (std::size_t i = 0; i < size; ++i)
        numbers[i] = static_cast<std::int64_t>(local.block.first_row + local.row + i);
    }
    for (std::size_t i = 0; i < size; ++i)
      set_row(global, local, columns, i, local.block.rows[local.row + i]);
    local.row += size;
    duckdb_data_chunk_set_size(output, size);
  });
}

void add_parameters(duckdb_table_function function) {
  for (const duckdb_type type :
       {DUCKDB_TYPE_VARCHAR, DUCKDB_TYPE_VARCHAR, DUCKDB_TYPE_VARCHAR, DUCKDB_TYPE_BOOLEAN}) {
    duckdb_logical_type logical = duckdb_create_logical_type(type);
    duckdb_table_function_add_parameter(function, logical);
    duckdb_destroy_logical_type(&logical);
  }
  duckdb_logical_type text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
  duckdb_logical_type list = duckdb_create_list_type(text);
  duckdb_table_function_add_parameter(function, list);
  duckdb_destroy_logical_type(&list);
  duckdb_destroy_logical_type(&text);
  duckdb_logical_type flag = duckdb_create_logical_type(DUCKDB_TYPE_BOOLEAN);
  duckdb_table_function_add_parameter(function, flag);
  duckdb_destroy_logical_type(&flag);
}

}  // namespace

CsvReads::CsvReads(_duckdb_connection* connection) : state_(std::make_shared<State>()) {
  duckdb_table_function function = duckdb_create_table_function();
  duckdb_table_function_set_name(function, "shoal_csv");
  add_parameters(function);
  duckdb_table_function_set_extra_info(function, std::make_unique<Shared>(state_).release(),
                                       release<Shared>);
  duckdb_table_function_set_bind(function, bind);
  duckdb_table_function_set_init(function, start);
  duckdb_table_function_set_local_init(function, start_thread);
  duckdb_table_function_set_function(function, read_rows);
  duckdb_table_function_supports_projection_pushdown(function, true);
  const duckdb_state state = duckdb_register_table_function(connection, function);
  duckdb_destroy_table_function(&function);
  SHOAL_CHECK(state == DuckDBSuccess);
}

CsvReads::CsvReads(CsvReads&&) noexcept = default;
CsvReads& CsvReads::operator=(CsvReads&&) noexcept = default;
CsvReads::~CsvReads() = default;

void CsvReads::allow_only(std::span<const std::filesystem::path> paths) {
  const std::lock_guard lock(state_->mutex);
  state_->closed = true;
  state_->allowed.clear();
  for (const std::filesystem::path& path : paths) state_->allowed.insert(path.string());
}

CsvCounts CsvReads::counts(const std::filesystem::path& path) const {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->newest.find(path.string());
  if (found == state_->newest.end()) return {};
  Reading& reading = *found->second;
  const std::lock_guard reading_lock(reading.mutex);
  CsvCounts counts = reading.of_rows;
  counts += reading.of_fields;
  return counts;
}

std::optional<double> CsvReads::progress() const {
  const std::lock_guard lock(state_->mutex);
  if (!state_->last) return std::nullopt;
  Reading& reading = *state_->last;
  const std::lock_guard reading_lock(reading.mutex);
  if (reading.size == 0) return 1;
  return std::min(1.0, static_cast<double>(reading.consumed) / static_cast<double>(reading.size));
}

}  // namespace shoal::engine
