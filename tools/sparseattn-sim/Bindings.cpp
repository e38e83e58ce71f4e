//===- Bindings.cpp - Arguments from arrays, results to arrays ------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Bindings.h"

#include "Arrays.h"

#include <set>

using namespace sart;
using namespace mlir::sparseattn;

static InterpreterValue share(TensorValue tensor) {
  return std::make_shared<const TensorValue>(std::move(tensor));
}

static InterpreterValue share(BlockMask mask) {
  return std::make_shared<const MaskValue>(MaskValue{std::move(mask), {}});
}

static Expected<InterpreterValue> toTensor(const std::string &name,
                                           const ValueType &type,
                                           NpzArray &array,
                                           std::string &notice) {
  Expected<DType> dtype = arrayDType(name, array);
  if (!dtype)
    return dtype.status();
  if (array.shape != type.shape)
    return makeError(
        "shape of array '", name, "' must equal the argument's: got ",
        shapeText(array.shape), ", expected ", shapeText(type.shape));
  SART_RETURN_IF_ERROR(checkFinite(name, array, *dtype,
                                   /*allowEmptyLse=*/type.shape.size() == 2));
  TensorValue tensor{*dtype, array.shape, std::move(array.data)};
  if (*dtype != type.dtype) {
    TensorValue rounded = TensorValue::zeros(type.dtype, tensor.shape);
    for (int64_t i = 0, e = tensor.elements(); i < e; ++i)
      rounded.store(i, tensor.load(i));
    tensor = std::move(rounded);
    notice += concat("inputs     ", name, " rounded from ", toString(*dtype),
                     " to ", toString(type.dtype), "\n");
  }
  return share(std::move(tensor));
}

static Expected<InterpreterValue>
toMask(const std::string &name, const ValueType &type, const NpzArray &array) {
  if (array.dtype != "b1" || array.shape != type.shape)
    return makeError("array '", name, "': got ", array.dtype, " ",
                     shapeText(array.shape), ", expected bool ",
                     shapeText(type.shape));
  return share(BlockMask::fromBits(array.data.data(), type.shape[0],
                                   type.shape[1], type.shape[2]));
}

static Status planArgument(const std::string &name) {
  return makeError("argument '", name,
                   "': got type !sparseattn.plan, expected tensors and masks: "
                   "no array holds a plan");
}

/// The array that argument `index` takes: that of its name in the text, of
/// `arg<i>`, or q, k, v of a layer whose printed text has lost its names.
static std::string arrayName(const NpzArchive &archive,
                             const Signature &signature, size_t index) {
  const std::string &written = signature.argumentNames[index];
  std::string numbered = concat("arg", index);
  if (archive.count(written))
    return written;
  if (archive.count(numbered))
    return numbered;
  const char *layer[] = {"q", "k", "v"};
  if (signature.arguments.size() == 3 && written == numbered &&
      archive.count(layer[index]))
    return layer[index];
  return written;
}

Expected<std::vector<InterpreterValue>>
sart::loadArguments(const std::string &path, const Signature &signature,
                    std::string &notice) {
  Expected<NpzArchive> archive = readNpz(path);
  if (!archive)
    return archive.status();
  std::vector<InterpreterValue> values;
  std::set<std::string> taken;
  std::string names;
  for (size_t i = 0; i < signature.arguments.size(); ++i) {
    const ValueType &type = signature.arguments[i];
    names += (i ? ", " : "") + signature.argumentNames[i];
    std::string name = arrayName(*archive, signature, i);
    auto array = archive->find(name);
    if (type.kind == ValueType::Kind::Plan)
      return planArgument(name);
    if (array == archive->end() || !taken.insert(name).second)
      return makeError("array '", name, "' of '", path,
                       "': got none, expected ",
                       type.kind == ValueType::Kind::Mask
                           ? "bool"
                           : std::string(toString(type.dtype)),
                       " ", shapeText(type.shape));
    Expected<InterpreterValue> value =
        type.kind == ValueType::Kind::Mask
            ? toMask(name, type, array->second)
            : toTensor(name, type, array->second, notice);
    if (!value)
      return value.status();
    values.push_back(std::move(*value));
  }
  for (const auto &[name, array] : *archive)
    if (!taken.count(name))
      return makeError("array of '", path, "': got '", name,
                       "', expected the arguments of @", signature.name, ": ",
                       names.empty() ? "none" : names);
  return values;
}

Expected<std::vector<InterpreterValue>>
sart::randomArguments(const Signature &signature, int64_t seed) {
  std::vector<InterpreterValue> values;
  for (size_t i = 0; i < signature.arguments.size(); ++i) {
    const ValueType &type = signature.arguments[i];
    if (type.kind == ValueType::Kind::Plan)
      return planArgument(signature.argumentNames[i]);
    int64_t stream = static_cast<int64_t>(i);
    TensorValue tensor = TensorValue::zeros(type.dtype, type.shape);
    fillNormal(tensor.data.data(), type.dtype, tensor.elements(), seed, stream);
    if (type.kind == ValueType::Kind::Tensor) {
      values.push_back(share(std::move(tensor)));
      continue;
    }
    std::vector<uint8_t> bits(static_cast<size_t>(tensor.elements()));
    for (size_t bit = 0; bit < bits.size(); ++bit)
      bits[bit] = tensor.load(static_cast<int64_t>(bit)) > 0;
    values.push_back(share(BlockMask::fromBits(bits.data(), type.shape[0],
                                               type.shape[1], type.shape[2])));
  }
  return values;
}

Expected<RunInputs>
sart::toRunInputs(const std::vector<InterpreterValue> &arguments) {
  RunInputs inputs;
  if (arguments.size() != 3)
    return makeError("arguments of a layer: got ", arguments.size(),
                     ", expected q, k and v");
  size_t index = 0;
  for (HostTensor *target : {&inputs.q, &inputs.k, &inputs.v}) {
    auto tensor =
        std::get_if<std::shared_ptr<const TensorValue>>(&arguments[index]);
    if (!tensor || (*tensor)->shape.size() != 3)
      return makeError("argument ", index,
                       " of a layer: got another value, expected a tensor "
                       "[heads, tokens, dim]");
    target->dtype = (*tensor)->dtype;
    std::copy((*tensor)->shape.begin(), (*tensor)->shape.end(),
              target->shape.begin());
    target->data = (*tensor)->data;
    ++index;
  }
  return inputs;
}

std::vector<std::string> sart::resultNames(const Signature &signature) {
  const std::vector<ValueType> &results = signature.results;
  if (results.size() == 2 && results[0].kind == ValueType::Kind::Tensor &&
      results[1].kind == ValueType::Kind::Tensor &&
      results[0].shape.size() == 3 && results[1].shape.size() == 2)
    return {"out", "lse"};
  std::vector<std::string> names;
  for (size_t i = 0; i < results.size(); ++i)
    names.push_back(concat("result", i));
  return names;
}

NpzArchive sart::toArchive(const std::vector<std::string> &names,
                           const std::vector<InterpreterValue> &values) {
  NpzArchive archive;
  for (size_t i = 0; i < values.size(); ++i) {
    if (auto tensor =
            std::get_if<std::shared_ptr<const TensorValue>>(&values[i]))
      archive[names[i]] =
          toArray((*tensor)->dtype, (*tensor)->shape, (*tensor)->data);
    if (auto value =
            std::get_if<std::shared_ptr<const MaskValue>>(&values[i])) {
      const BlockMask &mask = (*value)->mask;
      archive[names[i]] = {
          "b1", {mask.heads(), mask.qBlocks(), mask.kvBlocks()}, mask.toBits()};
    }
  }
  return archive;
}
