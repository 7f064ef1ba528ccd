// An engine: where the tables of a question are, and what adds them up exactly. Every engine
// answers the same calls with the same integers; a session asks through this interface and does not
// know which one it has.
#pragma once

#include <shoal/base/owner_log.hpp>
#include <shoal/catalog/key.hpp>
#include <shoal/catalog/policy.hpp>
#include <shoal/data/grouped_aggregate.hpp>
#include <shoal/engine/grouped_request.hpp>
#include <shoal/sql/query.hpp>

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

 protected:
  Engine() = default;
  Engine(const Engine&) = default;
  Engine(Engine&&) = default;
  Engine& operator=(const Engine&) = default;
  Engine& operator=(Engine&&) = default;
};

// The engine that the tables' format asks for, with the tables attached: their schemas are looked
// at, none of their rows. Throws unsupported if the tables are in different places, and what the
// engine's constructor throws.
std::unique_ptr<Engine> open_engine(const catalog::Policy& policy,
                                    std::span<const catalog::Table* const> tables);

}  // namespace shoal::engine
