#!/usr/bin/env python3
"""Times attend kernels on a GPU beside PyTorch's, in one process.

usage: attend_time.py FOLDER [--shapes NAME,...] [--variants K=FILE,...]
                      [--trace FILE.bmt] [--json OUT.json] [--flex]

FOLDER has NAME.cubin and NAME.json. Work is that of visited blocks, clipped at
the sequence's ends. Times are CUDA events around the counter's reset and the
launch: after a preheat, the median of `reps` launches over rotating inputs
(hot), and of 10 launches 40 ms apart (spaced). Six tiles of the last launch are
compared with float64.
"""

import argparse
import json
import math
import struct
import subprocess
import sys
import time

import torch

from attend_check import reference_tile
from cuda import Kernel, order_tiles, to_lists

# name: heads, kv heads, Sq = Skv, head_dim, block_q, block_k, masks, whether
# cuDNN runs too, [dtype]
SHAPES = {
    "wan32k": (40, 40, 32768, 128, 128, 128, [0.1, 0.2, 0.5, 1.0], True),
    "wan75k": (40, 40, 75600, 128, 128, 128, [0.2], True),
    "wan75k_q128k64": (40, 40, 75600, 128, 128, 64, ["trace", 0.4], True),
    "h7_109k_q64k64": (7, 7, 109632, 128, 64, 64, ["top64"], False),
    "h8_109k": (8, 8, 109632, 128, 128, 128, [1.0, 0.1, 0.05, 0.0125], False),
    "d64": (16, 16, 16384, 64, 128, 128, [0.2], True),
    "d256": (12, 12, 16384, 256, 128, 128, [0.2], True),
    "gqa": (64, 8, 32768, 128, 128, 128, [0.2], True),
    "wan32k_f16": (40, 40, 32768, 128, 128, 128, [0.2], False, "f16"),
    "hunyuan": (24, 24, 115712, 128, 128, 128, [0.2], True),
}


def read_trace(path):
    with open(path, "rb") as file:
        data = file.read()
    fields = struct.unpack_from("<14I", data, 4)
    heads, nq, nk, row_bytes = fields[5], fields[6], fields[7], fields[13]
    offset = 4 + 56 + 8 + 4 * heads + 2 * heads * nq
    raw = torch.frombuffer(bytearray(data[offset:offset + heads * nq * row_bytes]),
                           dtype=torch.uint8).reshape(heads, nq, row_bytes)
    bits = (raw[..., None] >> torch.arange(8, dtype=torch.uint8)) & 1
    return bits.reshape(heads, nq, -1)[..., :nk].bool().cuda()


def make_mask(kind, heads, nq, nk, generator, trace):
    if kind == "trace":
        return read_trace(trace)
    if kind == 1.0:
        return torch.ones(heads, nq, nk, dtype=torch.bool, device="cuda")
    scores = torch.rand(heads, nq, nk, device="cuda", generator=generator)
    diagonal = torch.arange(nq, device="cuda") * nk // nq
    if isinstance(kind, str):  # topN
        scores[:, torch.arange(nq, device="cuda"), diagonal] = 2
        mask = torch.zeros_like(scores, dtype=torch.bool)
        mask.scatter_(2, scores.topk(int(kind[3:]), dim=-1).indices, True)
        return mask
    mask = scores < kind
    mask[:, torch.arange(nq, device="cuda"), diagonal] = True
    return mask


def useful_flops(mask, sq, skv, block_q, block_k, dim):
    nq, nk = mask.shape[1:]
    rows = torch.full((nq,), block_q, device="cuda", dtype=torch.float64)
    rows[-1] = sq - (nq - 1) * block_q
    keys = torch.full((nk,), block_k, device="cuda", dtype=torch.float64)
    keys[-1] = skv - (nk - 1) * block_k
    total = 0.0
    for head in mask:
        total += float(rows @ (head.double() @ keys))
    return 4.0 * dim * total


