# The layers of the house, bottom up. A layer is a folder under src/ and include/shoal/, a library
# shoal_<layer> (alias shoal::<layer>), and exactly the links given here.
# scripts/check_layers.py reads the USES lists of this file.
set(SHOAL_LAYERS "" CACHE INTERNAL "")

add_library(shoal_warnings INTERFACE)
target_compile_options(shoal_warnings INTERFACE
  -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wpedantic -Wnon-virtual-dtor
  -ffp-contract=off)
if(SHOAL_SANITIZE)
  target_compile_options(shoal_warnings INTERFACE
    -fsanitize=${SHOAL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(shoal_warnings INTERFACE -fsanitize=${SHOAL_SANITIZE})
  # Instrumented code hides from GCC 12 that the standard library initialises what it uses.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(shoal_warnings INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()

# shoal_layer(<name> [USES layer...] [LIBRARIES target...])
# USES: the layers it may include and link. LIBRARIES: third-party, linked privately.
function(shoal_layer name)
  cmake_parse_arguments(arg "" "" "USES;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  add_library(shoal_${name} STATIC ${sources})
  add_library(shoal::${name} ALIAS shoal_${name})
  set_target_properties(shoal_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(shoal_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(shoal_${name} PUBLIC cxx_std_20)
  foreach(layer IN LISTS arg_USES)
    target_link_libraries(shoal_${name} PUBLIC shoal_${layer})
  endforeach()
  target_link_libraries(shoal_${name} PRIVATE ${arg_LIBRARIES} $<BUILD_INTERFACE:shoal_warnings>)
  set(SHOAL_LAYERS ${SHOAL_LAYERS} ${name} CACHE INTERNAL "")
endfunction()
