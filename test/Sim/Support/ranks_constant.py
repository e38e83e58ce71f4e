"""Constant masks and augmented masks over ranks; 16-bit elements; options."""

import re
import sys

import numpy as np
from meshes import *

start(sys.argv)

top_p = "#sparseattn.top_p<p = 0.7, min_blocks = 1>"
bits = random_mask(5, 120, 120, (16, 16), 0.4, seed=3)
bits[0] = True  # a straggler
bits[2] = False  # a head without work
moves = case("explicit", explicit_layer(5, 120, 32, (16, 16), bits), skewed(5, 120, 32))
check(moves > 0, "no mesh of the explicit layer moved a head")
case("explicit, causal", explicit_layer(5, 120, 32, (16, 16), bits, ", causal"),
     skewed(5, 120, 32), meshes=[(1, 1), (2, 2), (1, 3)])
arrays = skewed(12, 200, 32)
text = routed_layer(12, 200, 32, top_p, (16, 16))
tiles = {}
for extra in ([], ["--augment"]):
    case("augmented", text, arrays, *extra, meshes=[(1, 1), (4, 1), (2, 2), (1, 3)])
    _, said = sim(text, "--mesh", "ulysses=5,ring=1", *extra, **arrays)
    tiles[len(extra)] = int(re.search(r"density .*\((\d+) tiles\)", said).group(1))
check(tiles[1] > tiles[0], f"--augment adds no tile: {tiles}")

# The text of a run's plan says everything that ran, extra tiles included.
np.savez("plan.npz", **arrays)
write("layer.mlir", text)
for mesh in ("ulysses=5,ring=1", "ulysses=2,ring=2"):
    run_ok("layer.mlir", "--inputs", "plan.npz", "--outputs", "ran.npz", "--mesh", mesh,
           "--augment", "--save-plan", "plan.mlir", "--device", "reference")
    with open("plan.mlir") as file:
        plan = file.read()
    check("extras = " in plan, f"{mesh}: the plan has no extra tiles")
    alone, _ = sim(plan, **arrays)
    again, said = sim(plan, "--check", **arrays)
    with np.load("ran.npz") as ran:
        check(np.array_equal(ran["out"], again["out"]), f"{mesh}: the plan runs otherwise")
        compare(f"plan of {mesh}", alone["out"], ran["out"], 2.0**-16 * np.abs(arrays["v"]).max())

arrays = {n: to_bf16(a) for n, a in skewed(4, 90, 32).items()}
text = routed_layer(4, 90, 32, top_p, (16, 16), dtype="bf16")
whole, _ = sim(text, **arrays)
for mesh in ("ulysses=2,ring=1", "ulysses=2,ring=2"):
    result, _ = sim(text, "--mesh", mesh, "--check", **arrays)
    step = np.abs(from_bf16(result["out"]) - from_bf16(whole["out"]))
    check((step <= 2.0**-7 * np.abs(from_bf16(whole["out"])) + 1e-6).all(),
          f"bf16, {mesh}: more than one rounding apart")

# Without --check the same program runs; --ranks N is one Ulysses group.
arrays = skewed(12, 200, 32)
text = routed_layer(12, 200, 32, top_p, (16, 16))
first, said = sim(text, "--ranks", 3, "--masks", "--explain", **arrays)
check("3 ranks (ulysses 3, ring 1)" in said, f"mesh of --ranks 3\n{said}")
check("mask       12 x 13 x 13, " in said, f"--masks prints no mask\n{said}")
check("rank 0" in said and "rank 2" in said, f"--explain says nothing of the ranks\n{said}")
second, _ = sim(text, "--mesh", "ulysses=3,ring=1", **arrays)
check(np.array_equal(first["out"], second["out"]), "bits differ between runs")
print("ok")
