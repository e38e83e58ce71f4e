"""Merging: partials over disjoint keys give the whole, empty ones change
nothing, extreme LSE do not overflow."""

import sys

import numpy as np
from simulation import *

start(sys.argv)

BLOCK = (16, 16)


def merge_function(heads, sq, dim, dtype="f32"):
    return f"""
!o = tensor<{heads}x{sq}x{dim}x{dtype}>
!lse = tensor<{heads}x{sq}xf32>
func.func @merge(%o0: !o, %l0: !lse, %o1: !o, %l1: !lse) -> (!o, !lse) {{
  %o, %lse = sparseattn.merge (%o0, %l0), (%o1, %l1) : !o, !lse
  return %o, %lse : !o, !lse
}}
"""


# Whole = merge of the halves, also where one or both see nothing.
heads, sq, dim = 3, 75, 32
arrays = tensors(heads, sq, dim, seed=1, scale=3)
mask = random_mask(heads, sq, sq, BLOCK, 0.6)
left = mask & (np.random.default_rng(2).random(mask.shape) < 0.5)
left[0, 0] = mask[0, 0]  # all on the left
left[1, 1] = False  # all on the right
right = mask & ~left
attend = attend_function(heads, sq, dim, BLOCK)
whole, _ = sim(attend, mask=mask, **arrays)
parts = [sim(attend, mask=part, **arrays)[0] for part in (left, right)]
named = {"o0": parts[0]["out"], "l0": parts[0]["lse"], "o1": parts[1]["out"], "l1": parts[1]["lse"]}
merged, _ = sim(merge_function(heads, sq, dim), **named)
compare("halves", merged["out"], whole["out"], 2.0**-20 * np.abs(arrays["v"]).max())
compare_lse("halves", merged["lse"], whole["lse"], 1e-4)
check(np.isneginf(merged["lse"]).any(), "no row that is empty on both sides")
check(np.isneginf(named["l0"] + 0).any() and not np.array_equal(named["l0"], merged["lse"]),
      "no row that is empty on one side")

# The same in one function, without arrays between.
both, _ = sim(
    attend_function(heads, sq, dim, BLOCK).replace(
        "%mask: !mask", "%a: !mask, %b: !mask"
    ).split("  %o, %lse")[0]
    + f"""  %o0, %l0 = sparseattn.attend %q, %k, %v, %a scale {dim**-0.5:.9e} : !q, !kv, !kv, !mask -> !q, !lse
  %o1, %l1 = sparseattn.attend %q, %k, %v, %b scale {dim**-0.5:.9e} : !q, !kv, !kv, !mask -> !q, !lse
  %o, %lse = sparseattn.merge (%o0, %l0), (%o1, %l1) : !q, !lse
  return %o, %lse : !q, !lse
}}
""",
    a=left, b=right, **arrays,
)
check(np.array_equal(both["out"], merged["out"]), "one function differs from two")

# Hand-made rows: equal weights, empty left, empty right, both empty, far apart.
inf = np.inf
l0 = np.array([[2.0, -inf, 1.5, -inf, 1000.0, -1e30]], np.float32)
l1 = np.array([[2.0, 3.0, -inf, -inf, -1000.0, 1e30]], np.float32)
o0 = np.array([[[1.0], [0.0], [3.0], [0.0], [5.0], [6.0]]], np.float32)
o1 = np.array([[[3.0], [7.0], [0.0], [0.0], [9.0], [2.0]]], np.float32)
got, _ = sim(merge_function(1, 6, 1), o0=o0, l0=l0, o1=o1, l1=l1)
compare("rows", got["out"][0, :, 0], np.array([2.0, 7.0, 3.0, 0.0, 5.0, 2.0]), 1e-6)
expected = np.array([2.0 + np.log(2.0), 3.0, 1.5, -inf, 1000.0, 1e30])
check(np.array_equal(np.isneginf(got["lse"][0]), np.isneginf(expected)), "empty rows")
finite = np.isfinite(expected)
check(np.allclose(got["lse"][0][finite], expected[finite], rtol=1e-6), f"lse {got['lse']}")
# Either way round.
swapped, _ = sim(merge_function(1, 6, 1), o0=o1, l0=l1, o1=o0, l1=l0)
check(np.allclose(swapped["out"], got["out"], atol=1e-6), "merging is not symmetric")

# 16-bit outputs are widened, merged and rounded once.
narrow = {"o0": to_bf16(o0), "l0": l0, "o1": to_bf16(o1 + np.float32(0.01)), "l1": l1}
got, _ = sim(merge_function(1, 6, 1, "bf16"), **narrow)
check(got["out"].dtype == np.uint16, "bf16 out")
wide = (from_bf16(narrow["o0"]) + from_bf16(narrow["o1"]))[0, 0, 0] / 2
check(from_bf16(got["out"])[0, 0, 0] == from_bf16(to_bf16(np.array([wide])))[0],
      "bf16 rows are not rounded from the fp32 merge")
print("ok")
