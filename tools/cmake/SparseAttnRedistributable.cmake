# A build that runs where no LLVM is installed (SPARSEATTN_REDISTRIBUTABLE).
#
# One copy of the compiler: libsparseattn holds LLVM, MLIR and the commands that
# use them, linked from archives, and shows sa_* alone, because a host such as
# PyTorch brings an LLVM of its own. Each command that uses MLIR is a function
# sa_tool_NAME in it and a program that calls that function.

# Back ends and parts of LLVM that the compiler uses by itself; llvm-config adds
# what they need.
set(SPARSEATTN_LLVM_COMPONENTS x86 nvptx orcjit
    CACHE STRING "LLVM components of the redistributable library")
mark_as_advanced(SPARSEATTN_LLVM_COMPONENTS)

# Archives of MLIR that the sources name; their own dependencies are found.
set(SPARSEATTN_MLIR_LIBRARIES
  MLIRArithToLLVM
  MLIRBuiltinToLLVMIRTranslation
  MLIRControlFlowToLLVM
  MLIRFuncToLLVM
  MLIRIndexToLLVM
  MLIRLLVMToLLVMIRTranslation
  MLIRLspServerLib
  MLIRMathToLLVM
  MLIRMemRefToLLVM
  MLIRNVVMToLLVM
  MLIRNVVMToLLVMIRTranslation
  MLIROptLib
  MLIRReconcileUnrealizedCasts
  MLIRReduceLib
  MLIRSCFToControlFlow
  MLIRTargetLLVMIRExport
  MLIRTransforms
  MLIRUBToLLVM
  MLIRVectorToLLVMPass
)

if(NOT CMAKE_CXX_COMPILER_ID STREQUAL Clang OR NOT SPARSEATTN_HAVE_LLD)
  message(FATAL_ERROR "compiler of a redistributable build: got "
    "${CMAKE_CXX_COMPILER_ID}, expected clang with lld")
endif()

# Objects are compiled as in any other build, so that a compiler cache serves
# both: what is hidden or left out is decided by the linker.
add_link_options(-static-libgcc -static-libstdc++ -Wl,--as-needed -Wl,--gc-sections
  -Wl,-O2 -Wl,-s)
# bin/ and lib/ lie beside each other in the build tree as in the archive.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib")
set(ZLIB_USE_STATIC_LIBS ON)

# The file of every archive of MLIR that `ARGN` need, themselves among them.
function(sparseattn_mlir_archives out)
  set(open ${ARGN})
  set(seen)
  set(files)
  while(open)
    list(POP_FRONT open library)
    if(library IN_LIST seen OR NOT library MATCHES "^MLIR.")
      continue() # LLVM is listed by llvm-config
    endif()
    list(APPEND seen ${library})
    if(NOT TARGET ${library})
      message(FATAL_ERROR "archive of MLIR does not exist: got ${library}")
    endif()
    get_target_property(file ${library} LOCATION)
    get_target_property(needs ${library} INTERFACE_LINK_LIBRARIES)
    if(file)
      list(APPEND files "${file}")
    endif()
    if(needs)
      list(APPEND open ${needs})
    endif()
  endwhile()
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

# Every archive of LLVM and what it needs of the system, zstd and zlib as
# archives. z3, libxml2 and Polly serve parts of LLVM that are not linked.
function(sparseattn_llvm_archives out)
  execute_process(
    COMMAND "${LLVM_TOOLS_BINARY_DIR}/llvm-config" --link-static --libfiles
            ${SPARSEATTN_LLVM_COMPONENTS}
            # What MLIR's archives use of LLVM.
            asmparser bitwriter bitreader core frontendopenmp irreader ipo linker
            passes supportlsp
    OUTPUT_VARIABLE files OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE " " ";" files "${files}")
  list(FILTER files EXCLUDE REGEX "Polly")
  find_library(SPARSEATTN_ZSTD_ARCHIVE libzstd.a REQUIRED)
  mark_as_advanced(SPARSEATTN_ZSTD_ARCHIVE)
  list(APPEND files "${SPARSEATTN_ZSTD_ARCHIVE}" ZLIB::ZLIB)
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

# Makes `target` the one library that holds the compiler.
function(sparseattn_embed_compiler target)
  sparseattn_mlir_archives(mlir ${SPARSEATTN_MLIR_LIBRARIES})
  sparseattn_llvm_archives(llvm)
  target_link_libraries(${target} PRIVATE
    -Wl,--start-group ${mlir} ${llvm} -Wl,--end-group Threads::Threads ${CMAKE_DL_LIBS} m)
endfunction()

# A command that uses MLIR: sa_tool_NAME in libsparseattn, and the program.
function(sparseattn_embed_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  string(MAKE_C_IDENTIFIER "sa_tool_${name}" entry)
  string(REPLACE "sa_tool_sparseattn_" "sa_tool_" entry "${entry}")
  set(TOOL_ENTRY ${entry})
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/${name}")
  configure_file("${PROJECT_SOURCE_DIR}/tools/cmake/ToolEntry.h.in" "${generated}.entry.h" @ONLY)
  configure_file("${PROJECT_SOURCE_DIR}/tools/cmake/ToolProgram.c.in" "${generated}.c" @ONLY)

  add_library(${name}-entry OBJECT ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name}-entry PRIVATE -include "${generated}.entry.h")
  list(REMOVE_ITEM ARG_LINK_LIBS sparseattn)
  target_link_libraries(${name}-entry PUBLIC
    sparseattn-compiler-usage ${ARG_LINK_LIBS} PRIVATE sparseattn-warnings)
  add_dependencies(${name}-entry sparseattn-headers)
  target_link_libraries(sparseattn PRIVATE ${name}-entry)

  add_executable(${name} "${generated}.c")
  target_link_libraries(${name} PRIVATE sparseattn)
endfunction()
