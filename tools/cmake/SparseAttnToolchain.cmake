# Compiler, linker and cache settings that every target shares.

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

# Coverage that guides the fuzzers; only their own binaries link the engine.
if(SPARSEATTN_BUILD_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Warnings of our own sources; headers of others are included as SYSTEM.
add_library(sparseattn-warnings INTERFACE)
target_compile_options(sparseattn-warnings INTERFACE
  -Wall -Wextra $<$<BOOL:${SPARSEATTN_ENABLE_WERROR}>:-Werror>)

# Reference documentation generated from the TableGen definitions, and every
# unit test; both are empty in a build without the parts.
add_custom_target(sparseattn-doc)
add_custom_target(sparseattn-unittests)

# Libraries are spelt SparseAttnName (compiler, tools), sparseattn-rt-name
# (runtime) and sparseattn (the C API). A name that no target has would go to the
# linker as -lname: an error of the last minute, or the wrong library.

# Remembers that `target` links the libraries that follow.
function(sparseattn_note_links target)
  foreach(library IN LISTS ARGN)
    set_property(GLOBAL APPEND PROPERTY SPARSEATTN_LINKS "${target}|${library}")
  endforeach()
endfunction()

# Stops when a remembered library is no target of this build.
function(sparseattn_check_links)
  get_property(links GLOBAL PROPERTY SPARSEATTN_LINKS)
  set(bad)
  foreach(link IN LISTS links)
    string(REPLACE "|" ";" parts "${link}")
    list(GET parts 0 target)
    list(GET parts 1 library)
    if(NOT TARGET ${library})
      string(APPEND bad "\n  library of ${target}: got ${library}, expected a target")
    endif()
  endforeach()
  if(bad)
    message(FATAL_ERROR "libraries do not exist:${bad}")
  endif()
endfunction()
