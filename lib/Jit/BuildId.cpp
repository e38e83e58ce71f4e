//===- BuildId.cpp - Which build of a library is loaded -------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "BuildId.h"

#include "llvm/ADT/StringExtras.h"

#include <cstdint>
#include <cstring>
#include <link.h>

using namespace mlir;

namespace {
struct Search {
  uintptr_t address;
  std::string id;
};
} // namespace

/// The build id among the notes in [begin, end).
static std::string findBuildId(const char *begin, const char *end,
                               size_t alignment) {
  auto padded = [&](size_t size) {
    return (size + alignment - 1) / alignment * alignment;
  };
  size_t size = static_cast<size_t>(end - begin);
  ElfW(Nhdr) header;
  for (size_t at = 0; at + sizeof header <= size;) {
    std::memcpy(&header, begin + at, sizeof header);
    size_t name = at + sizeof header;
    size_t content = at + padded(sizeof header + header.n_namesz);
    if (content > size || header.n_descsz > size - content)
      break;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        std::memcmp(begin + name, "GNU", 4) == 0)
      return llvm::toHex(llvm::StringRef(begin + content, header.n_descsz),
                         /*LowerCase=*/true);
    at = content + padded(header.n_descsz);
  }
  return "";
}

static int visitObject(dl_phdr_info *object, size_t, void *data) {
  auto *search = static_cast<Search *>(data);
  auto contains = [&](const ElfW(Phdr) & segment) {
    uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    return segment.p_type == PT_LOAD && search->address >= begin &&
           search->address < begin + segment.p_memsz;
  };
  const ElfW(Phdr) *segments = object->dlpi_phdr;
  const ElfW(Phdr) *end = segments + object->dlpi_phnum;
  bool found = false;
  for (const ElfW(Phdr) *segment = segments; segment != end; ++segment)
    found = found || contains(*segment);
  if (!found)
    return 0;
  for (const ElfW(Phdr) *segment = segments; segment != end; ++segment)
    if (segment->p_type == PT_NOTE && search->id.empty()) {
      const char *notes =
          reinterpret_cast<const char *>(object->dlpi_addr + segment->p_vaddr);
      search->id = findBuildId(notes, notes + segment->p_memsz,
                               segment->p_align == 8 ? 8 : 4);
    }
  return 1;
}

std::string sparseattn::buildIdOf(const void *address) {
  Search search = {reinterpret_cast<uintptr_t>(address), ""};
  ::dl_iterate_phdr(visitObject, &search);
  return search.id;
}
