# Wrappers for code that uses MLIR: TableGen, libraries, tools, documentation.

# Everything that a user of MLIR headers needs. Only the shared MLIR and LLVM
# libraries are linked: mixing them with the archives gives two copies of every
# TypeID. In a redistributable build libsparseattn alone links the archives.
add_library(sparseattn-compiler-usage INTERFACE)
target_include_directories(sparseattn-compiler-usage
  INTERFACE "${PROJECT_SOURCE_DIR}/include")
target_include_directories(sparseattn-compiler-usage SYSTEM
  INTERFACE "${PROJECT_BINARY_DIR}/include" ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_compile_definitions(sparseattn-compiler-usage INTERFACE ${LLVM_DEFINITIONS_LIST})
target_compile_options(sparseattn-compiler-usage INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti> $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
if(NOT SPARSEATTN_REDISTRIBUTABLE)
  target_link_libraries(sparseattn-compiler-usage INTERFACE MLIR LLVM)
endif()

# Every TableGen header; what a compiler library waits for unless it names less.
add_custom_target(sparseattn-headers)

# One mlir-tblgen run. Sets TABLEGEN_OUTPUT in the caller, as mlir_tablegen does.
macro(sparseattn_tablegen td output)
  set(LLVM_TARGET_DEFINITIONS ${td})
  mlir_tablegen(${output} ${ARGN}
    EXTRA_INCLUDES "${PROJECT_SOURCE_DIR}/include" ${MLIR_INCLUDE_DIRS})
endmacro()

# Makes `target` from the collected outputs of the current directory.
function(sparseattn_finish_tablegen target)
  add_custom_target(${target} DEPENDS ${ARGN})
  add_dependencies(sparseattn-headers ${target})
endfunction()

# One page of reference: DIR/NAME.md under <build>/doc.
function(add_sparseattn_doc td output)
  set(LLVM_TARGET_DEFINITIONS "${CMAKE_CURRENT_SOURCE_DIR}/${td}")
  string(REPLACE "/" "-" stem ${output})
  sparseattn_tablegen("${LLVM_TARGET_DEFINITIONS}" "${stem}.md" ${ARGN})
  set(page "${PROJECT_BINARY_DIR}/doc/${output}.md")
  add_custom_command(OUTPUT "${page}"
    COMMAND ${CMAKE_COMMAND} -E copy "${CMAKE_CURRENT_BINARY_DIR}/${stem}.md" "${page}"
    DEPENDS "${CMAKE_CURRENT_BINARY_DIR}/${stem}.md")
  add_custom_target(sparseattn-doc-${stem} DEPENDS "${page}")
  add_dependencies(sparseattn-doc sparseattn-doc-${stem})
  set_property(GLOBAL APPEND PROPERTY SPARSEATTN_DOC_PAGES "${page}")
endfunction()

# The pages of pipelines and commands, and the index, doc/README.md. They come
# from the commands themselves; called when all of them are known.
function(sparseattn_finish_doc)
  find_program(SPARSEATTN_PYTHON python3 REQUIRED)
  get_property(pages GLOBAL PROPERTY SPARSEATTN_DOC_PAGES)
  get_property(tools GLOBAL PROPERTY SPARSEATTN_TOOLS)
  set(commands)
  foreach(tool IN LISTS tools)
    list(APPEND commands "$<TARGET_FILE:${tool}>")
  endforeach()
  set(script "${PROJECT_SOURCE_DIR}/tools/doc/write_reference.py")
  set(index "${PROJECT_BINARY_DIR}/doc/README.md")
  add_custom_command(OUTPUT "${index}"
    COMMAND "${SPARSEATTN_PYTHON}" "${script}" --doc "${PROJECT_BINARY_DIR}/doc" ${commands}
    DEPENDS "${script}" ${pages} ${tools}
    COMMENT "Writing the reference's index" VERBATIM)
  add_custom_target(sparseattn-doc-index DEPENDS "${index}")
  add_dependencies(sparseattn-doc sparseattn-doc-index)
endfunction()

# add_sparseattn_dialect(NAME DIALECT [TD file])
#
# Runs mlir-tblgen over NAMEOps.td (or TD), which includes every other
# definition of the dialect. Generates into the build tree, beside the path of
# the source header:
#   NAMEDialect.{h,cpp}.inc  NAMEOps.{h,cpp}.inc
#   NAMETypes.{h,cpp}.inc    NAMEAttrs.{h,cpp}.inc   NAMEEnums.{h,cpp}.inc
# (without content where the dialect defines no such thing). DIALECT is the
# dialect's mnemonic, such as sa_comm. Makes the target NAMEIncGen and the page
# doc/Dialects/NAME.md.
function(add_sparseattn_dialect name dialect)
  cmake_parse_arguments(ARG "" "TD" "" ${ARGN})
  if(NOT ARG_TD)
    set(ARG_TD "${name}Ops.td")
  endif()
  set(TABLEGEN_OUTPUT)
  foreach(part IN ITEMS decls defs)
    set(extension h.inc)
    if(part STREQUAL defs)
      set(extension cpp.inc)
    endif()
    sparseattn_tablegen(${ARG_TD} ${name}Dialect.${extension}
      -gen-dialect-${part} -dialect=${dialect})
    sparseattn_tablegen(${ARG_TD} ${name}Ops.${extension} -gen-op-${part})
    sparseattn_tablegen(${ARG_TD} ${name}Types.${extension}
      -gen-typedef-${part} -typedefs-dialect=${dialect})
    sparseattn_tablegen(${ARG_TD} ${name}Attrs.${extension}
      -gen-attrdef-${part} -attrdefs-dialect=${dialect})
    sparseattn_tablegen(${ARG_TD} ${name}Enums.${extension} -gen-enum-${part})
  endforeach()
  sparseattn_finish_tablegen(${name}IncGen ${TABLEGEN_OUTPUT})
  add_sparseattn_doc(${ARG_TD} Dialects/${name} -gen-dialect-doc -dialect=${dialect})
endfunction()

# add_sparseattn_interfaces(NAME [OP td] [TYPE td] [ATTR td])
#
# Interface declarations and definitions, as NAMEOpInterfaces.{h,cpp}.inc,
# NAMETypeInterfaces.* and NAMEAttrInterfaces.*; the target is NAMEInterfacesIncGen.
function(add_sparseattn_interfaces name)
  cmake_parse_arguments(ARG "" "OP;TYPE;ATTR" "" ${ARGN})
  set(TABLEGEN_OUTPUT)
  foreach(kind IN ITEMS Op Type Attr)
    string(TOUPPER ${kind} upper)
    string(TOLOWER ${kind} lower)
    if(ARG_${upper})
      sparseattn_tablegen(${ARG_${upper}} ${name}${kind}Interfaces.h.inc
        -gen-${lower}-interface-decls)
      sparseattn_tablegen(${ARG_${upper}} ${name}${kind}Interfaces.cpp.inc
        -gen-${lower}-interface-defs)
    endif()
  endforeach()
  sparseattn_finish_tablegen(${name}InterfacesIncGen ${TABLEGEN_OUTPUT})
endfunction()

# add_sparseattn_passes(NAME [TD file])
#
# Passes.h.inc from Passes.td (or TD); NAME is the group's name in the
# generated registerNAMEPasses(). Makes NAMEPassIncGen and doc/Passes/NAME.md.
function(add_sparseattn_passes name)
  cmake_parse_arguments(ARG "" "TD" "" ${ARGN})
  if(NOT ARG_TD)
    set(ARG_TD Passes.td)
  endif()
  set(TABLEGEN_OUTPUT)
  string(REGEX REPLACE "\\.td$" ".h.inc" output ${ARG_TD})
  sparseattn_tablegen(${ARG_TD} ${output} -gen-pass-decls -name=${name})
  sparseattn_finish_tablegen(${name}PassIncGen ${TABLEGEN_OUTPUT})
  add_sparseattn_doc(${ARG_TD} Passes/${name} -gen-pass-doc)
endfunction()

# add_sparseattn_library(NAME sources... [LINK_LIBS libs...] [DEPENDS targets...])
#
# A static library of the compiler. LINK_LIBS names other libraries of this
# project; MLIR and LLVM come by themselves. DEPENDS names the TableGen targets that the
# sources need (default: all, sparseattn-headers).
function(add_sparseattn_library name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  sparseattn_note_links(${name} ${ARG_LINK_LIBS})
  target_link_libraries(${name}
    PUBLIC sparseattn-compiler-usage ${ARG_LINK_LIBS}
    PRIVATE sparseattn-warnings)
  if(NOT ARG_DEPENDS)
    set(ARG_DEPENDS sparseattn-headers)
  endif()
  add_dependencies(${name} ${ARG_DEPENDS})
endfunction()

# add_sparseattn_tool(NAME sources... [LINK_LIBS libs...])
#
# A command in <build>/bin.
function(add_sparseattn_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  sparseattn_note_links(${name} ${ARG_LINK_LIBS})
  if(SPARSEATTN_REDISTRIBUTABLE)
    sparseattn_embed_tool(${name} ${ARGN})
  else()
    add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
    target_link_libraries(${name} PRIVATE
      sparseattn-compiler-usage sparseattn-warnings ${ARG_LINK_LIBS})
    add_dependencies(${name} sparseattn-headers)
  endif()
  set_property(GLOBAL APPEND PROPERTY SPARSEATTN_TOOLS ${name})
endfunction()
