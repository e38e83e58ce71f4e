"""A mask that is routed, planned and bound at run time and the same mask as a
constant, planned and folded by the compiler, give the same program."""

import re
import sys

import numpy as np
from harness import *

start(sys.argv)


def mask_of(text, heads, q_blocks, kv_blocks):
    """The sa_comm.mask of a program's text as bool [heads, q, kv]."""
    mask = np.zeros((heads, q_blocks, kv_blocks), bool)
    body = text[text.index("sa_comm.mask"):text.index("sa_comm.rank 0")]
    head = None
    for line in body.splitlines():
        if match := re.match(r"\s*head (\d+) \{", line):
            head = int(match.group(1))
        elif match := re.match(r"\s*row (\d+)(?::(\d+))? \[(.*)\]", line):
            first = int(match.group(1))
            last = int(match.group(2) or first + 1)
            for part in filter(None, match.group(3).split(", ")):
                begin, _, end = part.partition(":")
                mask[head, first:last, int(begin):int(end or int(begin) + 1)] = True
    return mask


def work(text):
    """All but the policy and planner of the header."""
    return re.sub(r"policy <.*?> (planner <.*?> )?\{", "{", text, count=1, flags=re.S)


for heads, kv_heads, sq, skv, mesh in (
    (6, 6, 700, 700, "ulysses=3,ring=1"), (5, 5, 900, 900, "ulysses=4,ring=1"),
    (8, 2, 640, 500, "ulysses=4,ring=2"), (3, 3, 333, 333, "ulysses=1,ring=3"),
    (2, 2, 130, 130, "ulysses=5,ring=1"),
):
    arrays = tensors(heads, sq, 32, kv_heads, skv, seed=heads)
    arrays["q"] *= np.linspace(0.3, 9, heads, dtype=np.float32)[:, None, None]
    drift = np.cumsum(np.random.default_rng(3).standard_normal((max(sq, skv), 32)), 0)
    drift = (drift / np.abs(drift).max()).astype(np.float32)
    arrays["q"] += 4 * drift[:sq]
    arrays["k"] += 4 * drift[:skv]
    np.savez("in.npz", **arrays)
    layer = write("layer.mlir", routed_layer(
        heads, sq, 32, "#sparseattn.top_p<p = 0.8, min_blocks = 1>", (64, 64), kv_heads, skv))
    run_ok(layer, "--inputs", "in.npz", "--mesh", mesh, "--save-program", "routed.mlir",
           "--outputs", "routed.npz", "--report", "routed.json", "--check")
    text = open("routed.mlir").read()
    mask = mask_of(text, heads, -(-sq // 64), -(-skv // 64))
    check(0 < mask.mean() < 1, f"{mesh}: the mask is sparse")
    check(mask.sum() == sum(report("routed.json")["loads"]), f"{mesh}: the mask's tiles are the loads")
    np.savez("masked.npz", **arrays, mask=mask)
    run_ok(layer, "--inputs", "masked.npz", "--mesh", mesh, "--save-program", "constant.mlir",
           "--outputs", "constant.npz", "--report", "constant.json", "--check")
    check(work(open("constant.mlir").read()) == work(text), f"{mesh}: programs differ")
    a, b = report("routed.json"), report("constant.json")
    for name in ("loads", "loads_after", "moves", "bytes_moved", "bytes_ulysses", "bytes_routed"):
        check(a[name] == b[name], f"{mesh}: {name} differs: {a[name]} and {b[name]}")
    a, b = np.load("routed.npz"), np.load("constant.npz")
    check(np.array_equal(a["out"], b["out"]) and np.array_equal(a["lse"], b["lse"]), f"{mesh}: outputs differ")
print("ok")
