"""Random layers, drawn from a fixed seed: dense, empty, one-row and random
masks, any number of tokens, 1, 7 and 40 heads, meshes of 1 to 8 ranks. The
interpreter, the program over the ranks in double precision and the compiled
kernels give the float64 reference's result."""

import sys

import numpy as np
from simulation import *

start(sys.argv)

CASES = 40
RANKS = [(u, r) for u in range(1, 9) for r in range(1, 9) if u * r <= 8]
HEADS = [(1, 1), (7, 7), (7, 1), (40, 40), (40, 8)]
random = np.random.default_rng(20)


def draw_mask(kind, heads, nq, nk):
    mask = np.zeros((heads, nq, nk), bool)
    if kind == "dense":
        mask[:] = True
    elif kind == "one row":
        mask[random.integers(heads), random.integers(nq)] = True
    elif kind == "one tile":
        mask[random.integers(heads), random.integers(nq), random.integers(nk)] = True
    elif kind == "random":
        mask = random.random(mask.shape) < random.choice([0.1, 0.4, 0.8])
        if heads > 1:
            mask[random.integers(heads)] = False  # a head without work
        mask[-1, -1, -1] = True
    return mask


# Every mesh and every kind of mask comes up, in a drawn order.
meshes = [RANKS[i] for i in random.permutation(len(RANKS))]
kinds = ["dense", "empty", "one row", "one tile", "random", "random"]
for number in range(CASES):
    kind = kinds[number % len(kinds)]
    ulysses, ring = meshes[number % len(meshes)]
    heads, kv_heads = HEADS[random.integers(len(HEADS))]
    most = 50 if heads == 40 else 130
    sq, skv = (int(n) for n in random.integers(1, most, 2))
    if random.random() < 0.5:
        skv = sq
    causal = bool(random.random() < 0.4)
    block = tuple(int(n) for n in random.choice([16, 24, 32], 2))
    nq, nk = -(-sq // block[0]), -(-skv // block[1])
    mask = draw_mask(kind, heads, nq, nk)
    arrays = tensors(heads, sq, 32, kv_heads, skv, seed=number, scale=3)
    label = (f"case {number}: {kind}, ulysses={ulysses},ring={ring}, heads {heads}/{kv_heads}, "
             f"tokens {sq}x{skv}, blocks {block}, causal {causal}")
    tail = ", causal" if causal else ""
    text = attend_function(heads, sq, 32, block, kv_heads, skv, tail)
    text = text.replace(", %mask: !mask", "").replace(
        "  %o, %lse",
        f"  %mask = sparseattn.explicit_mask dense<{mask.astype(int).tolist()}> : "
        f"tensor<{heads}x{nq}x{nk}xi1> -> !mask\n  %o, %lse")
    expected, expected_lse = reference(**arrays, mask=mask, block=block, causal=causal)

    mesh = f"ulysses={ulysses},ring={ring}"
    result, said = sim(text, "--mesh", mesh, "--check", **arrays)
    check(f"check      {ulysses * ring} ranks against the interpreter" in said, f"{label}\n{said}")
    run_ok("case.mlir", "--inputs", "case.npz", "--mesh", mesh, "--outputs", "compiled.npz")
    with np.load("compiled.npz") as compiled:
        for name, got in (("sim", result), ("run", compiled)):
            bound = 1e-4 * np.abs(arrays["v"]).max()
            compare(f"{label}, {name}", got["out"], expected, bound)
            compare_lse(f"{label}, {name}", got["lse"], expected_lse, 1e-3)
    check(kind in ("dense", "empty") or not np.isneginf(expected_lse).all() or causal,
          f"{label}: nothing is visible")
print("ok")
