#include "engine/number_function.hpp"

#include <shoal/base/error.hpp>

#include <duckdb.h>

#include <cmath>
#include <cstdint>
#include <cstring>

namespace shoal::engine {
namespace {

using Four = double __attribute__((vector_size(32)));
using FourWords = std::int64_t __attribute__((vector_size(32)));

// Whether a NaN is among them.
inline __attribute__((always_inline)) bool find_nan(const double* values, std::size_t size) {
  FourWords odd = {};
  std::size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    Four first;
    Four second;
    std::memcpy(&first, values + i, sizeof first);
    std::memcpy(&second, values + i + 4, sizeof second);
    // Only a NaN is not itself. NOLINTNEXTLINE(misc-redundant-expression)
    odd |= (first != first) | (second != second);
  }
  bool any = (odd[0] | odd[1] | odd[2] | odd[3]) != 0;
  for (; i < size; ++i) any = any || std::isnan(values[i]);
  return any;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) bool find_nan_avx2(const double* values, std::size_t size) {
  return find_nan(values, size);
}
#endif

bool any_nan(const double* values, std::size_t size) {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  if (has_avx2) return find_nan_avx2(values, size);
#endif
  return find_nan(values, size);
}

void numbers(duckdb_function_info, duckdb_data_chunk chunk, duckdb_vector output) {
  const idx_t size = duckdb_data_chunk_get_size(chunk);
  duckdb_vector input = duckdb_data_chunk_get_vector(chunk, 0);
  const auto* values = static_cast<const double*>(duckdb_vector_get_data(input));
  std::uint64_t* valid = duckdb_vector_get_validity(input);
  // What a NULL's place holds may be NaN too: then it is a copy for nothing.
  if (!any_nan(values, size)) return duckdb_vector_reference_vector(output, input);
  std::memcpy(duckdb_vector_get_data(output), values, size * sizeof(double));
  duckdb_vector_ensure_validity_writable(output);
  std::uint64_t* result = duckdb_vector_get_validity(output);
  for (idx_t i = 0; i < size; ++i) {
    const bool there = valid == nullptr || duckdb_validity_row_is_valid(valid, i);
    duckdb_validity_set_row_validity(result, i, there && !std::isnan(values[i]));
  }
}

}  // namespace

void register_number_function(DuckdbConnection& connection) {
  duckdb_scalar_function function = duckdb_create_scalar_function();
  duckdb_logical_type real = duckdb_create_logical_type(DUCKDB_TYPE_DOUBLE);
  duckdb_scalar_function_set_name(function, "shoal_number");
  duckdb_scalar_function_add_parameter(function, real);
  duckdb_scalar_function_set_return_type(function, real);
  duckdb_scalar_function_set_special_handling(function);
  duckdb_scalar_function_set_function(function, numbers);
  const duckdb_state state = duckdb_register_scalar_function(connection.handle(), function);
  duckdb_destroy_logical_type(&real);
  duckdb_destroy_scalar_function(&function);
  SHOAL_CHECK(state == DuckDBSuccess);
}

}  // namespace shoal::engine
