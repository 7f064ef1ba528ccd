// DuckDB's own parser, as a second opinion on what a query's text means.
#pragma once

#include <duckdb.h>
#include <nlohmann/json.hpp>

#include <stdexcept>
#include <string>

namespace shoal::sql::testing {

class DuckdbOracle {
 public:
  DuckdbOracle() {
    if (duckdb_open(nullptr, &database_) != DuckDBSuccess ||
        duckdb_connect(database_, &connection_) != DuckDBSuccess ||
        duckdb_prepare(connection_,
                       "SELECT CAST(json_serialize_sql(CAST(? AS VARCHAR)) AS VARCHAR)",
                       &statement_) != DuckDBSuccess) {
      throw std::runtime_error("DuckDB does not start");
    }
  }
  DuckdbOracle(const DuckdbOracle&) = delete;
  DuckdbOracle& operator=(const DuckdbOracle&) = delete;
  ~DuckdbOracle() {
    duckdb_destroy_prepare(&statement_);
    duckdb_disconnect(&connection_);
    duckdb_close(&database_);
  }

  // DuckDB's tree of one statement without its positions and without ASC; null, with a reason, if
  // DuckDB refuses the text.
  nlohmann::json parse(const std::string& query, std::string& reason) {
    nlohmann::json tree = nlohmann::json::parse(serialize(query));
    if (tree.at("error").get<bool>()) {
      reason = tree.value("error_message", "");
      return nullptr;
    }
    if (tree.at("statements").size() != 1) {
      reason = "more than one statement";
      return nullptr;
    }
    remove_positions(tree);
    return tree;
  }

 private:
  std::string serialize(const std::string& query) {
    duckdb_result result;
    if (duckdb_bind_varchar_length(statement_, 1, query.data(), query.size()) != DuckDBSuccess) {
      throw std::runtime_error("DuckDB does not take the text");
    }
    const bool done = duckdb_execute_prepared(statement_, &result) == DuckDBSuccess;
    char* text = done ? duckdb_value_varchar(&result, 0, 0) : nullptr;
    const std::string copy = text != nullptr ? text : "";
    duckdb_free(text);
    duckdb_destroy_result(&result);
    if (!done) throw std::runtime_error("DuckDB does not serialize the text");
    return copy;
  }

  static void remove_positions(nlohmann::json& tree) {
    if (tree.is_object()) tree.erase("query_location");
    // ASC says what DuckDB does without it, unless it is configured otherwise.
    if (tree == "ASCENDING") tree = "ORDER_DEFAULT";
    if (!tree.is_structured()) return;
    for (nlohmann::json& child : tree) remove_positions(child);
  }

  duckdb_database database_ = nullptr;
  duckdb_connection connection_ = nullptr;
  duckdb_prepared_statement statement_ = nullptr;
};

}  // namespace shoal::sql::testing
