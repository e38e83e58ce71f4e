# Unit tests. Every binary goes to <build>/unittests, where test/run.sh finds it.

# add_sparseattn_unittest(NAME sources... [LINK_LIBS libs...] [COMPILER])
#
# A GoogleTest binary with gtest's own main. With COMPILER it may include MLIR
# headers and is left out when the compiler is not built.
function(add_sparseattn_unittest name)
  cmake_parse_arguments(ARG "COMPILER" "" "LINK_LIBS" ${ARGN})
  if(NOT SPARSEATTN_BUILD_TESTS OR (ARG_COMPILER AND NOT SPARSEATTN_BUILD_COMPILER))
    return()
  endif()
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  sparseattn_note_links(${name} ${ARG_LINK_LIBS})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/unittests")
  # Where read-only test data is.
  target_compile_definitions(${name} PRIVATE
    SPARSEATTN_TEST_DATA_DIR="${PROJECT_SOURCE_DIR}/test/data")
  target_link_libraries(${name} PRIVATE
    GTest::gtest GTest::gtest_main sparseattn-warnings ${ARG_LINK_LIBS})
  if(ARG_COMPILER)
    target_link_libraries(${name} PRIVATE sparseattn-compiler-usage)
    add_dependencies(${name} sparseattn-headers)
  else()
    target_link_libraries(${name} PRIVATE sparseattn-runtime-usage Threads::Threads)
  endif()
  add_dependencies(sparseattn-unittests ${name})
  set_property(GLOBAL APPEND PROPERTY SPARSEATTN_UNITTESTS ${name})
endfunction()
