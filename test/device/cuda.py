"""The CUDA driver through ctypes: loads cubins, encodes tensor maps, launches."""

import ctypes
import json
import os
import struct

import torch

_lib = None

MAP_BYTES = 128
MAX_SOURCES = 2
ENTRY = struct.Struct("<QQQiiiiiiiiii")  # 64 bytes, see AttendKernel.h
assert ENTRY.size == 64


def driver():
    global _lib
    if _lib is None:
        torch.zeros(1, device="cuda")
        _lib = ctypes.CDLL("libcuda.so.1")
    return _lib


def check(result, what):
    if result != 0:
        text = ctypes.c_char_p()
        driver().cuGetErrorString(result, ctypes.byref(text))
        raise RuntimeError(f"{what}: got CUDA error {result} ({text.value})")


def encode_map(tensor, box_rows, buffer, offset):
    """Writes the map of a [batch, heads, rows, columns] view, rank 4."""
    batch, heads, rows, columns = tensor.shape
    size = tensor.element_size()
    dims = (ctypes.c_uint64 * 4)(columns, rows, heads, batch)
    # A dimension of one element may have any stride; the driver wants one that
    # is not zero.
    strides = (ctypes.c_uint64 * 3)(*[
        max(16, tensor.stride(i) * size) for i in (2, 1, 0)])
    box = (ctypes.c_uint32 * 4)(64, box_rows, 1, 1)
    ones = (ctypes.c_uint32 * 4)(1, 1, 1, 1)
    dtype = 9 if tensor.dtype == torch.bfloat16 else 6
    check(driver().cuTensorMapEncodeTiled(
        ctypes.c_void_p(ctypes.addressof(buffer) + offset), dtype, 4,
        ctypes.c_void_p(tensor.data_ptr()), dims, strides, box, ones, 0, 3, 3,
        0), "cuTensorMapEncodeTiled")


class Kernel:
    """One attend kernel: NAME.cubin beside NAME.json in a folder."""

    def __init__(self, folder, name):
        self.name = name
        with open(os.path.join(folder, name + ".json")) as file:
            self.meta = json.load(file)
        with open(os.path.join(folder, name + ".cubin"), "rb") as file:
            image = file.read()
        self.image = ctypes.create_string_buffer(image, len(image))
        driver()
        module = ctypes.c_void_p()
        check(driver().cuModuleLoadData(ctypes.byref(module), self.image),
              f"cuModuleLoadData {name}")
        self.function = ctypes.c_void_p()
        entry = self.meta["entry"].encode()
        check(driver().cuModuleGetFunction(
            ctypes.byref(self.function), module, entry),
            f"cuModuleGetFunction {name}")
        check(driver().cuFuncSetAttribute(
            self.function, 8, self.meta["shared_bytes"]), "shared memory")
        self.sms = torch.cuda.get_device_properties(0).multi_processor_count

    def prepare(self, q, k, v, o, lse, mask, tiles, scale=None, sources=None):
        """Arguments of a launch. q, o: [B, H, Sq, D]; k, v: [B, Hkv, Skv, D];
        lse [B, H, Sq] float32; mask [B * H, nQ, 1 + n] int32 rows of count and
        indices; tiles [n, 4] int32."""
        batch, heads, rows, dim = q.shape
        group = heads // k.shape[1]
        meta = self.meta
        pool = ctypes.create_string_buffer(MAX_SOURCES * 3 * MAP_BYTES + 64)
        start = (-ctypes.addressof(pool)) % 64
        for i, (tensor, box) in enumerate(((q, meta["q_box_rows"]),
                                           (k, meta["kv_box_rows"]),
                                           (v, meta["kv_box_rows"]))):
            for source in range(MAX_SOURCES):
                encode_map(tensor, box, pool,
                           start + (source * 3 + i) * MAP_BYTES)
        records = bytearray()
        for b in range(batch):
            for h in range(heads):
                number = b * heads + h
                records += ENTRY.pack(
                    o.data_ptr() + (b * o.stride(0) + h * o.stride(1)) *
                    o.element_size(),
                    lse.data_ptr() + (b * lse.stride(0) + h * lse.stride(1)) * 4,
                    mask.data_ptr() + number * mask.stride(0) * 4,
                    number % MAX_SOURCES, h, h // group, rows, k.shape[2], b, b,
                    0, 0, 0)
        entries = torch.frombuffer(records, dtype=torch.uint8).cuda()
        counter = torch.zeros(1, dtype=torch.int32, device="cuda")
        scale = (dim ** -0.5 if scale is None else scale) * 1.4426950408889634
        values = [ctypes.c_uint64(entries.data_ptr()),
                  ctypes.c_uint64(tiles.data_ptr()),
                  ctypes.c_int32(tiles.shape[0]),
                  ctypes.c_uint64(counter.data_ptr()),
                  ctypes.c_int64(o.stride(2)),
                  ctypes.c_int32(mask.stride(1)), ctypes.c_float(scale)]
        pointers = (ctypes.c_void_p * (1 + len(values)))(
            ctypes.addressof(pool) + start,
            *[ctypes.addressof(value) for value in values])
        per_cta = meta["tiles_per_cta"]
        grid = max(1, min(self.sms, (tiles.shape[0] + per_cta - 1) // per_cta))
        return grid, pointers, counter, (pool, entries, values, tiles)

    def launch(self, prepared):
        grid, pointers, counter, _ = prepared
        counter.zero_()
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        check(driver().cuLaunchKernel(
            self.function, grid, 1, 1, self.meta["threads"], 1, 1,
            self.meta["shared_bytes"], stream, pointers, None),
            f"cuLaunchKernel {self.name}")


def to_lists(mask):
    """bool [H, nQ, nK] to int32 [H, nQ, 1 + nK]: count, ascending indices."""
    heads, q_blocks, kv_blocks = mask.shape
    lists = torch.empty(heads, q_blocks, 1 + kv_blocks, dtype=torch.int32,
                        device=mask.device)
    for h in range(heads):
        lists[h, :, 0] = mask[h].sum(-1)
        lists[h, :, 1:] = torch.argsort((~mask[h]).to(torch.int8), dim=-1,
                                        stable=True)
    return lists


def order_tiles(lists):
    """Tile records: heads in order, longest first inside a head."""
    heads, q_blocks, _ = lists.shape
    count = lists[:, :, 0]
    order = torch.argsort(count, dim=-1, descending=True, stable=True)
    head = torch.arange(heads, device=lists.device)[:, None].expand(-1, q_blocks)
    return torch.stack([head, order, torch.zeros_like(order),
                        torch.gather(count, 1, order)], -1).reshape(
                            -1, 4).to(torch.int32).contiguous()
