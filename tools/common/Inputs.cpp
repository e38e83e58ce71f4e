//===- Inputs.cpp - Tensors of a layer ------------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Inputs.h"

#include "Arrays.h"

#include <algorithm>

using namespace sart;

HostTensor HostTensor::zeros(DType dtype, std::array<int64_t, 3> shape) {
  HostTensor tensor;
  tensor.dtype = dtype;
  tensor.shape = shape;
  tensor.data.resize(static_cast<size_t>(tensor.elements() * byteSize(dtype)));
  return tensor;
}

HostTensor HostTensor::converted(DType to) const {
  if (to == dtype)
    return *this;
  HostTensor result = zeros(to, shape);
  for (int64_t i = 0, e = elements(); i < e; ++i)
    storeFromFloat(result.data.data(), to, i,
                   loadAsFloat(data.data(), dtype, i));
  return result;
}

sa_tensor HostTensor::view() {
  sa_dtype type = dtype == DType::F32    ? SA_F32
                  : dtype == DType::BF16 ? SA_BF16
                                         : SA_F16;
  return {data.data(),
          type,
          {shape[0], shape[1], shape[2]},
          {shape[1] * shape[2], shape[2], 1}};
}

static Expected<HostTensor> takeTensor(const std::string &path,
                                       const std::string &name,
                                       NpzArchive &archive) {
  auto found = archive.find(name);
  if (found == archive.end())
    return makeError("array '", name, "' of '", path,
                     "': got none, expected [heads, tokens, dim]");
  NpzArray &array = found->second;
  HostTensor tensor;
  Expected<DType> dtype = arrayDType(name, array);
  if (!dtype)
    return dtype.status();
  tensor.dtype = *dtype;
  if (array.shape.size() != 3)
    return makeError("shape of array '", name, "': got ",
                     shapeText(array.shape), ", expected [heads, tokens, dim]");
  SART_RETURN_IF_ERROR(checkFinite(name, array, tensor.dtype));
  std::copy(array.shape.begin(), array.shape.end(), tensor.shape.begin());
  tensor.data = std::move(array.data);
  return tensor;
}

Expected<RunInputs> sart::loadInputs(const std::string &path) {
  Expected<NpzArchive> archive = readNpz(path);
  if (!archive)
    return archive.status();
  for (const auto &[name, array] : *archive)
    if (name != "q" && name != "k" && name != "v" && name != "mask")
      return makeError("array of '", path, "': got '", name,
                       "', expected q, k, v and optionally mask");
  RunInputs inputs;
  for (auto [name, target] :
       {std::pair<const char *, HostTensor *>{"q", &inputs.q},
        {"k", &inputs.k},
        {"v", &inputs.v}}) {
    Expected<HostTensor> tensor = takeTensor(path, name, *archive);
    if (!tensor)
      return tensor.status();
    *target = std::move(*tensor);
    if (target->dtype != inputs.q.dtype)
      return makeError("dtype of array '", name, "' must equal q's: got ",
                       toString(target->dtype), ", expected ",
                       toString(inputs.q.dtype));
  }
  if (inputs.v.shape != inputs.k.shape)
    return makeError("shape of array 'v' must equal k's: got ",
                     shapeText({inputs.v.shape.begin(), inputs.v.shape.end()}),
                     ", expected ",
                     shapeText({inputs.k.shape.begin(), inputs.k.shape.end()}));
  if (inputs.k.shape[2] != inputs.q.shape[2])
    return makeError("dim of array 'k' must equal q's: got ", inputs.k.shape[2],
                     ", expected ", inputs.q.shape[2]);
  auto mask = archive->find("mask");
  if (mask != archive->end()) {
    if (mask->second.dtype != "b1" || mask->second.shape.size() != 3)
      return makeError("array 'mask': got ", mask->second.dtype, " ",
                       shapeText(mask->second.shape),
                       ", expected bool [heads, q-blocks, kv-blocks]");
    inputs.hasMask = true;
    std::copy(mask->second.shape.begin(), mask->second.shape.end(),
              inputs.maskShape.begin());
    inputs.mask = std::move(mask->second.data);
  }
  return inputs;
}

RunInputs sart::randomInputs(const sa_layer_info &info, DType dtype,
                             int64_t seed) {
  RunInputs inputs;
  inputs.q = HostTensor::zeros(dtype, {info.heads, info.sq, info.head_dim});
  inputs.k = HostTensor::zeros(dtype, {info.kv_heads, info.skv, info.head_dim});
  inputs.v = HostTensor::zeros(dtype, {info.kv_heads, info.skv, info.head_dim});
  int64_t stream = 0;
  for (HostTensor *tensor : {&inputs.q, &inputs.k, &inputs.v})
    fillNormal(tensor->data.data(), dtype, tensor->elements(), seed, stream++);
  return inputs;
}
