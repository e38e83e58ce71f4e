# Wrappers for code under runtime/: no MLIR or LLVM header, C++17.

add_library(sparseattn-runtime-usage INTERFACE)
target_include_directories(sparseattn-runtime-usage INTERFACE
  "${PROJECT_SOURCE_DIR}/runtime/include")

# add_sparseattn_runtime_library(NAME sources... [LINK_LIBS libs...])
#
# A static library of the runtime. Public headers are found as
# "sparseattn-rt/X.h", private ones beside the sources.
function(add_sparseattn_runtime_library name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  sparseattn_note_links(${name} ${ARG_LINK_LIBS})
  target_include_directories(${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  target_link_libraries(${name}
    PUBLIC sparseattn-runtime-usage Threads::Threads ${ARG_LINK_LIBS}
    PRIVATE sparseattn-warnings)
  set_property(GLOBAL APPEND PROPERTY SPARSEATTN_RUNTIME_LIBS ${name})
endfunction()

# add_sparseattn_client(NAME sources... [LINK_LIBS libs...])
#
# A command in <build>/bin that uses the C API and the runtime alone: it sees
# include/ (for sparseattn-c) and runtime/include, and no MLIR header.
function(add_sparseattn_client name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  sparseattn_note_links(${name} ${ARG_LINK_LIBS})
  target_include_directories(${name} PRIVATE
    "${CMAKE_CURRENT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(${name} PRIVATE
    sparseattn-runtime-usage sparseattn-warnings Threads::Threads ${ARG_LINK_LIBS})
  set_property(GLOBAL APPEND PROPERTY SPARSEATTN_TOOLS ${name})
endfunction()
