"""Any number of ranks, heads and tokens equals one rank.

The work of a row is the same kernel call on the same numbers wherever it runs,
so one ring segment gives the same bits. R segments add R - 1 merges, which weigh
by exp of fp32 LSE values: R * (8 + max|lse|) * 2^-23 * max|v|."""

import sys

import numpy as np
from harness import *

start(sys.argv)

# Ranks 1, 2, 3, 4, 5, 8 in several shapes; the long sequences leave some out.
meshes = ["ulysses=1,ring=1", "ulysses=2,ring=1", "ulysses=3,ring=1", "ulysses=2,ring=2",
          "ulysses=5,ring=1", "ulysses=4,ring=2"]
more = ["ulysses=8,ring=1", "ulysses=1,ring=3", "ulysses=2,ring=4", "ulysses=4,ring=1",
        "ulysses=1,ring=5"]
dim = 32
sizes = [int(text) for text in sys.argv[2].split(",")]
for heads, tokens in ((h, t) for t in sizes for h in (12, 7, 2, 40)):
    arrays = tensors(heads, tokens, dim, seed=heads + tokens)
    # Heads of different temperature, so that loads differ and heads move.
    arrays["q"] *= np.linspace(0.2, 6, heads, dtype=np.float32)[:, None, None]
    if tokens > 100:  # smooth keys: Top-p has something to leave out
        drift = np.cumsum(np.random.default_rng(1).standard_normal((1, tokens, dim)), 1)
        drift = (drift / np.abs(drift).max(1, keepdims=True)).astype(np.float32)
        arrays["k"] += drift * 3
        arrays["q"] += drift * np.linspace(0.2, 6, heads, dtype=np.float32)[:, None, None]
    np.savez("in.npz", **arrays)
    policy = "#sparseattn.top_p<p = 0.6, min_blocks = 1>"
    layer = write("layer.mlir", routed_layer(heads, tokens, dim, policy))
    first = None
    for mesh in meshes + (more if tokens < 100 else []):
        run_ok(layer, "--inputs", "in.npz", "--outputs", "out.npz", "--mesh", mesh,
               "--report", "report.json")
        result = np.load("out.npz")
        name = f"{heads} heads, {tokens} tokens, {mesh}"
        check(not np.isnan(result["out"]).any(), f"{name}: NaN")
        stats = report()
        check(sum(stats["loads"]) == sum(stats["loads_after"]), f"{name}: tiles lost")
        check(stats["rho_after"] <= stats["rho_before"] + 1e-12, f"{name}: rho grew")
        if first is None:
            first = result
            continue
        if mesh.endswith("ring=1"):
            check(np.array_equal(result["out"], first["out"]), f"{name}: bits of out differ")
            check(np.array_equal(result["lse"], first["lse"]), f"{name}: bits of lse differ")
        else:
            finite = np.abs(first["lse"][np.isfinite(first["lse"])])
            ring = int(mesh.rsplit("=", 1)[1])
            bound = ring * (8 + finite.max(initial=0)) * 2.0**-23 * np.abs(arrays["v"]).max()
            compare(name, result["out"], first["out"], bound)
            compare_lse(name, result["lse"], first["lse"], 1e-4)
print("ok")
