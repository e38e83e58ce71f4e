"""Sizes at which others broke: very long sequences, odd lengths, many row
blocks, k from a partial block, padding that must not count."""

import sys

import numpy as np
from harness import *

start(sys.argv)


def window_layer(heads, tokens, dim, block, blocks):
    n = -(-tokens // block)
    return f"""
!q = tensor<{heads}x{tokens}x{dim}xf32>
!lse = tensor<{heads}x{tokens}xf32>
!mask = !sparseattn.mask<{heads}x{n}x{n}, block = {block}x{block}, tokens = {tokens}x{tokens}>
func.func @layer(%q: !q, %k: !q, %v: !q) -> (!q, !lse) {{
  %mask = sparseattn.policy_mask #sparseattn.window<blocks = {blocks}> -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.17 : !q, !q, !q, !mask -> !q, !lse
  return %o, %lse : !q, !lse
}}
"""


# More than 160,000 tokens; probes at both ends and in the middle.
tokens, dim, block = 170_001, 32, 128
arrays = tensors(1, tokens, dim, seed=1)
np.savez("in.npz", **arrays)
run_ok(write("layer.mlir", window_layer(1, tokens, dim, block, 0)), "--inputs", "in.npz",
       "--outputs", "out.npz", "--ranks", 1)
result = np.load("out.npz")
for first in (0, 84_992, tokens // block * block):
    last = min(first + block, tokens)
    part = {n: a[:, first:last] for n, a in arrays.items()}
    expected, lse = reference(part["q"], part["k"], part["v"], scale=0.17)
    compare(f"long, rows from {first}", result["out"][:, first:last], expected, 1e-5)
    compare_lse(f"long, rows from {first}", result["lse"][:, first:last], lse, 1e-5)

# 36,864 row blocks in all: more than 32,768.
tokens, heads = 12_288, 48
arrays = tensors(heads, tokens, 32, seed=2)
np.savez("in.npz", **arrays)
run_ok(write("layer.mlir", window_layer(heads, tokens, 32, 16, 0)), "--inputs", "in.npz",
       "--outputs", "out.npz", "--ranks", 3)
result = np.load("out.npz")
for head in (0, 41, 47):
    part = {n: a[head:head + 1, -16:] for n, a in arrays.items()}
    expected, _ = reference(part["q"], part["k"], part["v"], scale=0.17)
    compare(f"many row blocks, head {head}", result["out"][head:head + 1, -16:], expected, 1e-5)

# Odd length, causal; k of Top-k beyond and below the number of blocks.
for tokens, k in ((1025, 3), (100, 1), (100, 7)):
    arrays = tensors(2, tokens, 64, seed=tokens + k)
    np.savez("in.npz", **arrays)
    run_ok(write("layer.mlir", routed_layer(2, tokens, 64, f"#sparseattn.top_k<k = {k}>", (64, 64), causal=True)),
           "--inputs", "in.npz", "--outputs", "out.npz", "--check=full", "--report", "report.json")
    n = -(-tokens // 64)
    rows = [min(k, i + 1) for i in range(n)]
    check(sum(report()["loads"]) == 2 * sum(rows), f"{tokens} tokens, k {k}: {report()['loads']}")

# Zeros behind the end count only when they are there.
arrays = tensors(1, 300, 32, seed=3)
np.savez("in.npz", **arrays)
run_ok("--attend", "--inputs", "in.npz", "--outputs", "out.npz")
expected, _ = reference(arrays["q"], arrays["k"], arrays["v"])
compare("300 tokens", np.load("out.npz")["out"], expected, 1e-5)
padded = {n: np.pad(a, ((0, 0), (0, 84), (0, 0))) for n, a in arrays.items()}
np.savez("in.npz", **padded)
run_ok("--attend", "--inputs", "in.npz", "--outputs", "out.npz")
check(np.abs(np.load("out.npz")["out"][:, :300] - expected).max() > 1e-3, "384 tokens are 384 tokens")
print("ok")
