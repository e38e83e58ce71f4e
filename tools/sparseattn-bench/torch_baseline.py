#!/usr/bin/env python3
"""Times attention and products of PyTorch on a GPU for sparseattn-bench.

usage: torch_baseline.py CASES.json RESULTS.json
       torch_baseline.py --cublas              prints the path of PyTorch's cuBLAS

CASES.json: {"preheat_ms", "launches", "sets", "cases": [case...]}; a case has
"kind" and what it needs:
  matmul    dtype, n
  cudnn     dtype, heads, kv_heads, tokens, kv_tokens, head_dim
  flex      the same, block_q, block_k, mask (file of bits, rows of whole bytes)
  pool      the same as cudnn and block_q, block_k
  route     the same and p, min_blocks
RESULTS.json: {"torch", "rows": [row...]} in the order of the cases; a row has
"median_ms", "min_ms", "max_ms", "launches" and "spaced_ms" (null for long
ones), or "error".
"""

import glob
import importlib.util
import json
import os
import sys
import time


def find_cublas():
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for name in sorted(glob.glob(os.path.join(folder, "*", "lib",
                                                  "libcublas.so.*"))):
            return name
    return ""


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return (values[middle] + values[-1 - middle]) / 2


class Timer:
    def __init__(self, torch, options):
        self.torch = torch
        self.options = options

    def once(self, run, i):
        begin, end = (self.torch.cuda.Event(enable_timing=True)
                      for _ in range(2))
        begin.record()
        run(i)
        end.record()
        return begin, end

    def measure(self, run):
        """run(i) launches on input set i."""
        cuda = self.torch.cuda
        run(0)
        cuda.synchronize()
        begin, end = self.once(run, 1)
        cuda.synchronize()
        estimate = max(begin.elapsed_time(end), 1e-3)
        start = time.time()
        i = 2
        while (time.time() - start) * 1e3 < self.options["preheat_ms"]:
            for _ in range(max(1, int(50 / estimate))):
                run(i)
                i += 1
            cuda.synchronize()
        launches = int(max(self.options["launches"], min(60, 400 / estimate)))
        events = [self.once(run, i + n) for n in range(launches)]
        cuda.synchronize()
        times = [begin.elapsed_time(end) for begin, end in events]
        spaced = []
        if estimate <= 30:
            for n in range(10):
                time.sleep(0.04)
                begin, end = self.once(run, n)
                cuda.synchronize()
                spaced.append(begin.elapsed_time(end))
        return {"median_ms": median(times), "min_ms": min(times),
                "max_ms": max(times), "launches": launches,
                "spaced_ms": median(spaced) if spaced else None}


def dtype_of(torch, case):
    return torch.bfloat16 if case["dtype"] == "bf16" else torch.float16


def inputs(torch, case, sets):
    generator = torch.Generator(device="cuda").manual_seed(case.get("seed", 1))

    def random(heads, rows):
        return torch.randn(1, heads, rows, case["head_dim"], device="cuda",
                           dtype=dtype_of(torch, case), generator=generator)

    return [(random(case["heads"], case["tokens"]),
             random(case["kv_heads"], case["kv_tokens"]),
             random(case["kv_heads"], case["kv_tokens"]))
            for _ in range(sets)]


def matmul(torch, case, timer, sets):
    n = case["n"]
    a = [torch.randn(n, n, device="cuda", dtype=dtype_of(torch, case))
         for _ in range(sets + 1)]
    out = torch.empty_like(a[0])
    return timer.measure(lambda i: torch.mm(a[i % sets], a[i % sets + 1],
                                            out=out))


def cudnn(torch, case, timer, sets):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    data = inputs(torch, case, sets)
    grouped = case["heads"] != case["kv_heads"]
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        return timer.measure(
            lambda i: torch.nn.functional.scaled_dot_product_attention(
                *data[i % sets], enable_gqa=grouped))


