//===- Inspect.cpp - What a layer's last run did --------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Objects.h"

#include "sparseattn-rt/Timeline.h"

#include <cmath>
#include <cstring>

using namespace capi;
using sart::Expected;
using sart::SlotView;

/// Hands out `text`, kept in the layer until its next call.
static sa_status handOut(sa_layer &layer, Expected<std::string> text,
                         const char **data, size_t *length) {
  if (!text)
    return fail(text.status());
  layer.text = std::move(*text);
  *data = layer.text.data();
  *length = layer.text.size();
  return SA_OK;
}

static sa_status checkRun(const sa_layer *layer, const void *data,
                          const void *length) {
  if (!layer || !data || !length)
    return fail("arguments: got a null pointer, expected none");
  if (!layer->hasRun)
    return fail("layer: got no finished run, expected one before");
  return SA_OK;
}

sa_status sa_layer_get_plan(sa_layer *layer, const char **text,
                            size_t *length) try {
  if (checkRun(layer, text, length) != SA_OK)
    return SA_ERROR;
  return handOut(*layer, layer->compiled.planText(layer->stats.plan), text,
                 length);
} catch (...) {
  return failCaught();
}

sa_status sa_layer_get_program(sa_layer *layer, const char **text,
                               size_t *length) try {
  if (checkRun(layer, text, length) != SA_OK)
    return SA_ERROR;
  Expected<sart::Program> bound = layer->executor->boundProgram();
  if (!bound)
    return fail(bound.status());
  return handOut(*layer, layer->compiler->printProgram(*bound), text, length);
} catch (...) {
  return failCaught();
}

sa_status sa_layer_get_program_bytes(sa_layer *layer, const void **bytes,
                                     size_t *length) try {
  if (checkRun(layer, bytes, length) != SA_OK)
    return SA_ERROR;
  Expected<sart::Program> bound = layer->executor->boundProgram();
  if (!bound)
    return fail(bound.status());
  std::vector<uint8_t> data = serialize(*bound);
  return handOut(*layer, std::string(data.begin(), data.end()),
                 reinterpret_cast<const char **>(bytes), length);
} catch (...) {
  return failCaught();
}

sa_status sa_layer_explain(sa_layer *layer, const char **text,
                           size_t *length) try {
  if (checkRun(layer, text, length) != SA_OK)
    return SA_ERROR;
  Expected<sart::Program> bound = layer->executor->boundProgram();
  if (!bound)
    return fail(bound.status());
  return handOut(*layer, explainProgram(*bound), text, length);
} catch (...) {
  return failCaught();
}

sa_status sa_layer_get_choice(sa_layer *layer, const char **text,
                              size_t *length) try {
  if (!layer || !text || !length)
    return fail("arguments: got a null pointer, expected none");
  return handOut(*layer, layer->choice, text, length);
} catch (...) {
  return failCaught();
}

sa_status sa_layer_predict(sa_layer *layer, const char *machine,
                           size_t machineSize, const char **text,
                           size_t *length) try {
  if (!machine)
    return fail("arguments: got a null pointer, expected none");
  if (checkRun(layer, text, length) != SA_OK)
    return SA_ERROR;
  Expected<sart::Machine> read = sart::Machine::parse({machine, machineSize});
  if (!read)
    return fail(sart::concat("machine: ", read.message()));
  Expected<sart::Program> bound = layer->executor->boundProgram();
  if (!bound)
    return fail(bound.status());
  Expected<sart::Timeline> timeline = sart::simulate(*bound, *read);
  if (!timeline)
    return fail(timeline.status());
  return handOut(*layer, sart::explainTimeline(*bound, *read), text, length);
} catch (...) {
  return failCaught();
}

sa_status sa_layer_get_trace(sa_layer *layer, const char *label,
                             double offsetUs, const char **events,
                             size_t *length) try {
  if (checkRun(layer, events, length) != SA_OK)
    return SA_ERROR;
  return handOut(*layer,
                 toTraceEvents(layer->stats, label ? label : "",
                               static_cast<int64_t>(offsetUs * 1e3)),
                 events, length);
} catch (...) {
  return failCaught();
}

sa_status sa_layer_get_mask(sa_layer *layer, uint8_t *bits, size_t size) try {
  if (checkRun(layer, bits, bits) != SA_OK)
    return SA_ERROR;
  sart::Expected<const sart::BlockMask *> last = layer->executor->lastMask();
  if (!last)
    return fail(last.status());
  const sart::BlockMask *mask = *last;
  if (!mask)
    return fail("mask: got no finished run, expected one before");
  std::vector<uint8_t> values = mask->toBits();
  if (values.size() != size)
    return fail(sart::concat("size of the mask: got ", size, ", expected ",
                             values.size()));
  if (size)
    std::memcpy(bits, values.data(), size);
  return SA_OK;
} catch (...) {
  return failCaught();
}

