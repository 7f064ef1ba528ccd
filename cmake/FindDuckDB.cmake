# Finds DuckDB's C API and makes the target DuckDB::duckdb.
#
# Look in DUCKDB_ROOT first (cmake -DDUCKDB_ROOT=/opt/duckdb: a folder that holds duckdb.h and
# libduckdb.so, or include/ and lib/), then where scripts/fetch_duckdb put the pinned version, then
# in the system's folders.
set(DUCKDB_ROOT "" CACHE PATH "folder with duckdb.h and libduckdb.so, instead of the pinned one")
if(PROJECT_NAME STREQUAL "shoal")
  set(_duckdb_pinned "${PROJECT_SOURCE_DIR}/build/deps/duckdb")
endif()
find_path(DuckDB_INCLUDE_DIR duckdb.h
  HINTS ${DUCKDB_ROOT} ${_duckdb_pinned} ${CMAKE_CURRENT_LIST_DIR}
  PATH_SUFFIXES include)
find_library(DuckDB_LIBRARY duckdb
  HINTS ${DUCKDB_ROOT} ${_duckdb_pinned} ${CMAKE_CURRENT_LIST_DIR}/../..
  PATH_SUFFIXES lib)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(DuckDB
  REQUIRED_VARS DuckDB_LIBRARY DuckDB_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "run scripts/fetch_duckdb, or pass -DDUCKDB_ROOT=<folder with duckdb.h and libduckdb.so>")
if(DuckDB_FOUND AND NOT TARGET DuckDB::duckdb)
  add_library(DuckDB::duckdb SHARED IMPORTED)
  set_target_properties(DuckDB::duckdb PROPERTIES
    IMPORTED_LOCATION ${DuckDB_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${DuckDB_INCLUDE_DIR})
endif()
mark_as_advanced(DuckDB_INCLUDE_DIR DuckDB_LIBRARY)
