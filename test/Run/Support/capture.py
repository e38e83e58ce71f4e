"""Q, K and V of a trained transformer (examples/data/vit_s14.npz) through
examples/layers/vit_s14.mlir: masks, loads, rho, kept mass and outputs against
numpy in double precision, over several meshes; the figures of
test/benchmarks/capture.json and the hash that the README states."""

import hashlib
import json
import os
import re
import sys

import numpy as np
from harness import *

start(sys.argv)
source = sys.argv[2]
data = os.path.join(source, "examples", "data")
sys.path.insert(0, data)
import routing_figures as numpy_routing  # noqa: E402  (found through the line above)

BLOCK, P, MIN_BLOCKS, SCALE = 64, 0.9, 2, 0.125
layer = os.path.join(source, "examples", "layers", "vit_s14.mlir")
inputs = os.path.join(data, "vit_s14.npz")

# -- The file is the one that is described ------------------------------------

with open(inputs, "rb") as file:
    digest = hashlib.sha256(file.read()).hexdigest()
with open(os.path.join(data, "README.md"), encoding="utf-8") as file:
    readme = re.sub(r"\s+", " ", file.read())
check(f"`vit_s14.npz` has the SHA-256 hash `{digest}`" in readme,
      f"examples/data/README.md does not state {digest}")
check(os.path.getsize(inputs) <= 6_000_000, "the capture is above 6 MB")
arrays = dict(np.load(inputs))
for name, array in arrays.items():
    check(array.shape == (12, 1561, 64) and array.dtype == np.float16,
          f"{name}: {array.dtype} {array.shape}")
    check(np.isfinite(array).all(), f"{name}: not finite")
    bits = array.astype(np.float32).view(np.uint32)
    check(not (bits & 0xFFFF).any(), f"{name}: more than 8 significant bits")

# -- What numpy expects ----------------------------------------------------------

# The layer's order, by the op that the layer uses (its own tests: Sim/permute).
write("move.mlir", """
#order = #sparseattn.order<hilbert, grid = [1, 30, 52], prefix = 1>
func.func @move(%x: tensor<1x1561xf32>) -> tensor<1x1561xf32> {
  %y = sparseattn.permute %x by #order : tensor<1x1561xf32>
  return %y : tensor<1x1561xf32>
}
""")
np.savez("places.npz", x=np.arange(1561, dtype=np.float32)[None])
run_ok("move.mlir", "--inputs", "places.npz", "--outputs", "moved.npz", tool="sparseattn-sim")
places = np.load("moved.npz")["result0"][0].astype(int)
check(sorted(places) == list(range(1561)) and places[0] == 0, "not an order of the tokens")

ordered = {name: array[:, places].astype(np.float64) for name, array in arrays.items()}
q, k, v = (ordered[name] for name in "qkv")
weights = numpy_routing.pooled_weights(q, k, BLOCK, SCALE)
mask = numpy_routing.top_p_mask(weights, P, MIN_BLOCKS)
mass = numpy_routing.true_weights(q, k, BLOCK, SCALE)
kept = numpy_routing.kept_mass(mask, mass, 1561, BLOCK).mean()
# No sum so close to p that fp32 could decide otherwise.
sums = np.cumsum(-np.sort(-weights, -1), -1)
check(np.abs(sums - P).min() > 1e-6, f"a sum is {np.abs(sums - P).min()} from p")
out, lse = reference(q, k, v, mask, (BLOCK, BLOCK), SCALE)
undo = np.argsort(places)
out, lse = out[:, undo], lse[:, undo]

# Heads differ, as no random input makes them.
per_head = mask.mean((1, 2))
check(per_head.max() > 8 * per_head.min(), f"heads are alike: {per_head}")
plain = numpy_routing.top_p_mask(
    numpy_routing.pooled_weights(arrays["q"], arrays["k"], BLOCK, SCALE), P, MIN_BLOCKS)
check(plain.sum() != mask.sum(), "the order makes no difference: the test would not see it")


def loads_of(ulysses, ring):
    """Tiles of each rank r * ulysses + u: heads of u, q-blocks of segment r."""
    owner = np.arange(12) * ulysses // 12
    edges = [25 * r // ring for r in range(ring + 1)]
    return [int(mask[owner == u, edges[r]:edges[r + 1]].sum())
            for r in range(ring) for u in range(ulysses)]


# -- Ranks and balances ----------------------------------------------------------

first = None
# All rows twice, else a sample: the tool's reference is slow, and numpy compares
# every row anyway.
for ulysses, ring, balance, how in (
        (1, 1, "none", "--check"), (4, 1, "none", "--check"), (4, 1, "swap", "--check=full"),
        (5, 1, "swap", "--check"), (2, 2, "none", "--check=full"), (2, 2, "swap", "--check"),
        (4, 2, "swap", "--check")):
    name = f"ulysses {ulysses}, ring {ring}, {balance}"
    run_ok(layer, "--inputs", inputs, "--outputs", "out.npz", "--report", "report.json",
           "--mesh", f"ulysses={ulysses},ring={ring}", "--balance", balance, how)
    stats, result = report(), np.load("out.npz")
    check(stats["density"] == mask.mean(), f"{name}: density {stats['density']}")
    loads = loads_of(ulysses, ring)
    check(stats["loads"] == loads, f"{name}: loads {stats['loads']}, expected {loads}")
    rho = max(loads) * len(loads) / sum(loads)
    check(abs(stats["rho_before"] - rho) < 1e-9, f"{name}: rho {stats['rho_before']}, expected {rho}")
    after = stats["loads_after"]
    check(sum(after) == sum(loads), f"{name}: tiles lost")
    if balance == "none":
        check(after == loads, f"{name}: heads moved")
    check(max(after) <= max(loads), f"{name}: balance made it worse")
    check(abs(stats["rho_after"] - max(after) * len(after) / sum(after)) < 1e-9, f"{name}: rho_after")
    if (ulysses, ring, balance) == (4, 1, "swap"):
        check(stats["rho_after"] < 1.05 < 1.2 < stats["rho_before"], f"{name}: {stats}")
    if how == "--check=full":
        check(stats["rows_checked"] == 12 * 1561, f"{name}: rows {stats['rows_checked']}")
        check(abs(stats["kept_mass"] - kept) < 1e-5,
              f"{name}: kept {stats['kept_mass']}, expected {kept}")
    compare(name, result["out"].astype(np.float64), out, 2e-3)
    compare_lse(name, result["lse"], lse, 2e-4)
    if first is None:
        first = result
    elif ring == 1:
        check(np.array_equal(result["out"], first["out"]), f"{name}: bits of out differ")

# -- The figures that are stated -------------------------------------------------

with open(os.path.join(source, "test", "benchmarks", "capture.json"), encoding="utf-8") as file:
    stated = json.load(file)["captures"]["trained"]
for name, value in (
    ("density", mask.mean()),
    ("kept_mass", kept),
    ("density_spread", per_head.max() / per_head.min()),
    ("density_exact", numpy_routing.top_p_mask(mass, P, MIN_BLOCKS).mean()),
    ("recall", numpy_routing.recall(weights, mass, 5).mean()),
    ("rho_before", max(loads_of(4, 1)) * 4 / mask.sum()),
):
    check(abs(stated[name] - value) < 1e-4, f"capture.json: {name} is {stated[name]}, not {value}")

# -- A layer of other sizes ------------------------------------------------------

expect_error("got .*1561.*, expected .*1000", os.path.join(source, "examples/layers/small.mlir"),
             "--inputs", inputs, "--outputs", "none.npz", leaves=["none.npz"])
print("ok")