/// One head of a whole tensor.
static SlotView headView(const sart::Tensor &tensor, int64_t head) {
  char *base = static_cast<char *>(tensor.data) +
               head * tensor.strides[0] * byteSize(tensor.dtype);
  return {base, tensor.dtype, tensor.sizes[1], tensor.strides[1],
          tensor.sizes[2]};
}

sa_status sa_layer_reference(sa_layer *layer, const sa_tensor *q,
                             const sa_tensor *k, const sa_tensor *v,
                             int64_t head, const int64_t *rows, int64_t count,
                             double *out, double *lse, double *lseDense) try {
  if (!layer || (!rows && count > 0))
    return fail("arguments: got a null pointer, expected none");
  const sart::Program &program = layer->compiled.program;
  const sart::LayerShape &s = program.placement.shape;
  Expected<sart::Tensor> tensors[3] = {
      toTensor("q", q, s.dtype, s.heads, s.sq, s.headDim),
      toTensor("k", k, s.dtype, s.kvHeads, s.skv, s.headDim),
      toTensor("v", v, s.dtype, s.kvHeads, s.skv, s.headDim)};
  for (const Expected<sart::Tensor> &tensor : tensors)
    if (!tensor)
      return fail(tensor.status());
  const char *names[3] = {"q", "k", "v"};
  for (int i = 0; i < 3; ++i)
    if (sart::Status status =
            checkOnHost(*layer, names[i], *tensors[i], " for the reference");
        !status.ok())
      return fail(status);
  if (count < 0)
    return fail(
        sart::concat("count of rows: got ", count, ", expected at least 0"));
  if (head < 0 || head >= s.heads)
    return fail(
        sart::concat("head: got ", head, ", expected 0 to ", s.heads - 1));
  for (int64_t i = 0; i < count; ++i)
    if (rows[i] < 0 || rows[i] >= s.sq)
      return fail(sart::concat("row ", i, ": got ", rows[i], ", expected 0 to ",
                               s.sq - 1));
  const sart::BlockMask *mask = nullptr;
  if (layer->hasRun && (out || lse)) {
    sart::Expected<const sart::BlockMask *> last = layer->executor->lastMask();
    if (!last)
      return fail(last.status());
    mask = *last;
  }
  if ((out || lse) && !mask)
    return fail("layer: got no finished run, expected one before");
  // The mask is in its order; the tensors may be in raster order.
  std::vector<int64_t> selected(rows, rows + count);
  std::vector<sart::Tensor> ordered = {*tensors[0], *tensors[1], *tensors[2]};
  std::vector<std::vector<char>> copies(3);
  if (layer->compiled.boundaryOrder) {
    std::vector<int64_t> permutation =
        layer->compiled.boundaryOrder->permutation();
    std::vector<int64_t> inverse = layer->compiled.boundaryOrder->inverse();
    for (int64_t &row : selected)
      row = inverse[static_cast<size_t>(row)];
    for (int t = 0; t < 3; ++t) {
      const sart::Tensor &from = *tensors[t];
      int64_t element = byteSize(from.dtype);
      int64_t source = t == 0 ? head : s.kvHeadOf(head);
      size_t row = static_cast<size_t>(from.sizes[2] * element);
      copies[t].resize(static_cast<size_t>(from.sizes[1]) * row);
      for (int64_t i = 0; i < from.sizes[1]; ++i)
        std::memcpy(
            copies[t].data() + static_cast<size_t>(i) * row,
            static_cast<const char *>(from.data) +
                (source * from.strides[0] +
                 permutation[static_cast<size_t>(i)] * from.strides[1]) *
                    element,
            row);
      ordered[t] = sart::Tensor::contiguous(copies[t].data(), from.dtype, 1,
                                            from.sizes[1], from.sizes[2]);
    }
  }
  bool copied = layer->compiled.boundaryOrder.has_value();
  SlotView views[3];
  for (int t = 0; t < 3; ++t)
    views[t] = headView(ordered[t], copied   ? 0
                                    : t == 0 ? head
                                             : s.kvHeadOf(head));
  std::vector<double> unusedLse(static_cast<size_t>(count));
  if (out || lse)
    referenceAttend(
        s, views[0], views[1], views[2], selected, program.scale,
        [&](int64_t qBlock, int64_t kvBlock) {
          return mask->contains(head, qBlock, kvBlock);
        },
        out, lse ? lse : unusedLse.data(), layer->pool.get());
  if (lseDense)
    referenceAttend(s, views[0], views[1], views[2], selected, program.scale,
                    nullptr, nullptr, lseDense, layer->pool.get());
  return SA_OK;
} catch (...) {
  return failCaught();
}
