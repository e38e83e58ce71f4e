"""Shared parts of the command-line tests: running sparseattn-run, making
inputs, and a float64 reference."""

import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np

def start(argv):
    """Makes the test's folder (its first argument) anew and enters it."""
    shutil.rmtree(argv[1], ignore_errors=True)
    os.makedirs(argv[1])
    os.chdir(argv[1])


def run(*arguments, tool="sparseattn-run", timeout=150):
    return subprocess.run(
        [tool, *map(str, arguments)], capture_output=True, text=True, timeout=timeout
    )


def run_ok(*arguments, **named):
    result = run(*arguments, **named)
    if result.returncode != 0:
        fail(f"{arguments}: exit {result.returncode}\n{result.stdout}{result.stderr}")
    return result


def fail(message):
    sys.exit(f"FAIL: {message}")


def check(condition, message):
    if not condition:
        fail(message)


def replaced_by(name):
    """For the temporary name of a file that is about to replace an older one:
    the older one's name. A kill in that moment leaves both, each whole."""
    found = re.fullmatch("(.+)\\.tmp\\.[0-9]+\\.[0-9]+", name)
    return found and found[1]


def expect_error(pattern, *arguments, tool="sparseattn-run", leaves=()):
    """The command exits 1, prints one `error:` line that matches, does not
    crash, and creates none of the files `leaves`."""
    result = run(*arguments, tool=tool)
    check(
        result.returncode == 1,
        f"{arguments}: exit {result.returncode}, expected 1\n{result.stderr}",
    )
    lines = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    check(
        len(lines) == 1 and re.search(pattern, lines[0]),
        f"{arguments}: expected one error like /{pattern}/, got\n{result.stderr}",
    )
    check(
        # MLIR's own parser says where, not always what it expected.
        re.search("expected|line \\d+, column \\d+", lines[0])
        and not lines[0].endswith("."),
        f"{arguments}: error does not say what was expected\n{lines[0]}",
    )
    for path in leaves:
        check(not os.path.exists(path), f"{arguments}: left {path} behind")
    partial = [name for name in os.listdir(".") if ".tmp" in name]
    check(not partial, f"{arguments}: left {partial} behind")


def report(path="report.json"):
    with open(path) as file:
        return json.load(file)["steps"][0]["layers"][0]


def tensors(heads, sq, dim, kv_heads=None, skv=None, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    kv_heads, skv = kv_heads or heads, sq if skv is None else skv
    shapes = {"q": (heads, sq, dim), "k": (kv_heads, skv, dim), "v": (kv_heads, skv, dim)}
    return {
        name: (rng.standard_normal(shape) * (1.0 if name == "v" else scale)).astype(
            np.float32
        )
        for name, shape in shapes.items()
    }


def to_bf16(array):
    """fp32 to bf16 bits, round to nearest even."""
    bits = array.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def reference(q, k, v, mask=None, block=(128, 128), scale=None, causal=False):
    """float64 dense masked attention; empty rows give 0 and -inf."""
    heads, sq, dim = q.shape
    skv = k.shape[1]
    scale = dim**-0.5 if scale is None else scale
    out = np.zeros((heads, sq, dim))
    lse = np.full((heads, sq), -np.inf)
    group = heads // k.shape[0]
    for h in range(heads):
        s = (q[h].astype(np.float64) @ k[h // group].astype(np.float64).T) * scale
        allowed = np.ones((sq, skv), bool)
        if mask is not None:
            allowed = np.repeat(np.repeat(mask[h], block[0], 0), block[1], 1)[:sq, :skv]
        if causal:
            allowed = allowed & (
                np.arange(skv)[None, :] <= np.arange(sq)[:, None] + skv - sq
            )
        s = np.where(allowed, s, -np.inf)
        rows = allowed.any(1)
        if not rows.any():
            continue
        m = s[rows].max(1, keepdims=True)
        p = np.exp(s[rows] - m)
        total = p.sum(1, keepdims=True)
        out[h][rows] = (p / total) @ v[h // group].astype(np.float64)
        lse[h][rows] = (m + np.log(total))[:, 0]
    return out, lse


def compare(name, got, expected, bound):
    error = np.abs(got - expected)
    check(not np.isnan(got).any(), f"{name}: NaN in the output")
    check(error.size == 0 or error.max() <= bound, f"{name}: error {error.max() if error.size else 0} above {bound}")


def compare_lse(name, got, expected, bound):
    check(
        np.array_equal(np.isneginf(got), np.isneginf(expected)),
        f"{name}: empty rows differ",
    )
    finite = np.isfinite(expected)
    compare(name + " lse", got[finite], expected[finite], bound)


def routed_layer(heads, sq, dim, policy, block=(128, 128), kv_heads=None, skv=None,
                 causal=False, dtype="f32", scale=None):
    """Text of a routed layer."""
    kv_heads, skv = kv_heads or heads, sq if skv is None else skv
    nq, nk = -(-sq // block[0]), -(-skv // block[1])
    scale = dim**-0.5 if scale is None else scale
    tail = ", causal" if causal else ""
    return f"""
!q = tensor<{heads}x{sq}x{dim}x{dtype}>
!kv = tensor<{kv_heads}x{skv}x{dim}x{dtype}>
!pq = tensor<{heads}x{nq}x{dim}xf32>
!pk = tensor<{kv_heads}x{nk}x{dim}xf32>
!lse = tensor<{heads}x{sq}xf32>
!mask = !sparseattn.mask<{heads}x{nq}x{nk}, block = {block[0]}x{block[1]}, tokens = {sq}x{skv}{tail}>
func.func @layer(%q: !q, %k: !kv, %v: !kv) -> (!q, !lse) {{
  %pq = sparseattn.pool %q block {block[0]} : !q -> !pq
  %pk = sparseattn.pool %k block {block[1]} : !kv -> !pk
  %mask = sparseattn.route %pq, %pk policy {policy} scale {scale:.9e} : !pq, !pk -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale {scale:.9e} : !q, !kv, !kv, !mask -> !q, !lse
  return %o, %lse : !q, !lse
}}
"""


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    return path
