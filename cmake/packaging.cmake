# What `cmake --install` puts where, and the files behind find_package(shoal).
include(CMakePackageConfigHelpers)

set(_layer_targets ${SHOAL_LAYERS})
list(TRANSFORM _layer_targets PREPEND shoal_)
install(TARGETS ${_layer_targets} EXPORT shoalTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS shoal RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/shoal DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT shoalTargets NAMESPACE shoal:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/shoal)

# DuckDB has no package of its own in Debian: its library goes along.
install(FILES ${DuckDB_LIBRARY} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${DuckDB_INCLUDE_DIR}/duckdb.h cmake/FindDuckDB.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/shoal)

configure_package_config_file(cmake/shoalConfig.cmake.in ${PROJECT_BINARY_DIR}/shoalConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/shoal)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/shoalConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/shoalConfig.cmake ${PROJECT_BINARY_DIR}/shoalConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/shoal)
