#!/usr/bin/env python3
"""Checks and times the routing kernels on a GPU, through the driver alone.

  routing_check.py --cubins DIR [--no-time] [--no-check] [--json FILE]

DIR holds <name>.cubin for each name below, written by
  sparseattn-opt --sparseattn-emit-routing-kernels=kernels=<name> | sparseattn-translate --kernel-to-cubin
Needs PyTorch with CUDA. The oracle is float64 with a stable sort. Exit status 0
if all checks pass.
"""
import argparse
import ctypes
import json
import math
import os
import struct
import sys

import torch

NAMES = ["pool_bf16_d128_b128", "pool_bf16_d128_b64", "pool_f16_d64_b64",
         "pool_f32_d256_b32", "route_d128", "route_d64", "route_d256", "rows"]
DEV = "cuda"
cu = None
functions = {}


def ck(result, what):
    if result != 0:
        text = ctypes.c_char_p()
        cu.cuGetErrorString(result, ctypes.byref(text))
        raise RuntimeError(f"{what}: {result} {text.value}")


def load(folder):
    global cu
    torch.zeros(1, device=DEV)
    cu = ctypes.CDLL("libcuda.so.1")
    for name in NAMES:
        path = os.path.join(folder, name + ".cubin")
        if not os.path.exists(path):
            print(f"note: no {path}")
            continue
        image = open(path, "rb").read()
        module = ctypes.c_void_p()
        ck(cu.cuModuleLoadData(ctypes.byref(module), image), "load " + name)
        kernels = [name]
        if name.startswith("route"):
            kernels = [name + "_r8", "route_totals", "order_tiles"]
            if name != "route_d256":
                kernels.append(name + "_r16")
        if name == "rows":
            kernels = ["convert_f32_bf16", "convert_f32_f16", "convert_bf16_f32",
                       "convert_f16_f32", "merge_f32"]
        for kernel in kernels:
            function = ctypes.c_void_p()
            ck(cu.cuModuleGetFunction(ctypes.byref(function), module, kernel.encode()), kernel)
            functions[kernel] = function


def launch(kernel, grid, threads, shared, *arguments):
    function = functions[kernel]
    if shared > 48 * 1024:
        ck(cu.cuFuncSetAttribute(function, 8, shared), "shared memory of " + kernel)
    values = (ctypes.c_void_p * len(arguments))(*[ctypes.addressof(a) for a in arguments])
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    ck(cu.cuLaunchKernel(function, grid, 1, 1, threads, 1, 1, shared, stream, values, None), kernel)


ptr, i32, f32 = ctypes.c_uint64, ctypes.c_int32, ctypes.c_float


def device_bytes(data):
    return torch.frombuffer(bytearray(data), dtype=torch.uint8).to(DEV)


def ceil_div(a, b):
    return (a + b - 1) // b


def word(dtype):
    return {torch.bfloat16: "bf16", torch.float16: "f16", torch.float32: "f32"}[dtype]


class Pool:
    """x [H, S, D] -> y [H, blocks, D]."""

    def __init__(self, x, block):
        self.x = x
        heads, rows, dim = x.shape
        self.blocks = ceil_div(rows, block)
        self.y = torch.full((heads, self.blocks, dim), math.nan, device=DEV)
        self.name = f"pool_{word(x.dtype)}_d{dim}_b{block}"
        size = x.element_size()
        self.records = device_bytes(b"".join(
            struct.pack("<QQqiiiiQ", x.data_ptr() + h * x.stride(0) * size,
                        self.y.data_ptr() + h * self.blocks * dim * 4, x.stride(1), rows, dim, 0,
                        self.blocks, 0) for h in range(heads)))

    def run(self):
        launch(self.name, self.x.shape[0] * self.blocks, 256, 0, ptr(self.records.data_ptr()),
               i32(self.blocks))


def exact_means(x, block):
    heads, rows, dim = x.shape
    blocks = ceil_div(rows, block)
    out = []
    for h in range(heads):
        pad = torch.zeros(blocks * block, dim, dtype=torch.float64, device=DEV)
        pad[:rows] = x[h].double()
        counts = torch.full((blocks, 1), block, dtype=torch.float64, device=DEV)
        if rows % block:
            counts[-1] = rows % block
        out.append((pad.view(blocks, block, dim).sum(1) / counts).float())
    return torch.stack(out)


