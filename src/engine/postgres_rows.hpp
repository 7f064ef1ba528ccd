// The rows of a request as PostgreSQL gives them: common tables over the policy's views, each
// column in the type that is wanted, values in steps, rows without a unit left out.
#pragma once

#include "engine/postgres_connection.hpp"

#include <shoal/engine/grouped_request.hpp>

#include <string>
#include <vector>

namespace shoal::engine {

// `views`: the tables' common tables, in a row. `rows`: SQL that gives [u,] k0, ..., v0, .... The
// last common table of what is returned is named typed. Looks at types, at no row. Throws
// PostgresFailure.
std::string typed_rows(PostgresConnection& connection, const std::string& views,
                       const std::string& rows, const GroupedRequest& request);

// The same of keys k0, k1, ... alone, each in its own type.
struct TypedKeys {
  std::string sql;
  std::vector<KeyType> types;
};
TypedKeys typed_keys(PostgresConnection& connection, const std::string& views,
                     const std::string& rows);

}  // namespace shoal::engine
