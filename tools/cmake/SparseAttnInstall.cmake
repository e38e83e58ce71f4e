# What `cmake --install` copies: a tree that can be moved as a whole.
include(CMakePackageConfigHelpers)

get_property(tools GLOBAL PROPERTY SPARSEATTN_TOOLS)
install(TARGETS sparseattn ${tools} RUNTIME DESTINATION bin LIBRARY DESTINATION lib)
install(DIRECTORY include/sparseattn-c DESTINATION include FILES_MATCHING PATTERN "*.h")
install(DIRECTORY examples/layers examples/data examples/tutorial examples/dit_host
        examples/c_host
        DESTINATION examples USE_SOURCE_PERMISSIONS PATTERN "__pycache__" EXCLUDE)
install(FILES LICENSE DESTINATION .)
install(FILES tools/cmake/ArchiveReadme.md DESTINATION . RENAME README.md)

set(package "${PROJECT_BINARY_DIR}/cmake")
configure_file(tools/cmake/sparseattn-config.cmake.in "${package}/sparseattn-config.cmake" @ONLY)
write_basic_package_version_file("${package}/sparseattn-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${package}/sparseattn-config.cmake" "${package}/sparseattn-config-version.cmake"
        DESTINATION lib/cmake/sparseattn)

# What is linked into a redistributable build keeps its notice.
if(SPARSEATTN_REDISTRIBUTABLE)
  foreach(part IN ITEMS
      llvm=llvm-22-dev mlir=libmlir-22-dev zlib=zlib1g-dev zstd=libzstd-dev
      nlohmann-json=nlohmann-json3-dev libstdc++=libstdc++-12-dev)
    string(REPLACE "=" ";" part "${part}")
    list(GET part 0 name)
    list(GET part 1 debian)
    set(notice "/usr/share/doc/${debian}/copyright")
    if(NOT EXISTS "${notice}")
      message(FATAL_ERROR "notice of ${name}: got none, expected ${notice}")
    endif()
    install(FILES "${notice}" DESTINATION licenses RENAME "${name}.txt")
  endforeach()
endif()
