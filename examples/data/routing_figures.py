#!/usr/bin/env python3
# Part of the sparseattn project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures of routing on a capture of Q, K and V, as JSON.

    routing_figures.py CAPTURE.npz [--order KIND,TxHxW[,PREFIX]] [options]

Computes in numpy, in double precision, what top-p routing on block means does
to the capture's attention; runs the same layer over the ranks with
sparseattn-run and fails when its density, loads or kept mass differ. --order
says how to arrange the tokens before (default: as they are). Needs numpy and
the built tools.

Figures, over all heads unless `per_head`:
- density: share of tiles that routing keeps; spread: of the heads' densities,
  the largest over the smallest
- kept_mass: softmax mass of the kept tiles, mean over rows; routing aims at p
- density_exact: share of tiles that the same rule keeps when it sees the true
  softmax mass of every tile instead of block means
- p_for_kept, density_for_kept: the p at which kept_mass reaches the asked p,
  and the density there
- recall: of the N kv-blocks with the largest true mass, the share among the N
  that block means rank highest, mean over q-blocks (N: --top)
- rho_before, rho_after: largest load over the mean, heads spread evenly over
  the ranks in their order, and after the swaps that sparseattn-run makes
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

TYPES = {"float32": "f32", "float16": "f16", "uint16": "bf16"}


def fail(what, got, expected):
    sys.exit(f"error: {what}: got {got}, expected {expected}")


# -- Routing in numpy ----------------------------------------------------------


def block_sizes(tokens, block):
    return np.diff(np.append(np.arange(0, tokens, block), tokens))


def block_means(x, block):
    """[heads, tokens, dim] to [heads, blocks, dim]; the last block may be short."""
    sums = np.add.reduceat(x.astype(np.float64), np.arange(0, x.shape[1], block), axis=1)
    return sums / block_sizes(x.shape[1], block)[:, None]


def softmax(scores):
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def pooled_weights(q, k, block, scale):
    """Softmax over the kv-blocks' scores, [heads, q-blocks, kv-blocks]."""
    means = block_means(q, block), block_means(k, block)
    return softmax(means[0] @ means[1].transpose(0, 2, 1) * scale)


def true_weights(q, k, block, scale):
    """The softmax mass of every tile, mean over the rows of its q-block."""
    starts = np.arange(0, q.shape[1], block)
    sizes = block_sizes(q.shape[1], block)[:, None]
    tiles = []
    for one_q, one_k in zip(q.astype(np.float64), k.astype(np.float64)):
        mass = np.add.reduceat(softmax(one_q @ one_k.T * scale), starts, axis=1)
        tiles.append(np.add.reduceat(mass, starts, axis=0) / sizes)
    return np.stack(tiles)


def ranked(weights):
    """Blocks by (weight descending, index ascending)."""
    return np.argsort(-weights, axis=-1, kind="stable")


def top_p_mask(weights, p, min_blocks):
    """The shortest prefix of the ranked blocks whose sum reaches p."""
    blocks = weights.shape[-1]
    rank = ranked(weights)
    sums = np.cumsum(np.take_along_axis(weights, rank, -1), -1)
    count = np.clip((sums < p).sum(-1) + 1, min(min_blocks, blocks), blocks)
    mask = np.zeros(weights.shape, bool)
    np.put_along_axis(mask, rank, np.arange(blocks) < count[..., None], -1)
    return mask


def kept_mass(mask, mass, tokens, block):
    """[heads]: the mask's share of the mass, mean over rows."""
    rows = (mask * mass).sum(-1)
    return np.average(rows, axis=-1, weights=block_sizes(tokens, block))


def recall(weights, mass, top):
    """[heads]: see `recall` in the head of this file."""
    chosen, best = (np.zeros(mass.shape, bool) for _ in range(2))
    np.put_along_axis(chosen, ranked(weights)[..., :top], True, -1)
    np.put_along_axis(best, ranked(mass)[..., :top], True, -1)
    return (chosen & best).sum((1, 2)) / best.sum((1, 2))


def rank_loads(mask, ranks):
    """Tiles of each rank; head h begins on rank h * ranks / heads."""
    owner = np.arange(len(mask)) * ranks // len(mask)
    return [int(mask[owner == rank].sum()) for rank in range(ranks)]


