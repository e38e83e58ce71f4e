//===- Interpreter.cpp - Evaluates functions of sparseattn ops ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One walk over the function's block with a map from SSA values to their
// contents. A value is dropped after its last use, so that a long function does
// not keep every tensor.
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Interpreter/Interpreter.h"

#include "Evaluate.h"

#include "sparseattn/Target/Plan/Plan.h"
#include "sparseattn/Transforms/Boundary/Passes.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sparseattn;

// -- Values
// ----------------------------------------------------------------------

TensorValue TensorValue::zeros(sart::DType dtype, std::vector<int64_t> shape) {
  TensorValue tensor;
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  tensor.data.resize(
      static_cast<size_t>(tensor.elements() * sart::byteSize(dtype)));
  return tensor;
}

int64_t TensorValue::elements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

std::optional<sart::DType> sparseattn::getValueDType(Type element) {
  if (element.isF32())
    return sart::DType::F32;
  if (element.isBF16())
    return sart::DType::BF16;
  if (element.isF16())
    return sart::DType::F16;
  return std::nullopt;
}

bool sparseattn::isInterpretableSize(Type type) {
  SmallVector<int64_t> sizes;
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    sizes.assign(tensor.getShape().begin(), tensor.getShape().end());
  if (auto mask = dyn_cast<MaskType>(type))
    sizes = {mask.getHeads(), mask.getQBlocks(), mask.getKvBlocks()};
  int64_t elements = 1;
  for (int64_t size : sizes) {
    if (size > 0 && elements > maxElements / size)
      return llvm::is_contained(sizes, 0);
    elements *= size;
  }
  return true;
}

TensorValue sparseattn::makeTensor(RankedTensorType type) {
  return TensorValue::zeros(
      getValueDType(type.getElementType()).value_or(sart::DType::F32),
      type.getShape().vec());
}

sart::SlotView sparseattn::viewHead(const TensorValue &tensor, int64_t head) {
  int64_t rows = tensor.shape[1], elements = tensor.shape[2];
  auto *base = const_cast<uint8_t *>(tensor.data.data());
  return {base + head * rows * elements * sart::byteSize(tensor.dtype),
          tensor.dtype, rows, elements, elements};
}

// -- The walk
// --------------------------------------------------------------------

namespace {

template <typename T>
InterpreterValue share(T value) {
  return std::make_shared<const T>(std::move(value));
}

class Walk {
public:
  Walk(Evaluation evaluation, const InterpreterOptions &options)
      : evaluation(std::move(evaluation)), options(options) {}

  FailureOr<SmallVector<InterpreterValue>>
  run(func::FuncOp function, ArrayRef<InterpreterValue> arguments);

private:
  LogicalResult evaluateOp(Operation &op);
  LogicalResult evaluateConstant(Operation &op);
  LogicalResult define(Operation &op, SmallVector<InterpreterValue> results);
  template <typename T>
  LogicalResult define(Operation &op, FailureOr<T> result) {
    if (failed(result))
      return failure();
    return define(op, SmallVector<InterpreterValue>{share(std::move(*result))});
  }
  LogicalResult define(Operation &op,
                       std::pair<TensorValue, TensorValue> results) {
    return define(
        op, SmallVector<InterpreterValue>{share(std::move(results.first)),
                                          share(std::move(results.second))});
  }
  void dropDeadOperands(Operation &op);

  const TensorValue &tensor(Value value) {
    return *std::get<std::shared_ptr<const TensorValue>>(values.at(value));
  }
  const MaskValue &mask(Value value) {
    return *std::get<std::shared_ptr<const MaskValue>>(values.at(value));
  }
  const PlanValue &plan(Value value) {
    return *std::get<std::shared_ptr<const PlanValue>>(values.at(value));
  }

