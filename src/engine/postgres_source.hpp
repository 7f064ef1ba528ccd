// A policy's table on a server: found, compared with the policy, and written as a common table in
// which each column has the policy's type.
#pragma once

#include "engine/postgres_connection.hpp"

#include <shoal/catalog/policy.hpp>

#include <string>

namespace shoal::engine {

// Throws unavailable if the server is too old or does not store text as UTF-8.
void check_server(PostgresConnection& connection);

// `"name" AS (SELECT ... FROM "schema"."table")`, for a WITH. Looks at the server's catalogue, at
// no row. Throws invalid_argument, not_found, conflict, unavailable or PostgresFailure.
std::string postgres_view(PostgresConnection& connection, const catalog::Policy& policy,
                          const catalog::Table& table);

}  // namespace shoal::engine