def p_that_keeps(weights, mass, goal, tokens, block, min_blocks):
    """The smallest p whose mask keeps `goal` of the mass, to 2^-20."""
    low, high = 0.0, 1.0
    for _ in range(20):
        p = (low + high) / 2
        mask = top_p_mask(weights, p, min_blocks)
        if kept_mass(mask, mass, tokens, block).mean() < goal:
            low = p
        else:
            high = p
    return high


# -- The same with the tools ---------------------------------------------------


def layer_text(shape, dtype, order, options, scale):
    heads, tokens, dim = shape
    blocks = len(block_sizes(tokens, options.block))
    alias = f"#order = {order}\n" if order else ""
    ordered = ", order = #order" if order else ""
    names = {name: f"%{name}" for name in "qkv"}
    before, results, after = "", "%o, %lse", ""
    if order:
        names = {name: f"%{name}o" for name in "qkv"}
        before = "".join(f"  %{name}o = sparseattn.permute %{name} by #order : !x\n"
                         for name in "qkv")
        results = "%oo, %lseo"
        after = ("  %o = sparseattn.permute %oo by #order inverse : !x\n"
                 "  %lse = sparseattn.permute %lseo by #order inverse : !lse\n")
    return f"""{alias}!x = tensor<{heads}x{tokens}x{dim}x{dtype}>
!lse = tensor<{heads}x{tokens}xf32>
!pooled = tensor<{heads}x{blocks}x{dim}xf32>
!mask = !sparseattn.mask<{heads}x{blocks}x{blocks}, block = {options.block}x{options.block}, tokens = {tokens}x{tokens}{ordered}>
func.func @layer(%q: !x, %k: !x, %v: !x) -> (!x, !lse) {{
{before}  %pq = sparseattn.pool {names["q"]} block {options.block} : !x -> !pooled
  %pk = sparseattn.pool {names["k"]} block {options.block} : !x -> !pooled
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_p<p = {options.p:.12f}, min_blocks = {options.min_blocks}> scale {scale:.12f} : !pooled, !pooled -> !mask
  {results} = sparseattn.attend {names["q"]}, {names["k"]}, {names["v"]}, %mask scale {scale:.12f} : !x, !x, !x, !mask -> !x, !lse
{after}  return %o, %lse : !x, !lse
}}
"""


def run_tool(options, name, *arguments):
    tool = os.path.join(options.bin, name)
    try:
        done = subprocess.run([tool, *arguments], capture_output=True, text=True)
    except OSError as problem:
        fail("tool", f"'{tool}' ({problem})", "a built one (see --bin)")
    if done.returncode != 0:
        fail(f"exit status of {name}", f"{done.returncode} ({done.stderr.strip()})", "0")


def permutation(options, order, tokens, folder):
    """Where each token of the order comes from."""
    if not order:
        return np.arange(tokens)
    text, places, moved = (os.path.join(folder, n) for n in ("p.mlir", "p.npz", "m.npz"))
    with open(text, "w", encoding="utf-8") as file:
        file.write(f"#order = {order}\n"
                   f"func.func @move(%x: tensor<1x{tokens}xf32>) -> tensor<1x{tokens}xf32> {{\n"
                   f"  %y = sparseattn.permute %x by #order : tensor<1x{tokens}xf32>\n"
                   f"  return %y : tensor<1x{tokens}xf32>\n}}\n")
    np.savez(places, x=np.arange(tokens, dtype=np.float32)[None])
    run_tool(options, "sparseattn-sim", text, "--inputs", places, "--outputs", moved)
    return np.load(moved)["result0"][0].astype(np.int64)


def run_layer(options, text, capture, folder):
    """The layer's record in the report of sparseattn-run."""
    layer, inputs, report = (
        os.path.join(folder, n) for n in ("layer.mlir", "inputs.npz", "report.json"))
    np.savez(inputs, **capture)
    with open(layer, "w", encoding="utf-8") as file:
        file.write(text)
    run_tool(options, "sparseattn-run", layer, "--inputs", inputs, "--ranks",
             str(options.ranks), "--balance", "swap", "--check=full", "--report", report)
    with open(report, encoding="utf-8") as file:
        return json.load(file)["steps"][0]["layers"][0]


# -- Command line --------------------------------------------------------------


