//===- ScheduleBuilder.h - Emits a template ---------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_LIB_CONVERSION_SPARSEATTNTOCOMM_SCHEDULEBUILDER_H
#define SPARSEATTN_LIB_CONVERSION_SPARSEATTNTOCOMM_SCHEDULEBUILDER_H

#include "sparseattn/Dialect/Comm/IR/Comm.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

namespace mlir {
namespace sparseattn {

/// What a layer's schedule is made of, besides its instructions.
struct ScheduleHeader {
  std::string name;
  sart::Placement placement;
  float scale = 0;
  sart::RoutingPolicy policy;
  sart::PlannerOptions planner;
};

/// Emits one `sa_comm.template`: windows and symbols are declared when an
/// instruction first names them, so that none is declared in vain. The sizes of
/// the windows follow from the placement.
class ScheduleBuilder {
public:
  ScheduleBuilder(OpBuilder &builder, Location loc,
                  const ScheduleHeader &header);

  sa_comm::TemplateOp getTemplate() { return templateOp; }
  const sart::Placement &getPlacement() const { return header.placement; }
  int64_t ring() const { return header.placement.mesh.ring; }
  int64_t ulysses() const { return header.placement.mesh.ulysses; }
  bool blockShards() const { return header.placement.blockShards; }

  /// Starts the next phase.
  void phase(StringRef name);

  // Instructions; windows and symbols by name.
  void allToAll(sa_comm::Group group, StringRef source, StringRef target,
                StringRef symbol);
  void allGather(sa_comm::Group group, StringRef source, StringRef target,
                 StringRef symbol);
  void pool(sa_comm::Side side, StringRef source, StringRef target,
            StringRef work);
  void route(StringRef work);
  void plan();
  void loadMask(StringRef work);
  void augment(StringRef work);
  Value send(StringRef window, StringRef chunks, StringRef peer);
  Value recv(StringRef window, StringRef chunks, StringRef peer);
  void wait(ArrayRef<Value> tokens);
  void attend(StringRef output, StringRef lse, StringRef work);
  void merge(StringRef chunks);
  void convert(StringRef chunks);
  void release(StringRef window, StringRef slots);

private:
  FlatSymbolRefAttr window(StringRef name);
  FlatSymbolRefAttr symbol(StringRef name);
  FlatSymbolRefAttr symbol(const Twine &name);

  OpBuilder &builder;
  Location loc;
  ScheduleHeader header;
  sa_comm::TemplateOp templateOp;
  sa_comm::SpmdOp spmd;
  llvm::StringSet<> staticSymbols;
  llvm::StringSet<> declared;
  int64_t nextPhase = 0;
};

} // namespace sparseattn
} // namespace mlir

#endif // SPARSEATTN_LIB_CONVERSION_SPARSEATTNTOCOMM_SCHEDULEBUILDER_H