  Evaluation evaluation;
  const InterpreterOptions &options;
  DenseMap<Value, InterpreterValue> values;
};

/// Constants of float tensors, from whatever dialect.
LogicalResult Walk::evaluateConstant(Operation &op) {
  Attribute value;
  auto type = op.getNumResults() == 1
                  ? dyn_cast<RankedTensorType>(op.getResult(0).getType())
                  : RankedTensorType();
  bool known = type && getValueDType(type.getElementType()) &&
               matchPattern(&op, m_Constant(&value));
  auto elements =
      known ? dyn_cast<DenseFPElementsAttr>(value) : DenseFPElementsAttr();
  if (!elements)
    return op.emitOpError("in an interpreted function: got '")
           << op.getName()
           << "', expected sparseattn ops, dense constants of f32, bf16 or f16 "
              "and func.return";
  TensorValue result = makeTensor(type);
  int64_t index = 0;
  for (APFloat element : elements.getValues<APFloat>()) {
    bool losesInfo = false;
    element.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
    result.store(index++, element.convertToFloat());
  }
  return define(op, SmallVector<InterpreterValue>{share(std::move(result))});
}

LogicalResult Walk::define(Operation &op,
                           SmallVector<InterpreterValue> results) {
  if (options.observe)
    options.observe(&op, results);
  for (auto [value, result] : llvm::zip(op.getResults(), results))
    values[value] = std::move(result);
  return success();
}

LogicalResult Walk::evaluateOp(Operation &op) {
  for (Type type : op.getResultTypes())
    if (!isInterpretableSize(type))
      return op.emitOpError("elements of an interpreted value: got type ")
             << type << ", expected at most " << maxElements << " elements";
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case<PoolOp>([&](PoolOp op) {
        return define(*op, evaluate(op, tensor(op.getInput()), evaluation));
      })
      .Case<RouteOp>([&](RouteOp op) {
        return define(*op, evaluate(op, tensor(op.getPooledQ()),
                                    tensor(op.getPooledK()), evaluation));
      })
      .Case<ExplicitMaskOp, PolicyMaskOp>([&](auto op) {
        return define(*op, FailureOr<MaskValue>(evaluate(op)));
      })
      .Case<UnionOp, IntersectOp>([&](auto op) {
        return define(*op, evaluate(op, mask(op.getLhs()), mask(op.getRhs())));
      })
      .Case<PlaceOp>([&](PlaceOp op) {
        return define(*op, FailureOr<PlanValue>(evaluate(op)));
      })
      .Case<BalanceOp>([&](BalanceOp op) {
        return define(*op,
                      FailureOr<PlanValue>(evaluate(op, plan(op.getPlan()))));
      })
      .Case<AugmentOp>([&](AugmentOp op) {
        return define(*op,
                      evaluate(op, mask(op.getMask()), plan(op.getPlan())));
      })
      .Case<DemandOp>(
          [&](DemandOp op) { return define(*op, {values.at(op.getPlan())}); })
      .Case<ReshardOp>(
          [&](ReshardOp op) { return define(*op, {values.at(op.getInput())}); })
      .Case<PermuteOp>([&](PermuteOp op) {
        return define(*op, evaluate(op, tensor(op.getInput())));
      })
      .Case<AttendOp>([&](AttendOp op) {
        return define(*op, evaluate(op, tensor(op.getQ()), tensor(op.getK()),
                                    tensor(op.getV()), mask(op.getMask()),
                                    evaluation));
      })
      .Case<MergeOp>([&](MergeOp op) {
        return define(*op,
                      evaluate(op, tensor(op.getLhsO()), tensor(op.getLhsLse()),
                               tensor(op.getRhsO()), tensor(op.getRhsLse())));
      })
      .Default([&](Operation *op) { return evaluateConstant(*op); });
}

void Walk::dropDeadOperands(Operation &op) {
  for (Value operand : op.getOperands()) {
    bool used = llvm::any_of(operand.getUsers(), [&](Operation *user) {
      return op.isBeforeInBlock(user);
    });
    if (!used)
      values.erase(operand);
  }
}

FailureOr<SmallVector<InterpreterValue>>
Walk::run(func::FuncOp function, ArrayRef<InterpreterValue> arguments) {
  Block &body = function.getBody().front();
  for (auto [argument, value] : llvm::zip(body.getArguments(), arguments))
    values[argument] = value;
  for (Operation &op : body.without_terminator()) {
    if (failed(evaluateOp(op)))
      return failure();
    dropDeadOperands(op);
  }
  SmallVector<InterpreterValue> results;
  for (Value operand : body.getTerminator()->getOperands())
    results.push_back(values.at(operand));
  return results;
}

/// Whether `value` is of a function's argument type.
bool hasType(const InterpreterValue &value, Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    auto given = std::get_if<std::shared_ptr<const TensorValue>>(&value);
    return given && getValueDType(tensor.getElementType()) == (*given)->dtype &&
           tensor.getShape() == ArrayRef<int64_t>((*given)->shape);
  }
  if (auto mask = dyn_cast<MaskType>(type)) {
    auto given = std::get_if<std::shared_ptr<const MaskValue>>(&value);
    return given && (*given)->mask.heads() == mask.getHeads() &&
           (*given)->mask.qBlocks() == mask.getQBlocks() &&
           (*given)->mask.kvBlocks() == mask.getKvBlocks();
  }
  return isa<PlanType>(type) &&
         std::holds_alternative<std::shared_ptr<const PlanValue>>(value);
}

/// Permutes the tensors whose axis 1 holds the order's tokens.
void permuteAll(MutableArrayRef<InterpreterValue> values,
                const sart::Order &order, bool inverse) {
  std::vector<int64_t> permutation = order.permutation();
  for (InterpreterValue &value : values)
    if (auto *tensor = std::get_if<std::shared_ptr<const TensorValue>>(&value))
      if ((*tensor)->shape[1] == static_cast<int64_t>(permutation.size()))
        value = share(permuteRows(**tensor, permutation, inverse));
}

} // namespace

FailureOr<SmallVector<InterpreterValue>>
sparseattn::interpret(func::FuncOp function,
                      ArrayRef<InterpreterValue> arguments,
                      const InterpreterOptions &options) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("blocks of an interpreted function: got ")
           << function.getBody().getBlocks().size() << ", expected 1";
  if (arguments.size() != function.getNumArguments())
    return function.emitOpError("arguments: got ")
           << arguments.size() << ", expected " << function.getNumArguments();
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    if (!hasType(arguments[index], type))
      return function.emitOpError("argument ")
             << index << ": got a value of another type, expected " << type;

  Evaluation evaluation;
  evaluation.pool = std::make_shared<sart::ThreadPool>(options.threads);
  evaluation.backend = sart::createReferenceBackend(evaluation.pool);
  SmallVector<InterpreterValue> inputs(arguments);
  std::optional<sart::Order> order;
  if (auto attribute = function->getAttrOfType<OrderAttr>(kBoundaryOrderAttr)) {
    order = toOrder(attribute);
    if (sart::Status status = order->verify(); !status.ok())
      return function.emitOpError("order: ") << status.message();
    permuteAll(inputs, *order, /*inverse=*/false);
  }
  FailureOr<SmallVector<InterpreterValue>> results =
      Walk(std::move(evaluation), options).run(function, inputs);
  if (succeeded(results) && order)
    permuteAll(*results, *order, /*inverse=*/true);
  return results;
}