def read_lists(torch, case):
    """Counts [1, H, nQ] and indices [1, H, nQ, nK], as FlexAttention wants."""
    q_blocks = -(-case["tokens"] // case["block_q"])
    kv_blocks = -(-case["kv_tokens"] // case["block_k"])
    with open(case["mask"], "rb") as file:
        raw = torch.frombuffer(bytearray(file.read()), dtype=torch.uint8)
    raw = raw.reshape(case["heads"], q_blocks, -1)
    bits = (raw[..., None] >> torch.arange(8, dtype=torch.uint8)) & 1
    bits = bits.reshape(case["heads"], q_blocks, -1)[..., :kv_blocks]
    indices = torch.empty(1, *bits.shape, dtype=torch.int32, device="cuda")
    for head in range(case["heads"]):
        indices[0, head] = torch.argsort(1 - bits[head].cuda().to(torch.int8),
                                         dim=-1, stable=True)
    counts = bits.sum(-1, dtype=torch.int32)[None].cuda()
    return counts.contiguous(), indices


def flex(torch, case, timer, sets):
    from torch.nn.attention.flex_attention import BlockMask, flex_attention
    counts, indices = read_lists(torch, case)
    blocks = BlockMask.from_kv_blocks(
        torch.zeros_like(counts), torch.zeros_like(indices), counts, indices,
        BLOCK_SIZE=(case["block_q"], case["block_k"]),
        seq_lengths=(case["tokens"], case["kv_tokens"]))
    compiled = torch.compile(flex_attention, dynamic=False)
    data = inputs(torch, case, sets)
    grouped = case["heads"] != case["kv_heads"]
    return timer.measure(lambda i: compiled(*data[i % sets], block_mask=blocks,
                                            enable_gqa=grouped))


def pool_blocks(torch, x, block):
    """[1, H, S, D] to fp32 means [H, blocks, D]; the last block may be short."""
    heads, rows, dim = x.shape[1:]
    whole = rows // block
    means = x[0, :, :whole * block].reshape(heads, whole, block, dim).mean(
        2, dtype=torch.float32)
    if rows % block:
        tail = x[0, :, whole * block:].mean(1, keepdim=True,
                                            dtype=torch.float32)
        means = torch.cat([means, tail], 1)
    return means


def pool(torch, case, timer, sets):
    data = inputs(torch, case, sets)

    def run(i):
        q, k, _ = data[i % sets]
        return (pool_blocks(torch, q, case["block_q"]),
                pool_blocks(torch, k, case["block_k"]))

    return timer.measure(run)


def route(torch, case, timer, sets):
    """Pooling, scores, selection, lists and loads with plain operations."""
    data = inputs(torch, case, sets)
    group = case["heads"] // case["kv_heads"]

    def run(i):
        q, k, _ = data[i % sets]
        pooled_q = pool_blocks(torch, q, case["block_q"])
        pooled_k = pool_blocks(torch, k, case["block_k"])
        pooled_k = pooled_k.repeat_interleave(group, 0)
        scores = torch.bmm(pooled_q, pooled_k.transpose(1, 2))
        shares = torch.softmax(scores * case["head_dim"] ** -0.5, -1)
        ordered, order = shares.sort(-1, descending=True)
        before = ordered.cumsum(-1) - ordered
        keep = before < case["p"]
        keep[..., :case["min_blocks"]] = True
        mask = torch.zeros_like(keep).scatter_(-1, order, keep)
        counts = mask.sum(-1)
        indices = torch.argsort(1 - mask.to(torch.int8), dim=-1, stable=True)
        return indices, counts, counts.sum(-1)

    return timer.measure(run)


KINDS = {"matmul": matmul, "cudnn": cudnn, "flex": flex, "pool": pool,
         "route": route}


def main():
    if sys.argv[1:] == ["--cublas"]:
        print(find_cublas())
        return
    with open(sys.argv[1], encoding="utf-8") as file:
        request = json.load(file)
    import torch  # slow, so not for --cublas

    if not torch.cuda.is_available():
        sys.exit("PyTorch: got no device, expected one")
    timer = Timer(torch, request)
    rows = []
    for case in request["cases"]:
        try:
            row = KINDS[case["kind"]](torch, case, timer, request["sets"])
        except Exception as error:  # a baseline that cannot run is said
            text = str(error).strip().splitlines() or [""]
            row = {"error": f"{type(error).__name__}: {text[0]}"}
        rows.append(row)
        torch.cuda.empty_cache()
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump({"torch": torch.__version__, "rows": rows}, file)


if __name__ == "__main__":
    main()
