# Everything Shoal is built on. Debian packages carry all but DuckDB, whose library and header
# scripts/fetch_duckdb puts, pinned by version and checksum, where DUCKDB_ROOT points.
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(SQLite3 REQUIRED)
find_package(PostgreSQL REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(Threads REQUIRED)
find_package(DuckDB REQUIRED)
