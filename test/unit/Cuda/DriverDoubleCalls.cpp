//===- DriverDoubleCalls.cpp - Functions of the driver double -------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "DriverDoubleMemory.h"

#include <algorithm>
#include <cstdio>

using namespace sart;
using namespace sart::cuda;

namespace sart::cuda {

/// The table's functions.
struct DoubleCalls : DoubleMemoryCalls {
  static Result init(unsigned) {
    ENTER("cuInit");
    return success;
  }
  static Result driverGetVersion(int *version) {
    ENTER("cuDriverGetVersion");
    *version = 13000;
    return success;
  }
  static Result getErrorName(Result error, const char **name) {
    static const std::map<Result, const char *> names = {
        {errorInvalidValue, "CUDA_ERROR_INVALID_VALUE"},
        {errorOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
        {errorNoDevice, "CUDA_ERROR_NO_DEVICE"},
        {201, "CUDA_ERROR_INVALID_CONTEXT"},
        {errorNoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
        {errorInvalidPtx, "CUDA_ERROR_INVALID_PTX"},
        {errorNotFound, "CUDA_ERROR_NOT_FOUND"},
        {errorIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"},
        {errorLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED"},
    };
    auto found = names.find(error);
    *name = found == names.end() ? nullptr : found->second;
    return *name ? success : errorInvalidValue;
  }
  static Result getErrorString(Result, const char **text) {
    *text = "text of it";
    return success;
  }
  static Result deviceGetCount(int *count) {
    ENTER("cuDeviceGetCount");
    *count = current->devices;
    return success;
  }
  static Result deviceGet(DeviceOrdinal *device, int ordinal) {
    ENTER("cuDeviceGet");
    *device = ordinal;
    return success;
  }
  static Result deviceGetName(char *name, int length, DeviceOrdinal) {
    ENTER("cuDeviceGetName");
    std::snprintf(name, static_cast<size_t>(length), "NVIDIA Double");
    return success;
  }
  static Result deviceGetAttribute(int *value, DeviceAttribute attribute,
                                   DeviceOrdinal) {
    ENTER("cuDeviceGetAttribute");
    auto found = current->attributes.find(attribute);
    if (found == current->attributes.end())
      return errorInvalidValue;
    *value = found->second;
    return success;
  }
  static Result deviceTotalMem(size_t *bytes, DeviceOrdinal) {
    ENTER("cuDeviceTotalMem_v2");
    *bytes = static_cast<size_t>(current->memoryBytes);
    return success;
  }
  static Result devicePrimaryCtxRetain(Context *context, DeviceOrdinal) {
    ENTER("cuDevicePrimaryCtxRetain");
    *context = primaryContext;
    current->live.insert("context");
    return success;
  }
  static Result devicePrimaryCtxRelease(DeviceOrdinal) {
    ENTER("cuDevicePrimaryCtxRelease_v2");
    current->live.erase("context");
    return success;
  }
  static Result ctxGetCurrent(Context *context) {
    ENTER("cuCtxGetCurrent");
    *context = currentContext;
    return success;
  }
  static Result ctxSetCurrent(Context context) {
    ENTER("cuCtxSetCurrent");
    currentContext = context;
    return success;
  }
  static Result streamCreate(StreamHandle *stream, unsigned) {
    ENTER_IN_CONTEXT("cuStreamCreate");
    *stream = handleOf<StreamHandle>(current->streams.size());
    current->live.insert(liveName("stream", current->streams.size()));
    current->streams.emplace_back();
    return success;
  }
  static Result streamDestroy(StreamHandle stream) {
    ENTER_IN_CONTEXT("cuStreamDestroy_v2");
    current->runAll(stream);
    current->live.erase(liveName("stream", indexOf(stream)));
    return success;
  }
  static Result streamSynchronize(StreamHandle stream) {
    ENTER_IN_CONTEXT("cuStreamSynchronize");
    current->runAll(stream);
    return success;
  }
  static Result streamWaitEvent(StreamHandle stream, EventHandle event,
                                unsigned) {
    ENTER_IN_CONTEXT("cuStreamWaitEvent");
    const DriverDouble::Event &point = current->events[indexOf(event)];
    DriverDouble::Item item;
    item.waitStream = point.stream;
    item.waitPosition = point.position;
    current->streams[indexOf(stream)].items.push_back(std::move(item));
    return success;
  }
  static Result streamBeginCapture(StreamHandle stream, CaptureMode) {
    ENTER_IN_CONTEXT("cuStreamBeginCapture_v2");
    current->streams[indexOf(stream)].capturing = true;
    return success;
  }
  static Result streamEndCapture(StreamHandle stream, GraphHandle *graph) {
    ENTER_IN_CONTEXT("cuStreamEndCapture");
    DriverDouble::Stream &captured = current->streams[indexOf(stream)];
    if (!captured.capturing)
      return errorInvalidValue;
    captured.capturing = false;
    *graph = handleOf<GraphHandle>(current->graphs.size());
    current->live.insert(liveName("graph", current->graphs.size()));
    current->graphs.push_back({std::move(captured.captured)});
    captured.captured.clear();
    return success;
  }
  static Result eventCreate(EventHandle *event, unsigned) {
    ENTER_IN_CONTEXT("cuEventCreate");
    *event = handleOf<EventHandle>(current->events.size());
    current->live.insert(liveName("event", current->events.size()));
    current->events.emplace_back();
    return success;
  }
  static Result eventDestroy(EventHandle event) {
    ENTER_IN_CONTEXT("cuEventDestroy_v2");
    current->live.erase(liveName("event", indexOf(event)));
    return success;
  }
  static Result eventRecord(EventHandle event, StreamHandle stream) {
    ENTER_IN_CONTEXT("cuEventRecord");
    current->events[indexOf(event)] = {
        static_cast<int>(indexOf(stream)),
        current->streams[indexOf(stream)].items.size(), ++current->now};
    return success;
  }
  static Result eventQuery(EventHandle event) {
    ENTER_IN_CONTEXT("cuEventQuery");
    const DriverDouble::Event &point = current->events[indexOf(event)];
    return point.stream < 0 ||
                   current->streams[static_cast<size_t>(point.stream)].done >=
                       point.position
               ? success
               : errorNotReady;
  }
  static Result eventSynchronize(EventHandle event) {
    ENTER_IN_CONTEXT("cuEventSynchronize");
    const DriverDouble::Event &point = current->events[indexOf(event)];
    if (point.stream >= 0)
      current->runUntil(point.stream, point.position);
    return success;
  }
  static Result eventElapsedTime(float *milliseconds, EventHandle begin,
                                 EventHandle end) {
    ENTER_IN_CONTEXT("cuEventElapsedTime");
    int from = current->events[indexOf(begin)].time;
    *milliseconds =
        static_cast<float>(current->events[indexOf(end)].time - from);
    return success;
  }
  static Result graphInstantiate(GraphExecHandle *executable, GraphHandle graph,
                                 unsigned long long) {
    ENTER_IN_CONTEXT("cuGraphInstantiateWithFlags");
    *executable = reinterpret_cast<GraphExecHandle>(graph);
    current->live.insert(liveName("executable graph", indexOf(graph)));
    return success;
  }
  static Result graphLaunch(GraphExecHandle executable, StreamHandle stream) {
    ENTER_IN_CONTEXT("cuGraphLaunch");
    for (const auto &work : current->graphs[indexOf(executable)].work)
      current->queue(stream, work);
    return success;
  }
  static Result graphDestroy(GraphHandle graph) {
    ENTER_IN_CONTEXT("cuGraphDestroy");
    current->live.erase(liveName("graph", indexOf(graph)));
    return success;
  }
  static Result graphExecDestroy(GraphExecHandle executable) {
    ENTER_IN_CONTEXT("cuGraphExecDestroy");
    current->live.erase(liveName("executable graph", indexOf(executable)));
    return success;
  }
  static Result moduleLoadDataEx(ModuleHandle *module, const void *image,
                                 unsigned count, JitOption *options,
                                 void **values) {
    ENTER_IN_CONTEXT("cuModuleLoadDataEx");
    std::string text = static_cast<const char *>(image);
    bool elf = text.compare(0, 4,
                            "\x7f"
                            "ELF") == 0;
    auto log = [&](JitOption option, const char *line) {
      for (unsigned i = 0; i + 1 < count; ++i)
        if (options[i] == option)
          std::snprintf(static_cast<char *>(values[i]),
                        reinterpret_cast<size_t>(values[i + 1]), "%s", line);
    };
    if (elf && current->checkCubins && text.find("sm_90") == std::string::npos)
      return errorNoBinaryForGpu;
    if (!elf && text.find("broken") != std::string::npos) {
      log(jitErrorLogBuffer, "ptxas fatal: broken");
      return errorInvalidPtx;
    }
    std::string info = "ptxas info: used 168 registers";
    if (text.find("serial") != std::string::npos)
      info = "ptxas info: (C7514) serialized";
    else if (text.find("talkative") != std::string::npos)
      info = std::string(100000, '.');
    log(jitInfoLogBuffer, info.c_str());
    *module = handleOf<ModuleHandle>(current->modules.size());
    current->live.insert(liveName("module", current->modules.size()));
    current->modules.push_back(text);
    return success;
  }
  static Result moduleUnload(ModuleHandle module) {
    ENTER_IN_CONTEXT("cuModuleUnload");
    current->live.erase(liveName("module", indexOf(module)));
    return success;
  }
  static Result moduleGetFunction(FunctionHandle *function, ModuleHandle,
                                  const char *name) {
    ENTER_IN_CONTEXT("cuModuleGetFunction");
    if (current->makeKernel && !current->kernels.count(name))
      current->makeKernel(name);
    auto found = current->kernels.find(name);
    if (found == current->kernels.end())
      return errorNotFound;
    *function = handleOf<FunctionHandle>(current->functions.size());
    current->functions.push_back(found->second);
    return success;
  }
  static Result funcGetAttribute(int *value, FunctionAttribute attribute,
                                 FunctionHandle) {
    ENTER_IN_CONTEXT("cuFuncGetAttribute");
    *value = attribute == functionLocalBytes ? current->localBytes : 0;
    return success;
  }
  static Result funcSetAttribute(FunctionHandle, FunctionAttribute, int) {
    ENTER_IN_CONTEXT("cuFuncSetAttribute");
    return success;
  }
  static Result launchKernel(FunctionHandle handle, unsigned gridX,
                             unsigned gridY, unsigned gridZ, unsigned blockX,
                             unsigned blockY, unsigned blockZ,
                             unsigned sharedBytes, StreamHandle stream,
                             void **parameters, void **) {
    ENTER_IN_CONTEXT("cuLaunchKernel");
    const DriverDouble::Function &function =
        current->functions[indexOf(handle)];
    DoubleLaunch launch;
    launch.kernel = function.name;
    unsigned grid[] = {gridX, gridY, gridZ}, block[] = {blockX, blockY, blockZ};
    std::copy(grid, grid + 3, launch.grid);
    std::copy(block, block + 3, launch.threads);
    launch.sharedBytes = sharedBytes;
    launch.stream = static_cast<int>(indexOf(stream));
    for (size_t i = 0; i < function.parameterBytes.size(); ++i) {
      auto *bytes = static_cast<const unsigned char *>(parameters[i]);
      launch.arguments.emplace_back(bytes, bytes + function.parameterBytes[i]);
    }
    current->launches.push_back(launch);
    if (function.body)
      current->queue(stream, [body = function.body, launch] { body(launch); });
    return success;
  }
  static Result
  tensorMapEncodeTiled(TensorMap *map, TensorMapDataType type, unsigned rank,
                       void *address, const uint64_t *sizes,
                       const uint64_t *strides, const uint32_t *box,
                       const uint32_t *elementStrides,
                       TensorMapInterleave interleave, TensorMapSwizzle swizzle,
                       TensorMapPromotion promotion, TensorMapFill fill) {
    ENTER("cuTensorMapEncodeTiled");
    DoubleMap record;
    record.type = type;
    record.rank = rank;
    record.address = address;
    record.sizes.assign(sizes, sizes + rank);
    record.strides.assign(strides, strides + rank - 1);
    record.box.assign(box, box + rank);
    record.elementStrides.assign(elementStrides, elementStrides + rank);
    record.interleave = interleave;
    record.swizzle = swizzle;
    record.promotion = promotion;
    record.fill = fill;
    uint64_t number = current->nextMap++;
    *map = {};
    std::memcpy(map->bytes, &number, sizeof(number));
    current->maps[number] = record;
    return success;
  }
};

} // namespace sart::cuda

CudaDriver DriverDouble::table() {
  CudaDriver table;
#define SART_CUDA_SET(member, symbol, parameters)                              \
  table.member = DoubleCalls::member;
  SART_CUDA_FUNCTIONS(SART_CUDA_SET)
#undef SART_CUDA_SET
  return table;
}
