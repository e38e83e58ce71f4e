"""Shared parts of the simulator's tests: texts of functions, and runs of
sparseattn-sim on arrays."""

import os
import sys

import numpy as np

sys.path.insert(
    0,
    os.path.join(
        os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "Run", "Support"
    ),
)

from harness import *  # noqa: E402,F403  (found through the line above)

SIM = "sparseattn-sim"


def sim(text, *options, **arrays):
    """Runs a text over the given arrays; the result arrays and the output."""
    write("case.mlir", text)
    inputs = []
    if arrays:
        np.savez("case.npz", **arrays)
        inputs = ["--inputs", "case.npz"]
    if os.path.exists("result.npz"):
        os.remove("result.npz")
    done = run_ok("case.mlir", *inputs, "--outputs", "result.npz", *options, tool=SIM)
    with np.load("result.npz") as result:
        return dict(result), done.stdout


def mask_type(heads, sq, skv, block, tail=""):
    nq, nk = -(-sq // block[0]), -(-skv // block[1])
    return (
        f"!sparseattn.mask<{heads}x{nq}x{nk}, block = {block[0]}x{block[1]}, "
        f"tokens = {sq}x{skv}{tail}>"
    )


def attend_function(heads, sq, dim, block, kv_heads=None, skv=None, tail="",
                    dtype="f32", scale=None):
    """@attend(q, k, v, mask) over a mask that is an argument."""
    kv_heads, skv = kv_heads or heads, sq if skv is None else skv
    scale = dim**-0.5 if scale is None else scale
    return f"""
!q = tensor<{heads}x{sq}x{dim}x{dtype}>
!kv = tensor<{kv_heads}x{skv}x{dim}x{dtype}>
!lse = tensor<{heads}x{sq}xf32>
!mask = {mask_type(heads, sq, skv, block, tail)}
func.func @attend(%q: !q, %k: !kv, %v: !kv, %mask: !mask) -> (!q, !lse) {{
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale {scale:.9e} : !q, !kv, !kv, !mask -> !q, !lse
  return %o, %lse : !q, !lse
}}
"""


def random_mask(heads, sq, skv, block, density=0.5, seed=0):
    """Random tiles; the last q-block of the last head sees nothing."""
    nq, nk = -(-sq // block[0]), -(-skv // block[1])
    mask = np.random.default_rng(seed).random((heads, nq, nk)) < density
    mask[-1, -1] = False
    return mask
