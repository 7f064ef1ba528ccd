// An engine: where the tables of a question are, and what adds them up exactly. Every engine
// answers the same calls with the same integers; a session asks through this interface and does not
// know which one it has.
#pragma once

#include <shoal/base/owner_log.hpp>
#include <shoal/catalog/key.hpp>
#include <shoal/catalog/policy.hpp>
#include <shoal/data/coded_table.hpp>
#include <shoal/data/grouped_aggregate.hpp>
#include <shoal/data/table_rows.hpp>
#include <shoal/engine/code_request.hpp>
#include <shoal/engine/grouped_request.hpp>
#include <shoal/engine/row_request.hpp>
#include <shoal/engine/settle.hpp>
#include <shoal/sql/query.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace shoal::engine {

class Engine {
 public:
  virtual ~Engine() = default;

  // One result a grouping set. Touches the data. If the engine fails, throws internal with a fixed
  // text; the details go to the owner's log.
  virtual std::vector<data::GroupedAggregate> aggregate_groups(const GroupedRequest& request,
                                                               const OwnerLog& log) = 0;

  // Whether aggregate_groups() can be said to the engine: it binds the same SQL and looks at no
  // row. If not, throws internal with a fixed text; the details go to the owner's log.
  virtual void check_groups(const GroupedRequest& request, const OwnerLog& log) = 0;

  // The rows of a query over public tables, as keys in their order, each once. Throws unavailable.
  virtual std::vector<catalog::Key> public_keys(const sql::Query& query) = 0;

  // Whether no two rows of a public table share a value of the column. Throws unavailable.
  virtual bool is_unique(const std::string& table, const std::string& column) = 0;

  // Columns of the first table's rows, one row a unit. Reading them touches the data and fails as
  // aggregate_groups() does; the engine must be where it is until then. Throws unsupported, before
  // any of it, for an engine that hands out no rows; so do the four below.
  virtual data::TableRows table_rows(const RowRequest& request, const OwnerLog& log) = 0;

  // The same as codes, for counting. Touches the data and fails as aggregate_groups() does.
  virtual data::CodedTable coded_rows(const CodeRequest& request, const OwnerLog& log) = 0;

  // How many rows the first table has. Throws unsupported unless that is public: the unit is a row
  // and the relation replace_one. Otherwise fails as aggregate_groups() does.
  virtual std::int64_t row_count(const OwnerLog& log) = 0;

  // The first table's columns in the order of its file, which is public.
  virtual const std::vector<std::string>& column_order() const = 0;

  // What the policy lets a question hold in memory, in bytes, or half of what there is.
  virtual std::uint64_t memory() const = 0;

 protected:
  Engine() = default;
  Engine(const Engine&) = default;
  Engine(Engine&&) = default;
  Engine& operator=(const Engine&) = default;
  Engine& operator=(Engine&&) = default;
};

// The engine that the tables' format asks for, with the tables attached: their schemas are looked
// at, none of their rows, unless a CSV file was never settled (settle.hpp) and is now. Throws
// unsupported if the tables are in different places, and what the engine's constructor throws.
std::unique_ptr<Engine> open_engine(const catalog::Policy& policy,
                                    std::span<const catalog::Table* const> tables,
                                    const NameCopy& name_copy);

}  // namespace shoal::engine
