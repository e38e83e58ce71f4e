//===- ValidatorTemplate.cpp - Rules of a template ------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most rules look at the one instruction list alone. Where the static symbols
// are bound, the part before the plan is a whole program too (exchange,
// pooling, routing, gathers) and is executed symbolically like a bound one.
//
//===----------------------------------------------------------------------===//

#include "Schedule.h"
#include "ValidatorContext.h"

#include <algorithm>

using namespace sart;

namespace {

class TemplateChecker {
public:
  explicit TemplateChecker(ValidatorContext &context)
      : context(context), program(context.program), list(program.ranks[0]) {}

  void check() {
    checkSymbols();
    for (size_t i = 0; i < list.size() && !context.full(); ++i)
      if (checkOperands(context, -1, i))
        checkLists(i);
    checkOrder(context, -1);
    checkPlan();
    if (!context.clean())
      return;
    checkReleases();
    checkStatics();
  }

private:
  void checkSymbols() {
    std::vector<std::string_view> names;
    for (size_t i = 0; i < program.symbols.size(); ++i) {
      names.push_back(program.symbols[i].name);
      if (names.back().empty())
        context.addGlobal("header", "name of symbol ", i,
                          " is empty: got \"\", expected a name");
    }
    checkDistinct(context, "symbol", std::move(names));
  }

  void checkLists(size_t index) {
    const Instruction &instruction = list[index];
    const OpcodeInfo &info = infoOf(instruction.opcode);
    auto symbols = static_cast<int32_t>(program.symbols.size());
    auto declared = [&](const Operand &operand) {
      if (operand.symbol < symbols)
        return true;
      context.add("symbol", -1, index, "symbol is not declared: got ",
                  operand.symbol, ", expected 0 to ", symbols - 1);
      return false;
    };
    if (!declared(instruction.peer))
      return;
    if (info.peer && !instruction.peer.isSymbol() &&
        instruction.peer.values.size() != 1)
      context.add("structure", -1, index, "number of peers differs: got ",
                  instruction.peer.values.size(), ", expected 1");
    for (size_t l = 0; l < instruction.lists.size(); ++l) {
      const Operand &operand = instruction.lists[l];
      if (!declared(operand))
        return;
      if (operand.isSymbol()) {
        if (!operand.values.empty())
          context.add("symbol", -1, index, "list ", l,
                      " has values beside its symbol: got ",
                      operand.values.size(), ", expected 0");
        continue;
      }
      ListKind kind = info.lists[l].kind;
      int64_t ints = kind == ListKind::Chunks ? chunkInts
                     : kind == ListKind::Work ? workInts
                                              : 1;
      if (static_cast<int64_t>(operand.values.size()) % ints != 0)
        context.add("range", -1, index, "length of list ", l,
                    " is not whole: got ", operand.values.size(),
                    " integers, expected a multiple of ", ints);
    }
  }