def read_capture(path, heads):
    """The arrays of the asked heads."""
    try:
        with np.load(path) as arrays:
            capture = {name: arrays[name] for name in "qkv"}
    except (OSError, ValueError, KeyError) as problem:
        fail("capture", f"'{path}' ({problem})", "an .npz file with q, k and v")
    kinds = {(array.dtype.name, array.shape) for array in capture.values()}
    dtype, shape = sorted(kinds)[0]
    if len(kinds) > 1 or len(shape) != 3 or dtype not in TYPES or 0 in shape:
        fail("q, k and v", ", ".join(f"{kind}{list(sizes)}" for kind, sizes in sorted(kinds)),
             "one shape [heads, tokens, dim] of float32, float16 or bfloat16 bits")
    if heads is not None:
        try:
            begin, end = (int(part) for part in heads.split(":"))
        except ValueError:
            begin, end = 0, 0
        if not 0 <= begin < end <= shape[0]:
            fail("--heads", f"'{heads}'", f"A:B with 0 <= A < B <= {shape[0]}")
        capture = {name: array[begin:end] for name, array in capture.items()}
    return capture


def numbers(array):
    """As floating-point numbers: bfloat16 comes as its bits."""
    if array.dtype == np.uint16:
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array


def parse_order(text):
    if text is None:
        return None
    parts = text.split(",") + ["0"]
    try:
        grid = [int(axis) for axis in parts[1].split("x")]
        prefix = int(parts[2])
    except (IndexError, ValueError):
        grid = []
    if len(grid) != 3 or len(parts) > 4:
        fail("--order", f"'{text}'", "KIND,TxHxW or KIND,TxHxW,PREFIX")
    tail = f", prefix = {prefix}" if prefix else ""
    return f"#sparseattn.order<{parts[0]}, grid = {grid}{tail}>"


def numpy_figures(q, k, options, scale):
    tokens, block = q.shape[1], options.block
    weights = pooled_weights(q, k, block, scale)
    mass = true_weights(q, k, block, scale)
    mask = top_p_mask(weights, options.p, options.min_blocks)
    exact = top_p_mask(mass, options.p, options.min_blocks)
    density = mask.mean((1, 2))
    kept = kept_mass(mask, mass, tokens, block)
    p = p_that_keeps(weights, mass, options.p, tokens, block, options.min_blocks)
    loads = rank_loads(mask, options.ranks)
    found = recall(weights, mass, options.top)
    return {
        "density": mask.mean(),
        "density_spread": density.max() / density.min(),
        "density_exact": exact.mean(),
        "kept_mass": kept.mean(),
        "p_for_kept": p,
        "density_for_kept": top_p_mask(weights, p, options.min_blocks).mean(),
        "recall": found.mean(),
        "loads": loads,
        "rho_before": max(loads) * len(loads) / sum(loads),
        "per_head": {"density": density.tolist(), "kept_mass": kept.tolist(),
                     "recall": found.tolist()},
    }


def rounded(value):
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return value if isinstance(value, int) else round(float(value), 4)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("capture")
    parser.add_argument("--order", help="for example hilbert,1x30x52,1")
    parser.add_argument("--heads", help="A:B, heads A to B - 1 alone (default: all)")
    parser.add_argument("--block", type=int, default=64)
    parser.add_argument("--p", type=float, default=0.9)
    parser.add_argument("--min-blocks", type=int, default=2)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--top", type=int, default=5)
    parser.add_argument("--bin", default="build/bin", help="folder of the built tools")
    options = parser.parse_args()
    capture = read_capture(options.capture, options.heads)
    shape, dtype = capture["q"].shape, TYPES[capture["q"].dtype.name]
    order = parse_order(options.order)
    scale = shape[2] ** -0.5
    with tempfile.TemporaryDirectory() as folder:
        places = permutation(options, order, shape[1], folder)
        q, k = (numbers(capture[name])[:, places] for name in "qk")
        figures = numpy_figures(q, k, options, scale)
        text = layer_text(shape, dtype, order, options, scale)
        record = run_layer(options, text, capture, folder)
    for name, tolerance in (("density", 0), ("rho_before", 1e-9), ("kept_mass", 1e-3)):
        if not abs(record[name] - figures[name]) <= tolerance + 1e-12:
            fail(f"{name} of sparseattn-run", record[name], f"numpy's {figures[name]}")
    if record["loads"] != figures["loads"]:
        fail("loads of sparseattn-run", record["loads"], f"numpy's {figures['loads']}")
    figures["rho_after"] = record["rho_after"]
    figures["loads_after"] = record["loads_after"]
    sizes = dict(zip(("heads", "tokens", "head_dim"), shape))
    print(json.dumps({"shape": sizes, **rounded(figures)}, indent=2))


if __name__ == "__main__":
    main()
