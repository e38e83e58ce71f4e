"""--attend against the float64 reference: dtypes, tails, empty rows, causal,
grouped heads, blocks, hard scores."""

import sys

import numpy as np
from harness import *

start(sys.argv)

cases = [
    # heads, kv_heads, sq, skv, dim, block, causal, density, scale of q and k
    (2, 2, 1, 1, 32, (128, 128), False, None, 1),
    (3, 1, 63, 65, 40, (64, 64), False, 0.6, 1),
    (2, 2, 300, 517, 64, (128, 64), False, 0.4, 1),
    (4, 2, 257, 129, 128, (64, 128), False, 0.5, 10),
    (2, 2, 200, 333, 96, (16, 16), True, 0.5, 1),
    (2, 1, 333, 200, 64, (32, 48), True, None, 3),  # first rows see no key
    (1, 1, 130, 130, 256, (128, 128), False, 0.5, 1),
]
for number, (h, hk, sq, skv, d, block, causal, density, size) in enumerate(cases):
    arrays = tensors(h, sq, d, hk, skv, seed=number, scale=size)
    nq, nk = -(-sq // block[0]), -(-skv // block[1])
    mask = None
    if density is not None:
        mask = np.random.default_rng(number).random((h, nq, nk)) < density
        mask[0, 0] = False  # an empty row
    extra = {} if mask is None else {"mask": mask}
    flags = ["--block", f"{block[0]}x{block[1]}"] + (["--causal"] if causal else [])
    for dtype in ("fp32", "fp16", "bf16"):
        if dtype == "fp32":
            stored, seen, bound = arrays, arrays, 4e-6 * (1 + size * size * d**0.5 / 4)
        elif dtype == "fp16":
            stored = {n: a.astype(np.float16) for n, a in arrays.items()}
            seen, bound = stored, 5e-3
        else:
            stored = {n: to_bf16(a) for n, a in arrays.items()}
            seen, bound = {n: from_bf16(a) for n, a in stored.items()}, 4e-2
        np.savez("in.npz", **stored, **extra)
        run_ok("--attend", "--inputs", "in.npz", "--outputs", "out.npz", "--check=full", *flags)
        result = np.load("out.npz")
        check(result["out"].dtype == stored["q"].dtype, f"case {number}: dtype of out")
        check(result["lse"].dtype == np.float32, f"case {number}: dtype of lse")
        out = from_bf16(result["out"]) if dtype == "bf16" else result["out"].astype(np.float64)
        expected, lse = reference(seen["q"], seen["k"], seen["v"], mask, block, None, causal)
        name = f"case {number} {dtype}"
        compare(name, out, expected, bound)
        compare_lse(name, result["lse"], lse, 1e-5 * (1 + size * size * d**0.5))
        if mask is not None:
            dense, _ = reference(seen["q"], seen["k"], seen["v"], None, block, None, causal)
            if not mask.all():
                check(np.abs(dense - expected).max() > bound, f"{name}: sparse equals dense")

# One-sided scores near -100 (random data hides what the tail does).
q = np.full((1, 1, 64), 1.0, np.float32)
for skv in (64, 128, 192, 1216):
    k = np.full((1, skv, 64), -12.5, np.float32) + np.random.default_rng(skv).standard_normal((1, skv, 64)).astype(np.float32) * 0.01
    v = np.random.default_rng(1).standard_normal((1, skv, 64)).astype(np.float32)
    np.savez("in.npz", q=q, k=k, v=v)
    run_ok("--attend", "--inputs", "in.npz", "--outputs", "out.npz", "--scale", "0.125")
    expected, lse = reference(q, k, v, scale=0.125)
    result = np.load("out.npz")
    compare(f"negative {skv}", result["out"], expected, 1e-4)
    compare_lse(f"negative {skv}", result["lse"], lse, 1e-3)

# No key at all, no query at all.
np.savez("in.npz", q=np.ones((2, 5, 32), np.float32), k=np.ones((2, 0, 32), np.float32), v=np.ones((2, 0, 32), np.float32))
run_ok("--attend", "--inputs", "in.npz", "--outputs", "out.npz")
result = np.load("out.npz")
check((result["out"] == 0).all() and np.isneginf(result["lse"]).all(), "no keys: out 0, lse -inf")
np.savez("in.npz", q=np.ones((2, 0, 32), np.float32), k=np.ones((2, 7, 32), np.float32), v=np.ones((2, 7, 32), np.float32))
run_ok("--attend", "--inputs", "in.npz", "--outputs", "out.npz")
check(np.load("out.npz")["out"].shape == (2, 0, 32), "no queries: empty output")
print("ok")
