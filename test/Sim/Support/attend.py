"""Interpreted attention equals a float64 numpy reference: tails, empty rows,
grouped heads, causal masks, large and one-sided scores, 16-bit elements."""

import sys

import numpy as np
from simulation import *

start(sys.argv)


def case(name, heads, sq, dim, block, kv_heads=None, skv=None, causal=False,
         temperature=1.0, shift=0.0, mask=None):
    arrays = tensors(heads, sq, dim, kv_heads, skv, seed=sq + dim, scale=temperature)
    # One-sided scores: whatever is padded with zeros would win.
    arrays["q"] = np.abs(arrays["q"]) + np.float32(shift)
    arrays["k"] = -np.abs(arrays["k"]) - np.float32(shift)
    skv = sq if skv is None else skv
    if mask is None:
        mask = random_mask(heads, sq, skv, block, seed=dim)
    text = attend_function(heads, sq, dim, block, kv_heads, skv, ", causal" if causal else "")
    result, _ = sim(text, mask=mask, **arrays)
    out, lse = reference(arrays["q"], arrays["k"], arrays["v"], mask, block, causal=causal)
    largest = np.abs(lse[np.isfinite(lse)]).max(initial=1.0)
    compare(name, result["out"], out, 2.0**-22 * np.abs(arrays["v"]).max(initial=1.0))
    compare_lse(name, result["lse"], lse, 2.0**-22 * largest)
    empty = np.isneginf(lse)
    check(empty.any(), f"{name}: no empty row in the case")
    check((result["out"][empty] == 0).all(), f"{name}: an empty row is not 0")
    dense, _ = reference(arrays["q"], arrays["k"], arrays["v"], None, block, causal=causal)
    check(np.abs(dense - out).max(initial=0) > 1e-3 or skv == 0,
          f"{name}: the mask makes no difference")


case("tails", 2, 100, 32, (16, 24))
case("one block", 2, 5, 32, (128, 128),
     mask=np.array([[[True]], [[False]]]))
case("grouped heads", 6, 70, 40, (32, 16), kv_heads=2, skv=90)
case("causal", 2, 64, 32, (16, 16), skv=100, causal=True)
# More queries than keys: the first 30 rows see nothing at all.
case("causal, short keys", 2, 90, 32, (16, 16), skv=60, causal=True)
case("scores of 100", 3, 80, 64, (16, 16), temperature=3.5, shift=3.0)
case("scores of 1,000", 2, 50, 32, (16, 16), temperature=10.0, shift=10.0)
case("no keys", 2, 20, 32, (16, 16), skv=0)

# 16-bit elements: inputs and outputs are rounded, nothing between is.
for dtype, widen, narrow in (
    ("bf16", from_bf16, to_bf16),
    ("f16", lambda a: a.astype(np.float32), lambda a: a.astype(np.float16)),
):
    arrays = {n: narrow(a) for n, a in tensors(3, 50, 32, seed=4, scale=2).items()}
    mask = random_mask(3, 50, 50, (16, 16))
    result, _ = sim(attend_function(3, 50, 32, (16, 16), dtype=dtype), mask=mask, **arrays)
    wide = {n: widen(a) for n, a in arrays.items()}
    out, lse = reference(wide["q"], wide["k"], wide["v"], mask, (16, 16))
    check(result["out"].dtype == arrays["q"].dtype, f"{dtype}: dtype of out")
    step = 2.0**-8 if dtype == "bf16" else 2.0**-11
    error = np.abs(widen(result["out"]) - out)
    check((error <= np.abs(out) * step * 1.001 + 1e-7).all(),
          f"{dtype}: out is not the rounded reference")
    compare_lse(dtype, result["lse"], lse, 2.0**-20 * 64)

# fp32 arrays of a bf16 function are rounded, and it is said.
arrays = tensors(3, 50, 32, seed=4, scale=2)
again, said = sim(attend_function(3, 50, 32, (16, 16), dtype="bf16"), mask=mask, **arrays)
check("inputs     q rounded from f32 to bf16" in said, f"no notice of rounding: {said}")
rounded, _ = sim(attend_function(3, 50, 32, (16, 16), dtype="bf16"), mask=mask,
                 **{n: to_bf16(a) for n, a in arrays.items()})
check(np.array_equal(again["out"], rounded["out"]), "rounding is not to nearest even")

# The same bits whatever the number of threads.
arrays = tensors(5, 90, 32, seed=9)
mask = random_mask(5, 90, 90, (16, 16))
one, _ = sim(attend_function(5, 90, 32, (16, 16)), "--threads", 1, mask=mask, **arrays)
many, _ = sim(attend_function(5, 90, 32, (16, 16)), "--threads", 3, mask=mask, **arrays)
check(np.array_equal(one["out"], many["out"]), "bits depend on the threads")
print("ok")
