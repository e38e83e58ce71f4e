"""Bad input: one error that says what was found and expected, exit 1, no
output file."""

import os
import sys

import numpy as np
from simulation import *

start(sys.argv)

arrays = tensors(2, 40, 32)
mask = np.ones((2, 3, 3), bool)
text = attend_function(2, 40, 32, (16, 16))
layer = routed_layer(2, 40, 32, "#sparseattn.top_k<k = 1>", (16, 16))
two = "func.func @a() { return }\nfunc.func @b() { return }\n"


def refuse(pattern, *options, contents=text, **given):
    write("bad.mlir", contents)
    inputs = []
    if given:
        np.savez("bad.npz", **given)
        inputs = ["--inputs", "bad.npz"]
    expect_error(pattern, "bad.mlir", *inputs, "--outputs", "left.npz", *options,
                 tool=SIM, leaves=["left.npz"])


good = dict(arrays, mask=mask)

# Command line.
expect_error("files: got 0, expected one", tool=SIM)
expect_error("files: got 2, expected one", "a.mlir", "b.mlir", tool=SIM)
expect_error("absent.mlir", "absent.mlir", tool=SIM)
refuse("--ranks", "--ranks", "0")
refuse("--mesh ulysses=2,ring=2 must multiply to --ranks: got 4, expected 3",
       "--mesh", "ulysses=2,ring=2", "--ranks", "3")
for wrong in ("2x2", "ulysses=2,ulysses=2", "ring", "ulysses=2,", "cube=2"):
    refuse("--mesh: got ", "--mesh", wrong)
refuse("--mesh ulysses=64,ring=64: got 4096 ranks, expected at most 64",
       "--mesh", "ulysses=64,ring=64")
refuse("--balance", "--balance", "best")
expect_error("--outputs", "bad.mlir", "--outputs", "nowhere/out.npz", tool=SIM)

# Text.
refuse("bad.mlir: line 1, column ", contents="func.func @f( {")
refuse("functions: got 2 .a, b., expected one", contents=two)
refuse("function: got 'c', expected one of a, b", "--function", "c", contents=two)
refuse("functions: got 0, expected one", contents="")
refuse("got type .index., expected a static tensor",
       contents="func.func @f(%x: index) { return }")
refuse("got type .tensor<.x4xf32>., expected a static tensor",
       contents="func.func @f(%x: tensor<?x4xf32>) { return }")
refuse("argument 0: got type .*, expected at most 1073741824 elements",
       contents="func.func @f(%x: tensor<99999999x99999999x99999xf32>) { return }")
refuse("line 3, .*elements of an interpreted value: got type .*, expected at most",
       contents="""!mask = !sparseattn.mask<64x65536x65536, block = 16x16, tokens = 1048576x1048576>
func.func @f() {
  %0 = sparseattn.policy_mask #sparseattn.window<blocks = 1> -> !mask
  return
}""")
refuse("no array holds a plan", contents="func.func @f(%p: !sparseattn.plan) { return }")
refuse("line 2, column .*got 'func.call', expected sparseattn ops",
       contents="func.func private @g()\nfunc.func @f() { call @g() : () -> ()\n return }")
refuse("order of rhs must equal that of lhs", contents=f"""
!a = {mask_type(1, 64, 64, (16, 16))}
!b = {mask_type(1, 64, 64, (16, 16), ", order = #sparseattn.order<hilbert, grid = [4, 4, 4]>")}
func.func @f(%a: !a, %b: !b) -> !a {{
  %0 = "sparseattn.union"(%a, %b) : (!a, !b) -> !a
  return %0 : !a
}}
""")

# Arrays.
write("not.npz", "nothing of the kind")
write("bad.mlir", text)
expect_error("not.npz", "bad.mlir", "--inputs", "not.npz", tool=SIM)
expect_error("absent.npz", "bad.mlir", "--inputs", "absent.npz", tool=SIM)
refuse("array 'mask' of 'bad.npz': got none, expected bool .2, 3, 3.", **arrays)
refuse("array of 'bad.npz': got 'extra', expected the arguments of @attend: q, k, v, mask",
       extra=mask, **good)
refuse("shape of array 'k' must equal the argument's: got .2, 41, 32., expected .2, 40, 32.",
       **dict(good, k=np.zeros((2, 41, 32), np.float32)))
refuse("dtype of array 'v': got f8, expected f4",
       **dict(good, v=arrays["v"].astype(np.float64)))
refuse("array 'mask': got u1 .2, 3, 3., expected bool",
       **dict(good, mask=mask.astype(np.uint8)))
for value, name in ((np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf")):
    bad = arrays["q"].copy()
    bad[1, 39, 31] = value
    refuse(rf"array 'q' at .1, 39, 31.: got {name}, expected finite values",
           **dict(good, q=bad))

# LSE may be -inf, not NaN or inf.
merge = """
!o = tensor<1x2x1xf32>
!l = tensor<1x2xf32>
func.func @f(%o: !o, %l: !l) -> (!o, !l) {
  %0, %1 = sparseattn.merge (%o, %l), (%o, %l) : !o, !l
  return %0, %1 : !o, !l
}
"""
o = np.zeros((1, 2, 1), np.float32)
for value in (np.nan, np.inf):
    refuse("array 'l' at .0, 1.: got .*, expected finite values or -inf", contents=merge,
           o=o, l=np.array([[0, value]], np.float32))
sim(merge, o=o, l=np.array([[0, -np.inf]], np.float32))

# A function that is no layer has no program.
refuse("expected one function with an attend op", "--ranks", "2",
       contents="func.func @f() { return }")
refuse("source of the mask: got an argument, expected", "--ranks", "2", **good)

# arg0, arg1, ... name the arguments too; both names at once do not.
renamed = {f"arg{i}": a for i, a in enumerate(good.values())}
sim(text, **renamed)
refuse("got 'arg0', expected the arguments", arg0=arrays["q"], **good)
os.remove("bad.npz")
print("ok")
