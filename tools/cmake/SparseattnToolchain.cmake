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

# Reports a missing source early, with the target's name.
function(sparseattn_check_sources target)
  if(NOT ARGN)
    message(FATAL_ERROR "${target}: no source files given")
  endif()
endfunction()
