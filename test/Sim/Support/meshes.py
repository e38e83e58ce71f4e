"""Shared parts of the tests that run a layer's program over 1 to 8 ranks, with
and without a ring, and compare it with its interpretation: the same mask, out
and lse within the stated bound."""

import numpy as np
from simulation import *

MESHES = [(1, 1), (2, 1), (3, 1), (2, 2), (5, 1), (1, 6), (7, 1), (4, 2), (2, 4), (1, 8)]


def explicit_layer(heads, sq, dim, block, bits, tail=""):
    text = attend_function(heads, sq, dim, block, tail=tail)
    rows = str(bits.astype(int).tolist())
    return text.replace(", %mask: !mask", "").replace(
        "  %o, %lse",
        f"  %mask = sparseattn.explicit_mask dense<{rows}> : "
        f"tensor<{'x'.join(map(str, bits.shape))}xi1> -> !mask\n  %o, %lse",
    )


def skewed(heads, sq, dim, kv_heads=None, skv=None):
    """Heads of different temperature, smooth keys: loads differ, heads move."""
    arrays = tensors(heads, sq, dim, kv_heads, skv, seed=heads + sq)
    temperature = np.linspace(0.2, 4, heads, dtype=np.float32)[:, None, None]
    arrays["q"] = np.abs(arrays["q"]) * temperature
    for name in ("q", "k"):
        n = arrays[name].shape[1]
        arrays[name] += np.sin(np.linspace(0, 9, n, dtype=np.float32))[None, :, None] * 2
    return arrays


def case(name, text, arrays, *options, meshes=MESHES):
    whole, _ = sim(text, **arrays)
    moved = 0
    for ulysses, ring in meshes:
        mesh = f"ulysses={ulysses},ring={ring}"
        label = f"{name}, {mesh}"
        result, said = sim(text, "--mesh", mesh, "--check", *options, **arrays)
        check(f"check      {ulysses * ring} ranks against the interpreter" in said,
              f"{label}: no comparison was made\n{said}")
        check(", 0 of " in said, f"{label}: masks differ\n{said}")
        moved += ", 0 moves" not in said
        if "--augment" in options:
            continue
        compare(label, result["out"], whole["out"], 2.0**-16 * np.abs(arrays["v"]).max())
        compare_lse(label, result["lse"], whole["lse"], 1e-4)
    return moved