class Route:
    """Pooled q [H, nQ, D], k [Hkv, nK, D]."""

    def __init__(self, q, k, p, floor, scale, keep=(), visible=None, rows_per_cta=None):
        self.q, self.k = q, k
        self.p, self.floor, self.scale, self.keep, self.visible = p, floor, scale, keep, visible
        heads, self.nq, dim = q.shape
        self.nk = k.shape[1]
        self.mask = torch.full((heads, self.nq, self.nk + 1), -7, dtype=torch.int32, device=DEV)
        self.words = ceil_div(self.nk, 32)
        self.summary = torch.zeros(heads, 1 + self.words, dtype=torch.int32, device=DEV)
        self.figures = torch.full((heads, self.nq, 2), math.nan, dtype=torch.float64, device=DEV)
        self.totals = torch.full((heads, 4), math.nan, dtype=torch.float64, device=DEV)
        self.tiles = torch.full((heads * self.nq, 4), -1, dtype=torch.int32, device=DEV)
        group = heads // k.shape[0]
        seen = None if visible is None else torch.tensor(visible, dtype=torch.int32, device=DEV)
        self.seen = seen
        self.records = device_bytes(b"".join(
            struct.pack("<6Q6iQ", q.data_ptr() + h * self.nq * dim * 4,
                        k.data_ptr() + h // group * self.nk * dim * 4,
                        self.mask.data_ptr() + h * self.nq * (self.nk + 1) * 4,
                        0 if seen is None else seen.data_ptr(),
                        self.summary.data_ptr() + h * (1 + self.words) * 4,
                        self.figures.data_ptr() + h * self.nq * 16, 0, self.nq, self.nk, dim, dim,
                        self.nk + 1, 0) for h in range(heads)))
        self.order_range = (0, self.nk)
        self.pairs = device_bytes(b"".join(struct.pack("<2i", *r) for r in keep) or b"\0" * 8)
        stride = ceil_div(self.nk, 128) * 128

        def shared(rows, capacity):
            return capacity * max((dim + 2) * 8, 1024) + rows * stride * 16
        capacity = rows = 16
        limit = 232448
        if dim > 128 or shared(rows, capacity) > limit or rows_per_cta not in (None, 16):
            capacity = rows = 8
            while rows > 1 and (shared(rows, capacity) > limit or
                                (rows_per_cta and rows > rows_per_cta)):
                rows //= 2
        self.rows, self.capacity, self.stride = rows, capacity, stride
        self.shared = shared(rows, capacity)
        self.name = f"route_d{dim}_r{capacity}"
        self.order(0, self.nk)

    def order(self, begin, end):
        self.order_range = (begin, end)
        heads = self.q.shape[0]
        self.order_records = device_bytes(b"".join(
            struct.pack("<Qiiiiiiii", self.mask.data_ptr() + h * self.nq * (self.nk + 1) * 4,
                        self.nk + 1, 100 + h, 0, self.nq, begin, end, h * self.nq, 0)
            for h in range(heads)))

    def route(self):
        heads = self.q.shape[0]
        ctas = ceil_div(self.nq, self.rows)
        launch(self.name, heads * ctas, 32 * self.capacity, self.shared,
               ptr(self.records.data_ptr()), i32(self.rows), i32(ctas), i32(self.stride),
               f32(self.scale), f32(self.p), i32(self.floor), ptr(self.pairs.data_ptr()),
               i32(len(self.keep)))

    def total(self):
        launch("route_totals", self.q.shape[0], 32, 0, ptr(self.records.data_ptr()),
               ptr(self.totals.data_ptr()))

    def tile_order(self):
        size = 2
        while size < self.nq:
            size *= 2
        launch("order_tiles", self.q.shape[0], max(32, min(1024, size // 2)), size * 4,
               ptr(self.order_records.data_ptr()), ptr(self.tiles.data_ptr()), i32(size))

    def run(self):
        self.summary.zero_()
        self.route()
        self.total()
        self.tile_order()


def rounded(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def oracle(r):
    """bool [H, nQ, nK], near [H, nQ], kept mass [H, nQ]."""
    heads, nq, _ = r.q.shape
    group = heads // r.k.shape[0]
    p, scale = rounded(r.p), rounded(r.scale)
    sets, nears, masses = [], [], []
    seen = torch.full((nq,), r.nk, device=DEV) if r.seen is None else r.seen.long().clamp(max=r.nk)
    index = torch.arange(r.nk, device=DEV)
    exists = index[None] < seen[:, None]
    for h in range(heads):
        scores = scale * (r.q[h].double() @ r.k[h // group].double().T)
        scores = scores.masked_fill(~exists, -math.inf)
        order = torch.argsort(scores, dim=-1, descending=True, stable=True)
        weights = torch.exp(scores - scores.amax(-1, keepdim=True).clamp(min=-1e300))
        weights = weights.masked_fill(~exists, 0)
        weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-300)
        ranked = torch.gather(weights, 1, order)
        total = torch.cumsum(ranked, 1)
        reached = (total >= p) & (index[None] < seen[:, None])
        first = torch.where(reached.any(1), reached.to(torch.int8).argmax(1) + 1, seen)
        floor = torch.minimum(torch.full_like(seen, max(r.floor, 1)), seen)
        kept = torch.maximum(first, floor) if p < 1 else seen
        chosen = torch.zeros_like(exists)
        chosen.scatter_(1, order, index[None] < kept[:, None])
        for begin, end in r.keep:
            chosen |= (index[None] >= begin) & (index[None] < end)
        chosen &= exists
        near = ((total - p).abs() <= 1e-5) & (index[None] < seen[:, None])
        nears.append(near.sum(1) if 0 < p < 1 else torch.zeros_like(seen))
        sets.append(chosen)
        masses.append((weights * chosen).sum(1))
    return torch.stack(sets), torch.stack(nears), torch.stack(masses)


failures = []
results = {}


def expect(condition, text):
    if not condition:
        failures.append(text)
        print("FAIL:", text)


def check_route(label, r, exact=False):
    r.run()
    torch.cuda.synchronize()
    want, near, mass = oracle(r)
    heads = want.shape[0]
    got = torch.zeros_like(want)
    counts = r.mask[..., 0].long()
    expect(bool(((counts >= 0) & (counts <= r.nk)).all()), f"{label}: counts in range")
    counts = counts.clamp(0, r.nk)
    lists = r.mask[..., 1:].long()
    place = torch.arange(r.nk, device=DEV)
    valid = place < counts[..., None]
    inside = ((lists >= 0) & (lists < r.nk)) | ~valid
    expect(bool(inside.all()), f"{label}: indices in range")
    ascending = (lists[..., 1:] > lists[..., :-1]) | ~valid[..., 1:]
    expect(bool(ascending.all()), f"{label}: lists ascend")
    expect(bool((r.mask[..., 1:][~valid] == -7).all()), f"{label}: nothing written beyond a list")
    got.scatter_(2, torch.where(valid & inside, lists, 0), True)
    # Block 0 was also the place of what is not valid.
    got[..., 0] = (valid & (lists == 0)).any(-1)
    wrong = (got != want).any(-1)
    strict = wrong if exact else wrong & (near == 0)
    expect(not bool(strict.any()), f"{label}: {int(strict.sum())} rows of {wrong.numel()} differ "
           f"({int(wrong.sum())} with those near the threshold)")
    ints = r.figures.view(torch.int32).view(heads, r.nq, 4)
    expect(bool((ints[..., 3] == counts).all()), f"{label}: tiles of rows")
    near_off = (ints[..., 2] != near)
    expect(int(near_off.sum()) <= (0 if exact else 2), f"{label}: near figures of "
           f"{int(near_off.sum())} rows, for instance "
           f"{ints[..., 2][near_off][:4].tolist()} for {near[near_off][:4].tolist()}")
    off = (r.figures[..., 0] - mass).abs()[~wrong]
    expect(off.numel() == 0 or float(off.max()) < 1e-9, f"{label}: kept mass off by "
           f"{float(off.max()) if off.numel() else 0}")
    bits = torch.zeros(heads, r.words * 32, dtype=torch.bool, device=DEV)
    bits[:, :r.nk] = got.any(1)
    packed = (bits.view(heads, r.words, 32).long() << torch.arange(32, device=DEV)).sum(-1)
    expect(bool(((r.summary[:, 1:].long() & 0xffffffff) == packed).all()), f"{label}: demand bits")
    expect(bool((r.summary[:, 0].long() == counts.sum(1)).all()), f"{label}: summary tiles")
    whole = r.totals.view(torch.int64)
    expect(bool((whole[:, 1] == ints[..., 2].long().sum(1)).all()), f"{label}: total near")
    expect(bool((whole[:, 2] == counts.sum(1)).all()), f"{label}: total tiles")
    expect(bool((whole[:, 3] == r.nq).all()), f"{label}: total rows")
    expect(bool(((r.totals[:, 0] - r.figures[..., 0].sum(1)).abs() < 1e-8 * r.nq).all()),
           f"{label}: total mass")
    check_tiles(label, r, counts, lists, valid)
    print(f"{label}: rows {wrong.numel()}, density {float(counts.float().mean()) / r.nk:.3f}, "
          f"near {int(near.sum())}, {r.name} rows/cta {r.rows}")


def check_tiles(label, r, counts, lists, valid):
    begin, end = r.order_range
    heads = counts.shape[0]
    first = ((lists < begin) & valid).sum(-1)
    number = ((lists >= begin) & (lists < end) & valid).sum(-1)
    order = torch.argsort(number, dim=-1, descending=True, stable=True)
    want = torch.stack([
        (100 + torch.arange(heads, device=DEV))[:, None].expand_as(order), order,
        torch.gather(first, 1, order), torch.gather(number, 1, order)], -1).view(-1, 4)
    got = r.tiles.long()
    same = (got == want).clone()
    same[:, 2] |= want[:, 3] == 0
    expect(bool(same.all()), f"{label}: tile order [{begin}, {end})")


def checks():
    g = torch.Generator(device=DEV).manual_seed(5)

    def normal(*shape):
        return torch.randn(*shape, device=DEV, generator=g)

    def whole(low, high, *shape):
        return torch.randint(low, high, shape, device=DEV, generator=g).float()

    # Pooling.
    for heads, rows, dim, block, dtype in [
            (2, 1000, 128, 128, torch.bfloat16), (1, 1, 128, 128, torch.bfloat16),
            (3, 129, 128, 128, torch.bfloat16), (2, 8423, 128, 64, torch.bfloat16),
            (2, 127, 64, 64, torch.float16), (2, 4097, 64, 64, torch.float16),
            (2, 333, 256, 32, torch.float32), (40, 75600, 128, 128, torch.bfloat16)]:
        for kind in ("normal", "whole", "strided"):
            if kind == "strided":
                base = normal(rows, heads, dim + 64).to(dtype)
                x = base[..., :dim].permute(1, 0, 2)
            else:
                x = (normal(heads, rows, dim) if kind == "normal"
                     else whole(-100, 100, heads, rows, dim)).to(dtype)
            pool = Pool(x, block)
            if pool.name not in functions:
                continue
            pool.run()
            want = exact_means(x, block)
            different = int((pool.y != want).sum())
            off = float((pool.y - want).abs().max() / want.abs().max())
            bound = 0 if kind == "whole" else 2e-7
            label = f"{pool.name} H{heads} S{rows} {kind}"
            expect(off <= bound, f"{label}: off by {off}")
            print(f"{label}: {different} of {want.numel()} differ, largest {off:.2e}")
            first = pool.y.clone()
            for _ in range(5):
                pool.y.fill_(math.nan)
                pool.run()
                expect(bool((pool.y == first).all()), f"{label}: repeats differ")

    # Routing.
    scale = 1 / math.sqrt(128)
    for nq, nk, dim in [(591, 591, 128), (37, 1182, 128), (5, 1, 128), (3, 2, 128), (17, 31, 64),
                        (16, 33, 64), (1, 127, 256), (40, 129, 256), (64, 857, 128),
                        (20, 1713, 128), (9, 4680, 128), (5, 8192, 128), (2, 13952, 128)]:
        if f"route_d{dim}_r8" not in functions:
            continue
        for sharp in (1.0, 8.0, 60.0):
            q, k = normal(2, nq, dim) * sharp, normal(2, nk, dim)
            check_route(f"random {nq}x{nk} d{dim} sharp {sharp}", Route(q, k, 0.9, 1, scale))
        q, k = whole(-3, 4, 2, nq, dim), whole(-3, 4, 2, nk, dim)
        check_route(f"whole {nq}x{nk} d{dim}", Route(q, k, 0.9, 1, 1 / 16), exact=True)
        q, k = whole(0, 2, 2, nq, dim), whole(0, 2, 2, nk, dim)
        check_route(f"ties {nq}x{nk} d{dim}", Route(q, k, 0.7, 3, 1 / 64), exact=True)
        zero = torch.zeros_like(q)
        check_route(f"equal {nq}x{nk} d{dim}", Route(zero, k, 0.9, 1, 1.0), exact=True)
    q, k = normal(4, 300, 128) * 4, normal(4, 300, 128)
    for rows in (16, 8, 4, 2, 1):
        check_route(f"rows per cta {rows}", Route(q, k, 0.9, 1, scale, rows_per_cta=rows))
    for p, floor in [(1.0, 1), (2.0, 1), (0.0, 7), (0.0, 64), (0.0, 1000), (0.5, 0), (0.99999, 1),
                     (0.9, 50), (0.9, 300), (1e-6, 1), (0.001, 5)]:
        check_route(f"p {p} floor {floor}", Route(q, k, p, floor, scale))
    check_route("keep", Route(q, k, 0.3, 1, scale, keep=((0, 2), (290, 300), (100, 101))))
    check_route("keep beyond", Route(q, k, 0.3, 1, scale, keep=((-5, 1), (299, 400), (7, 3))))
    seen = [min(300, i) for i in range(300)]
    check_route("causal", Route(q, k, 0.9, 4, scale, visible=seen, keep=((0, 3),)))
    check_route("nothing visible", Route(q, k, 0.9, 4, scale, visible=[0] * 300, keep=((0, 3),)))
    check_route("more visible than there is", Route(q, k, 0.9, 4, scale, visible=[999] * 300))
    check_route("grouped", Route(normal(28, 50, 128) * 3, normal(7, 77, 128), 0.9, 2, scale))
    for begin, end in [(0, 1), (50, 200), (299, 300), (100, 100), (-4, 1000)]:
        r = Route(q, k, 0.8, 1, scale)
        r.order(begin, end)
        check_route(f"order {begin} {end}", r)
    r = Route(normal(1, 4681, 64) * 4, normal(1, 300, 64), 0.9, 1, 0.125)
    check_route("many rows", r)
    peaked = normal(2, 100, 128)
    check_route("one block takes all", Route(peaked * 100, peaked, 0.9, 6, 1.0))
    r = Route(normal(8, 591, 128) * 6, normal(8, 591, 128), 0.9, 1, scale)
    r.run()
    state = [t.clone() for t in (r.mask, r.figures, r.summary, r.totals, r.tiles)]
    for _ in range(50):
        r.run()
        same = all(bool((a.view(torch.uint8) == b.view(torch.uint8)).all())
                   for a, b in zip(state, (r.mask, r.figures, r.summary, r.totals, r.tiles)))
        expect(same, "repeats differ")
        if not same:
            break
    check_rows(normal)


def check_rows(normal):
    if "merge_f32" not in functions:
        return
    for name, a, b in [("f32_bf16", torch.float32, torch.bfloat16),
                       ("f32_f16", torch.float32, torch.float16),
                       ("bf16_f32", torch.bfloat16, torch.float32),
                       ("f16_f32", torch.float16, torch.float32)]:
        x = (normal(3, 1000, 96) * 300).to(a)
        y = torch.full((3, 1000, 72), 5.0, device=DEV).to(b)
        records = device_bytes(b"".join(
            struct.pack("<QQqqq", x[h].data_ptr(), y[h].data_ptr(), 96, 72, 1000 - h)
            for h in range(3)))
        ctas = ceil_div(1000 * 68, 8192)
        launch("convert_" + name, 3 * ctas, 256, 0, ptr(records.data_ptr()), i32(ctas), i32(68))
        want = torch.full_like(y, 5.0)
        for h in range(3):
            want[h, :1000 - h, :68] = x[h, :1000 - h, :68].to(b)
        expect(bool((y == want).all()), f"convert_{name}")
    rows, dim = 1000, 128
    o, part = normal(2, rows, dim), normal(2, rows, dim)
    lse, lse_part = normal(2, rows) * 20, normal(2, rows) * 20
    lse[:, ::7] = -math.inf
    o[:, ::7] = math.nan  # not read
    lse_part[:, ::5] = -math.inf
    part[:, ::5] = math.nan
    o[:, ::35] = 0
    both = torch.logaddexp(lse.double(), lse_part.double())
    a = torch.exp(lse.double() - both).nan_to_num(0)[..., None]
    b = torch.exp(lse_part.double() - both).nan_to_num(0)[..., None]
    want = torch.where(a > 0, a * o.double(), 0) + torch.where(b > 0, b * part.double(), 0)
    records = device_bytes(b"".join(
        struct.pack("<4Q5q", part[h].data_ptr(), lse_part[h].data_ptr(), o[h].data_ptr(),
                    lse[h].data_ptr(), dim, 1, dim, 1, rows) for h in range(2)))
    ctas = ceil_div(rows, 8)
    launch("merge_f32", 2 * ctas, 256, 0, ptr(records.data_ptr()), i32(ctas), i32(dim))
    off = float((o.double() - want).abs().max())
    expect(off < 2e-6, f"merge_f32: o off by {off}")
    finite = both > -math.inf
    off = float((lse.double() - both)[finite].abs().max())
    expect(off < 1e-5, f"merge_f32: lse off by {off}")
    expect(bool(torch.isneginf(lse[~finite]).all()), "merge_f32: empty stays empty")
    print("rows: converted and merged")


def timed(body, runs=30):
    for _ in range(5):
        body()
    torch.cuda.synchronize()
    times = []
    for _ in range(runs):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        body()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    times.sort()
    return times[len(times) // 2], times[0], times[-1]


def torch_route(q, k, bq, bk, p, scale):
    def means(x, block):
        heads, rows, dim = x.shape
        blocks = ceil_div(rows, block)
        padded = torch.nn.functional.pad(x, (0, 0, 0, blocks * block - rows))
        counts = torch.full((blocks, 1), block, device=DEV, dtype=torch.float32)
        counts[-1] = rows - (blocks - 1) * block
        return padded.view(heads, blocks, block, dim).float().sum(2) / counts
    scores = torch.softmax(means(q, bq) @ means(k, bk).transpose(1, 2) * scale, -1)
    ranked, order = torch.sort(scores, -1, descending=True)
    keep = torch.cumsum(ranked, -1) - ranked < p
    return torch.zeros_like(keep).scatter_(-1, order, keep)


def times():
    spin = torch.randn(8192, 8192, device=DEV, dtype=torch.bfloat16)
    for label, heads, rows, bq, bk in [("128x128", 40, 75600, 128, 128), ("128x64", 40, 75600, 128, 64),
                                       ("64x64", 7, 109632, 64, 64)]:
        scale = 1 / math.sqrt(128)
        if f"pool_bf16_d128_b{bk}" not in functions or f"pool_bf16_d128_b{bq}" not in functions:
            continue

        def tokens():
            x = torch.randn(heads, rows, 128, device=DEV, dtype=torch.bfloat16)
            shift = torch.randn(heads, ceil_div(rows, 64), 128, device=DEV, dtype=torch.bfloat16)
            x += shift.repeat_interleave(64, 1)[:, :rows]
            return x
        q, k = tokens(), tokens()
        pool_q, pool_k = Pool(q, bq), Pool(k, bk)
        for rows_per_cta in (None, 8, 4):
            r = Route(pool_q.y, pool_k.y, 0.9, 1, scale, rows_per_cta=rows_per_cta)

            def everything():
                pool_q.run()
                pool_k.run()
                r.run()
            for _ in range(20):
                spin @ spin
            parts = {"all": timed(everything), "pool q": timed(pool_q.run),
                     "pool k": timed(pool_k.run), "route": timed(r.route),
                     "totals": timed(r.total), "order": timed(r.tile_order)}
            density = float(r.mask[..., 0].float().mean()) / r.nk
            print(f"time {label} H{heads} S{rows} density {density:.3f} {r.name} rows/cta {r.rows}: " +
                  ", ".join(f"{n} {t[0] * 1e3:.0f} us ({t[1] * 1e3:.0f}..{t[2] * 1e3:.0f})"
                            for n, t in parts.items()))
            results[f"{label} rows {r.rows}"] = {n: t[0] for n, t in parts.items()}
        gigabytes = (q.numel() + k.numel()) * 2 / 1e9
        print(f"  pooling reads {gigabytes:.2f} GB: "
              f"{gigabytes / (parts['pool q'][0] + parts['pool k'][0]):.2f} TB/s")
        plain = timed(lambda: torch_route(q, k, bq, bk, 0.9, scale), 20)
        print(f"  plain PyTorch {plain[0]:.2f} ms ({plain[1]:.2f}..{plain[2]:.2f})")
        results[f"{label} plain PyTorch"] = plain[0]
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            everything()
        captured = timed(graph.replay)
        print(f"  as a graph {captured[0] * 1e3:.0f} us (rows/cta {r.rows})")
        results[f"{label} graph"] = captured[0]
        del q, k, pool_q, pool_k, r


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cubins", required=True)
    parser.add_argument("--no-time", action="store_true")
    parser.add_argument("--no-check", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    load(options.cubins)
    print(torch.cuda.get_device_name())
    if not options.no_time:
        times()
    if not options.no_check:
        checks()
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump({"times_ms": results, "failures": failures}, out, indent=1)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
