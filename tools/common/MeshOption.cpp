//===- MeshOption.cpp - --ranks and --mesh --------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "MeshOption.h"

#include "CommandLine.h"

using namespace sart;

Expected<MeshOption> sart::parseMesh(const std::string &mesh, int64_t ranks,
                                     int64_t most) {
  MeshOption option;
  if (mesh.empty()) {
    if (ranks > 0)
      option = {ranks, 1};
    return option;
  }
  Status malformed =
      makeError("--mesh: got '", mesh, "', expected ulysses=U,ring=R");
  if (mesh == "auto")
    return makeError("--mesh: got 'auto' without --machine, expected "
                     "ulysses=U,ring=R");
  std::string text = mesh;
  while (!text.empty()) {
    size_t comma = text.find(',');
    std::string part = text.substr(0, comma);
    text = comma == std::string::npos ? "" : text.substr(comma + 1);
    size_t equals = part.find('=');
    if (equals == std::string::npos ||
        (comma != std::string::npos && text.empty()))
      return malformed;
    std::string axis = part.substr(0, equals);
    if (axis != "ulysses" && axis != "ring")
      return malformed;
    Expected<int64_t> size =
        parseInteger("--mesh " + axis, part.substr(equals + 1), 1, most);
    if (!size)
      return size.status();
    int64_t &target = axis == "ulysses" ? option.ulysses : option.ring;
    if (target != 0)
      return malformed;
    target = *size;
  }
  if (option.ulysses == 0)
    option.ulysses = 1;
  if (option.ring == 0)
    option.ring = 1;
  int64_t product = option.ulysses * option.ring;
  if (ranks > 0 && product != ranks)
    return makeError("--mesh ", mesh, " must multiply to --ranks: got ",
                     product, ", expected ", ranks);
  if (product > most)
    return makeError("--mesh ", mesh, ": got ", product,
                     " ranks, expected at most ", most);
  return option;
}