  /// Dynamic symbols have values from the plan on.
  void checkPlan() {
    size_t plan = list.size();
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i].opcode != Opcode::Plan)
        continue;
      if (plan < list.size())
        context.add("structure", -1, i, "occurs twice: got instructions ", plan,
                    " and ", i, ", expected one");
      plan = std::min(plan, i);
    }
    auto symbols = static_cast<int32_t>(program.symbols.size());
    for (size_t i = 0; i < plan; ++i) {
      auto check = [&](const Operand &operand) {
        if (!operand.isSymbol() || operand.symbol >= symbols)
          return;
        const Symbol &symbol =
            program.symbols[static_cast<size_t>(operand.symbol)];
        if (!symbol.isStatic)
          context.add("symbol", -1, i, "symbol ", symbol.name,
                      " has no value yet: got a use before the plan, expected "
                      "a static symbol or a plan before");
      };
      check(list[i].peer);
      std::for_each(list[i].lists.begin(), list[i].lists.end(), check);
    }
  }

  /// A window is not released while a transfer of it is open.
  void checkReleases() {
    std::vector<size_t> open; // instructions whose token is not awaited yet
    for (size_t i = 0; i < list.size(); ++i) {
      const Instruction &instruction = list[i];
      if (instruction.token >= 0)
        open.push_back(i);
      open.erase(std::remove_if(open.begin(), open.end(),
                                [&](size_t at) {
                                  return std::find(instruction.waits.begin(),
                                                   instruction.waits.end(),
                                                   list[at].token) !=
                                         instruction.waits.end();
                                }),
                 open.end());
      if (instruction.opcode != Opcode::Release)
        continue;
      for (size_t at : open)
        if (list[at].windows[0] == instruction.windows[0])
          context.add("lifetime", -1, i, "of ",
                      context.window(instruction.windows[0]).name,
                      " while a transfer of it is open: got token ",
                      list[at].token, " of instruction ", at,
                      ", expected a wait before");
    }
  }

  void checkStatics() {
    const auto &values = program.statics.values;
    if (values.empty())
      return;
    if (static_cast<int64_t>(values.size()) != context.mesh().ranks()) {
      context.addGlobal("header",
                        "number of ranks of the static symbols "
                        "differs: got ",
                        values.size(), ", expected ", context.mesh().ranks());
      return;
    }
    for (size_t rank = 0; rank < values.size(); ++rank)
      if (values[rank].size() != program.symbols.size()) {
        context.addGlobal("header", "number of symbol values of rank ", rank,
                          " differs: got ", values[rank].size(), ", expected ",
                          program.symbols.size());
        return;
      }
    executePrefix();
  }

  /// Executes what comes before (and with) the plan.
  void executePrefix() {
    Program prefix;
    prefix.placement = program.placement;
    prefix.windows = program.windows;
    prefix.bound = true;
    size_t end = 0;
    while (end < list.size() && usesStaticsOnly(list[end]))
      ++end;
    for (const auto &values : program.statics.values) {
      std::vector<Instruction> bound(
          list.begin(), list.begin() + static_cast<std::ptrdiff_t>(end));
      for (Instruction &instruction : bound) {
        auto bind = [&](Operand &operand) {
          if (operand.isSymbol())
            operand =
                Operand::immediate(values[static_cast<size_t>(operand.symbol)]);
        };
        bind(instruction.peer);
        std::for_each(instruction.lists.begin(), instruction.lists.end(), bind);
      }
      prefix.ranks.push_back(std::move(bound));
    }
    ValidatorContext inner(prefix, context.options);
    inner.geometry = context.geometry;
    checkRanges(inner);
    if (inner.clean()) {
      Schedule schedule;
      matchSchedule(inner, schedule);
      if (inner.clean())
        executeSymbolically(inner, schedule, /*prefix=*/true);
    }
    for (Violation &violation : inner.violations)
      context.push(violation.rule.c_str(), violation.rank, violation.phase,
                   violation.instruction, std::move(violation.message));
  }

  /// Static symbols, and no transfer that ends later.
  bool usesStaticsOnly(const Instruction &instruction) const {
    auto known = [&](const Operand &operand) {
      return !operand.isSymbol() ||
             program.symbols[static_cast<size_t>(operand.symbol)].isStatic;
    };
    return !infoOf(instruction.opcode).peer &&
           std::all_of(instruction.lists.begin(), instruction.lists.end(),
                       known);
  }

  ValidatorContext &context;
  const Program &program;
  const std::vector<Instruction> &list;
};

} // namespace

std::vector<Violation> sart::validateTemplate(const Program &program) {
  ValidatorOptions options;
  ValidatorContext context(program, options);
  if (program.bound) {
    context.addGlobal("header", "program is bound: got a bound program, "
                                "expected a template");
    return context.violations;
  }
  checkHeader(context);
  if (context.clean())
    TemplateChecker(context).check();
  return context.violations;
}