def median(values):
    return sorted(values)[len(values) // 2]


def measure(run, estimate_ms, preheat_s=0.4, least=21):
    """run(i) launches on input set i. Median, least, most and spaced median."""
    reps = int(min(60, max(least, 400 / max(estimate_ms, 1e-3))))
    begin = time.time()
    i = 0
    while time.time() - begin < preheat_s:
        for _ in range(max(1, int(50 / estimate_ms))):
            run(i)
            i += 1
        torch.cuda.synchronize()
    events = []
    for i in range(reps):
        a, b = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        a.record()
        run(i)
        b.record()
        events.append((a, b))
    torch.cuda.synchronize()
    times = [a.elapsed_time(b) for a, b in events]
    spaced = []
    if estimate_ms < 30:
        for i in range(10):
            time.sleep(0.04)
            a, b = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            a.record()
            run(i)
            b.record()
            torch.cuda.synchronize()
            spaced.append(a.elapsed_time(b))
    return {"median_ms": median(times), "min_ms": min(times),
            "max_ms": max(times), "launches": reps,
            "spaced_ms": median(spaced) if spaced else None}


class Bench:
    def __init__(self, options):
        self.options = options
        self.rows = []
        self.sets = 3

    def report(self, row, flops):
        row["tflops"] = flops / row["median_ms"] / 1e9
        if row["spaced_ms"]:
            row["tflops_spaced"] = flops / row["spaced_ms"] / 1e9
        self.rows.append(row)
        spread = (row["max_ms"] - row["min_ms"]) / row["median_ms"] * 100
        print(f"{row['shape']:16s} {str(row['mask']):7s} {row['kernel']:34s} "
              f"{row['median_ms']:9.3f} ms {row['tflops']:6.1f} TFLOP/s hot "
              f"{row.get('tflops_spaced', math.nan):6.1f} spaced  spread "
              f"{spread:.1f}%  {row.get('check', '')}", flush=True)

    def matmul(self):
        a = [torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
             for _ in range(self.sets)]
        out = torch.empty_like(a[0])
        flops = 2.0 * 8192**3
        row = measure(lambda i: torch.mm(a[i % 3], a[(i + 1) % 3], out=out), 1.6,
                      preheat_s=1.5, least=60)
        self.report({"shape": "matmul8192", "mask": "", "kernel": "torch.mm",
                     **row}, flops)

    def sdpa(self, name, data, heads, kv_heads, rows, dim):
        from torch.nn.attention import SDPBackend, sdpa_kernel
        flops = 4.0 * dim * rows * rows * heads
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            row = measure(
                lambda i: torch.nn.functional.scaled_dot_product_attention(
                    *data[i % self.sets], enable_gqa=heads != kv_heads),
                flops / 600e9)
        self.report({"shape": name, "mask": "dense", "kernel": "cudnn", **row},
                    flops)

    def flex(self, name, data, mask, kind, block_q, block_k, flops):
        from torch.nn.attention.flex_attention import BlockMask, flex_attention
        lists = to_lists(mask)
        counts = lists[None, :, :, 0].contiguous()
        indices = lists[None, :, :, 1:].contiguous()
        blocks = BlockMask.from_kv_blocks(
            torch.zeros_like(counts), torch.zeros_like(indices), counts,
            indices, BLOCK_SIZE=(block_q, block_k))
        compiled = torch.compile(flex_attention, dynamic=False)
        run = lambda i: compiled(*data[i % self.sets], block_mask=blocks)
        run(0)
        row = measure(run, flops / 400e9)
        self.report({"shape": name, "mask": kind, "kernel": "flex", **row},
                    flops)

    def shape(self, name):
        heads, kv_heads, rows, dim, block_q, block_k, kinds, dense, *more = (
            SHAPES[name])
        dtype = more[0] if more else "bf16"
        element = torch.bfloat16 if dtype == "bf16" else torch.float16
        generator = torch.Generator(device="cuda").manual_seed(5)
        sets = self.sets if heads * rows * dim < 3e8 else 2
        data = []
        for _ in range(sets):
            data.append([torch.randn(1, n, rows, dim, device="cuda",
                                     generator=generator, dtype=element)
                         for n in (heads, kv_heads, kv_heads)])
        data = (data * self.sets)[:self.sets]
        if dense and not self.options.no_baseline:
            self.sdpa(name, data, heads, kv_heads, rows, dim)
        base = f"attend_{dtype}_{dtype}_d{dim}_q{block_q}_k{block_k}"
        names = [base] + [v for v in self.options.variants
                          if v.startswith(base + "-")]
        kernels = [Kernel(self.options.folder, n) for n in names]
        o = torch.empty(1, heads, rows, dim, device="cuda", dtype=element)
        lse = torch.empty(1, heads, rows, device="cuda")
        nq, nk = -(-rows // block_q), -(-rows // block_k)
        for kind in kinds:
            if self.options.masks and str(kind) not in self.options.masks:
                continue
            if kind == "trace" and not self.options.trace:
                continue
            mask = make_mask(kind, heads, nq, nk, generator, self.options.trace)
            flops = useful_flops(mask, rows, rows, block_q, block_k, dim)
            lists = to_lists(mask)
            tiles = order_tiles(lists)
            for kernel in kernels * self.options.rounds:
                prepared = [kernel.prepare(*data[i], o, lse, lists, tiles)
                            for i in range(self.sets)]
                o.fill_(math.nan)
                row = measure(lambda i: kernel.launch(prepared[i % self.sets]),
                              flops / 600e9)
                # The last launch used set (n - 1) of its own counting.
                kernel.launch(prepared[0])
                torch.cuda.synchronize()
                row["check"] = self.spot(data[0], o, lse, lists, heads,
                                         kv_heads, block_q, block_k, dim)
                self.report({"shape": name, "mask": kind, "density":
                             float(mask.double().mean()), "kernel":
                             kernel.name, **row}, flops)
            if self.options.flex and heads == kv_heads and kind in (0.1, 0.2):
                self.flex(name, data, mask, kind, block_q, block_k, flops)
            del mask, lists, tiles

    def spot(self, data, o, lse, lists, heads, kv_heads, block_q, block_k, dim):
        q, k, v = (t[0] for t in data)
        squares = total = worst = 0.0
        for i in range(6):
            h = i * heads // 6
            block = (i * 7919) % lists.shape[1] if i else lists.shape[1] - 1
            rows = slice(block * block_q, (block + 1) * block_q)
            count = int(lists[h, block, 0])
            kv = h // (heads // kv_heads)
            want, want_lse = reference_tile(
                q[h, rows], k[kv], v[kv], lists[h, block, 1:1 + count], block_k,
                dim ** -0.5)
            squares += float(((o[0, h, rows].double() - want) ** 2).sum())
            total += float((want ** 2).sum())
            worst = max(worst, float((lse[0, h, rows] - want_lse).abs().max()))
        return f"rel {math.sqrt(squares / total):.1e} lse {worst:.0e}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--variants", default="")
    parser.add_argument("--trace", default="")
    parser.add_argument("--json", default="")
    parser.add_argument("--ptxas", default="", help="version, for the record")
    parser.add_argument("--flex", action="store_true")
    parser.add_argument("--masks", default="", help="only these, as 0.1,top64")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--no-baseline", action="store_true")
    parser.add_argument("--no-matmul", action="store_true")
    options = parser.parse_args()
    options.masks = [m for m in options.masks.split(",") if m]
    options.variants = [v for v in options.variants.split(",") if v]
    bench = Bench(options)
    if not options.no_matmul:
        bench.matmul()
    for name in options.shapes.split(","):
        try:
            bench.shape(name)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}", flush=True)
            if "CUDA error" in str(error):
                break
        torch.cuda.empty_cache()
    if options.json:
        driver = subprocess.run(
            ["nvidia-smi", "--query-gpu=name,driver_version",
             "--format=csv,noheader"], capture_output=True, text=True).stdout
        with open(options.json, "w") as file:
            json.dump({"command": "python3 test/device/attend_time.py " +
                       " ".join(sys.argv[1:]), "gpu": driver.strip(),
                       "torch": torch.__version__, "ptxas": options.ptxas,
                       "rows": bench.rows}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
