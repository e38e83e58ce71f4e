"""Everything a user can get wrong on the command line ends in one clear error,
exit status 1, and no file."""

import os
import sys
import zipfile

import numpy as np
from harness import *

start(sys.argv)

good = tensors(2, 100, 32)
np.savez("good.npz", **good)
layer = write("layer.mlir", routed_layer(2, 100, 32, "#sparseattn.top_p<p = 0.9, min_blocks = 1>", (64, 64)))
out = ["--outputs", "out.npz", "--report", "r.json", "--trace", "t.json",
       "--save-plan", "p.mlir", "--save-program", "g.mlir"]
left = ["out.npz", "r.json", "t.json", "p.mlir", "g.mlir"]


def bad(pattern, *arguments):
    expect_error(pattern, *arguments, *out, leaves=left)


def npz(path="bad.npz", **changes):
    arrays = {**good, **changes}
    np.savez(path, **{name: a for name, a in arrays.items() if a is not None})
    return path


# Options.
expect_error("what to run: got nothing")
expect_error("got 2 of LAYER", layer, "--attend", "--inputs", "good.npz")
bad("option: got '--rank'", layer, "--rank", "3")
bad("--ranks: got '0', expected an integer from 1", layer, "--ranks", "0")
bad("--ranks: got '-1'", layer, "--ranks=-1")
bad("--ranks: got 'two'", layer, "--ranks", "two")
bad("--ranks: got '99999999999999999999'", layer, "--ranks", "99999999999999999999")
bad("must multiply to --ranks: got 6, expected 4", layer, "--ranks", "4", "--mesh", "ulysses=3,ring=2")
bad("--mesh: got 'ulysses=2;ring=2'|--mesh", layer, "--mesh", "ulysses=2;ring=2")
bad("--mesh: got 'x=2'", layer, "--mesh", "x=2")
bad("--mesh ulysses: got '0'", layer, "--mesh", "ulysses=0,ring=2")
bad("--balance: got 'best', expected one of", layer, "--balance", "best")
bad("--device: got 'tpu', expected one of", layer, "--device", "tpu")
bad("--dtype: got 'int8', expected one of", layer, "--dtype", "int8")
bad("--block: got '128'", "--attend", "--inputs", "good.npz", "--block", "128")
bad("--block Q: got '7'", "--attend", "--inputs", "good.npz", "--block", "7x128")
bad("--scale: got 'nan'", "--attend", "--inputs", "good.npz", "--scale", "nan")
bad("--causal: got it without --attend", layer, "--causal")
bad("--block: got it without --attend", layer, "--block", "64x64")
bad("--seed: got it with --inputs", layer, "--inputs", "good.npz", "--seed", "0")
for option in (("--save-plan", "p.mlir"), ("--report", "r.json"), ("--check",), ("--explain",)):
    expect_error(f"{option[0]}: got it with --compile-only", layer, "--compile-only", *option, leaves=left)
bad("--check: got 'most'", layer, "--check=most")
expect_error("--ranks: got no value", layer, "--ranks")

bad("--ranks: got it twice, expected once", layer, "--ranks", "2", "--ranks=2")
expect_error("--explain: got it twice, expected once", layer, "--explain", "--explain")
expect_error("--cache-dir: got no value", layer, "--cache-dir")

# Paths. A pipe without a writer is not waited for.
os.mkfifo("pipe")
os.mkdir("folder")
for path in ("pipe", "folder"):
    bad(f"file '{path}' cannot be read: got 'not a regular file'", layer, "--inputs", path)
    bad(f"--plan: got '{path}' \\(not a regular file\\)", layer, "--plan", path)
    bad(f"--program: got '{path}' \\(not a regular file\\)", "--program", path)
    bad(f"layer: got '{path}' \\(not a regular file\\)", path)
bad("layer: got 'missing.mlir'", "missing.mlir")
bad("layer: got '.' \\(not a regular file\\)", ".")
bad("'missing.npz'", layer, "--inputs", "missing.npz")
for option in ("--outputs", "--report", "--trace", "--save-plan", "--save-program"):
    expect_error(f"{option}: got 'no/such/file'", layer, option, "no/such/file")
    expect_error(f"{option}: got '\\.' \\(a folder\\)", layer, option, ".")
bad("--plan: got 'missing.mlir'", layer, "--plan", "missing.mlir")
bad("--program: got 'missing.mlir'", "--program", "missing.mlir")

expect_error("--outputs: got 'good.npz', the file of --inputs", layer, "--inputs", "good.npz", "--outputs", "good.npz")
expect_error("--save-plan: got '\\./layer.mlir', the file of the layer", layer, "--save-plan", "./layer.mlir")
expect_error("--trace: got '\\./b', the file of --report", layer, "--report", "b", "--trace", "./b", leaves=["b"])
os.symlink("c", "to-c")
expect_error("--trace: got 'to-c', the file of --report", layer, "--report", "c", "--trace", "to-c", leaves=["c"])
expect_error("--trace: got 'a', the file of --report", layer, "--report", "a", "--trace", "a", leaves=["a"])

