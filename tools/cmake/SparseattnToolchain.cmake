# Compiler, linker and cache settings that every target shares.

# Adds the subdirectories that are present, in the order given.
function(sparseattn_add_existing_subdirectories)
  foreach(dir IN LISTS ARGN)
    if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${dir}/CMakeLists.txt")
      add_subdirectory(${dir})
    endif()
  endforeach()
endfunction()

if(SPARSEATTN_USE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(SPARSEATTN_CCACHE ccache)
  mark_as_advanced(SPARSEATTN_CCACHE)
  if(SPARSEATTN_CCACHE)
    set(CMAKE_C_COMPILER_LAUNCHER "${SPARSEATTN_CCACHE}")
    set(CMAKE_CXX_COMPILER_LAUNCHER "${SPARSEATTN_CCACHE}")
  endif()
endif()

if(SPARSEATTN_USE_LLD)
  include(CheckLinkerFlag)
  check_linker_flag(CXX "-fuse-ld=lld" SPARSEATTN_HAVE_LLD)
  if(SPARSEATTN_HAVE_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()

if(SPARSEATTN_ENABLE_ASSERTIONS)
  add_compile_options(-UNDEBUG)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()

if(SPARSEATTN_SANITIZERS)
  add_compile_options("-fsanitize=${SPARSEATTN_SANITIZERS}"
                      -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options("-fsanitize=${SPARSEATTN_SANITIZERS}")
endif()

# Warnings of our own sources; headers of others are included as SYSTEM.
add_library(sparseattn-warnings INTERFACE)
target_compile_options(sparseattn-warnings INTERFACE
  -Wall -Wextra $<$<BOOL:${SPARSEATTN_ENABLE_WERROR}>:-Werror>)

# Reference documentation generated from the TableGen definitions, and every
# unit test; both are empty in a build without the parts.
add_custom_target(sparseattn-doc)
add_custom_target(sparseattn-unittests)

# Leaves in `out` those of the given sources that exist; says which do not.
function(sparseattn_existing_sources out target)
  set(found)
  foreach(source IN LISTS ARGN)
    get_filename_component(full "${source}" ABSOLUTE)
    if(EXISTS "${full}")
      list(APPEND found "${source}")
    else()
      message(STATUS "${target}: source does not exist: ${source}")
    endif()
  endforeach()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()
