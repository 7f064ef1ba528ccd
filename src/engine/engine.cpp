#include "engine/settled_rows.hpp"

#include <shoal/base/error.hpp>
#include <shoal/engine/duckdb_engine.hpp>
#include <shoal/engine/engine.hpp>
#include <shoal/engine/postgres_engine.hpp>

#include <fmt/format.h>

namespace shoal::engine {
namespace {

bool on_server(const catalog::Table& table) {
  return table.format == catalog::SourceFormat::postgresql;
}

}  // namespace

std::unique_ptr<Engine> open_engine(const catalog::Policy& policy,
                                    std::span<const catalog::Table* const> tables,
                                    const NameCopy& name_copy) {
  SHOAL_CHECK(!tables.empty());
  for (const catalog::Table* table : tables) {
    if (on_server(*table) == on_server(*tables[0])) continue;
    throw Error(ErrorCode::unsupported,
                fmt::format("tables {} and {} cannot be asked in one question: one is a file, the "
                            "other on a PostgreSQL server; bring both to one place",
                            tables[0]->name, table->name));
  }
  if (on_server(*tables[0])) return std::make_unique<PostgresEngine>(policy, tables);
  for (const catalog::Table* table : tables) settle_automatically(policy, *table, name_copy);
  return std::make_unique<DuckdbEngine>(policy, tables);
}

}  // namespace shoal::engine