# Arrays.
bad("array 'v'.*got none", layer, "--inputs", npz(v=None))
bad("got 'w', expected q, k, v", layer, "--inputs", npz(w=good["v"]))
bad("shape of array 'q'.*got \\[3, 100, 32\\]", layer, "--inputs", npz(q=np.zeros((3, 100, 32), np.float32)))
bad("shape of array 'q'.*got \\[2, 99, 32\\]", layer, "--inputs", npz(q=np.zeros((2, 99, 32), np.float32)))
bad("shape of array 'q': got \\[200, 32\\]", layer, "--inputs", npz(q=np.zeros((200, 32), np.float32)))
bad("dtype of array 'k': got f8", layer, "--inputs", npz(k=good["k"].astype(np.float64)))
bad("dtype of array 'k' must equal q's", layer, "--inputs", npz(k=good["k"].astype(np.float16)))
bad("shape of array 'v' must equal k's", layer, "--inputs", npz(v=good["v"][:, :50]))
for value, name in ((np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf")):
    for array in "qkv":
        poisoned = good[array].copy()
        poisoned[1, 42, 7] = value
        bad(f"array '{array}' at \\[1, 42, 7\\]: got {name}", layer, "--inputs", npz(**{array: poisoned}))
bad("array 'mask': got f4", layer, "--inputs", npz(mask=np.ones((2, 2, 2), np.float32)))
bad("mask.*got 12 tiles, expected 2 x 2 x 2", layer, "--inputs", npz(mask=np.ones((2, 3, 2), bool)))
bad("shape of array 'mask'", "--attend", "--inputs", npz(mask=np.ones((2, 3, 2), bool)))
bad("head.?dim", "--attend", "--inputs", npz(**{n: a[:, :, :31] for n, a in good.items()}))
bad("heads", "--attend", "--inputs", npz(q=np.zeros((3, 100, 32), np.float32)))

# Numbers that leave fp32, or the type they are rounded to.
bad("array 'q rounded to f16' at \\[0, 0, 0\\]: got inf", layer, "--dtype", "fp16", "--inputs",
    npz(q=np.full((2, 100, 32), 1e6, np.float32)))
bad("lse of head 0 row 0: got -inf in a row with keys", "--attend", "--inputs",
    npz(q=good["q"] * np.float32(1e25), k=good["k"] * np.float32(1e25)))
bad("array 'out' at", "--attend", "--inputs", npz(v=np.full((2, 100, 32), 3e38, np.float32)))
bad("--plan: got ''", layer, "--plan", "")

# Archives that are not.
write("text.npz", "hello")
bad("text.npz", layer, "--inputs", "text.npz")
data = open("good.npz", "rb").read()
for cut in (0, 10, 100, len(data) // 2, len(data) - 5):
    with open("cut.npz", "wb") as file:
        file.write(data[:cut])
    bad("cut.npz|member|archive", layer, "--inputs", "cut.npz")
flipped = bytearray(data)
flipped[len(data) // 3] ^= 0x55
with open("flip.npz", "wb") as file:
    file.write(flipped)
bad("flip.npz|crc|checksum|member", layer, "--inputs", "flip.npz")

# Layer text.
text = open(layer).read()
for pattern, broken in (
    ("line 1", "garbage"),
    ("layers of the module: got none", ""),
    ("layers of the module: got none", "func.func private @f()"),
    ("line \\d+, column \\d+", text.replace("sparseattn.attend", "sparseattn.atend")),
    ("q-block", text.replace("2x2x2, block", "2x3x2, block")),
    ("p is|p must|not negative|finite", text.replace("p = 0.9", "p = -1.0")),
    ("block", text.replace("64x64", "7x64")),
    ("layers of the module: got a second", text + text[text.index("func"):].replace("@layer", "@other")),
):
    bad(pattern, write("broken.mlir", broken))
for cut in range(0, len(text), 37):
    result = run(write("cut.mlir", text[:cut]), "--compile-only")
    check(result.returncode in (0, 1), f"layer cut at {cut}: exit {result.returncode}")
    if result.returncode:
        check(result.stderr.startswith("error: "), f"layer cut at {cut}: {result.stderr}")

# Program bytes and text.
run_ok(layer, "--inputs", "good.npz", "--save-program", "program.mlir", "--save-plan", "plan.mlir", "--ranks", 2)
run_ok("--sa-comm-to-program", "program.mlir", "-o", "program.bin", tool="sparseattn-translate")
data = open("program.bin", "rb").read()
for cut in [*range(0, 64, 7), *range(64, len(data), max(1, len(data) // 12))]:
    with open("cut.bin", "wb") as file:
        file.write(data[:cut])
    expect_error("", "--program", "cut.bin", "--inputs", "good.npz", *out, leaves=left)
for at in range(8, len(data), max(1, len(data) // 12)):
    changed = bytearray(data)
    changed[at] ^= 0x11
    with open("changed.bin", "wb") as file:
        file.write(changed)
    expect_error("hash|version|magic", "--program", "changed.bin", "--inputs", "good.npz", *out, leaves=left)
bad("balance ops with a plan: got 0", layer, "--plan", layer)
bad("--program: got it with", "--program", "program.mlir", "--ranks", "2")
bad("--plan: got it with --program", "--program", "program.mlir", "--plan", "plan.mlir")
other = write("other.mlir", routed_layer(4, 100, 32, "#sparseattn.top_k<k = 1>", (64, 64)))
bad("heads|plan", other, "--ranks", "2", "--plan", "plan.mlir")

# The tool still works after all that.
run_ok(layer, "--inputs", "good.npz", *out)
print("ok")
