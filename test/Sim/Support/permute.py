"""Token orders: cubes and stripes against numpy, every order against its
inverse, and a layer whose order does not change the result."""

import sys

import numpy as np
from simulation import *

start(sys.argv)

T, H, W, PREFIX, SUFFIX = 3, 5, 6, 7, 2
TOKENS = PREFIX + T * H * W + SUFFIX
FIELDS = f"grid = [{T}, {H}, {W}], prefix = {PREFIX}, suffix = {SUFFIX}"
t, h, w = (a.ravel() for a in np.meshgrid(range(T), range(H), range(W), indexing="ij"))


def permutation(grid_order):
    grid = PREFIX + np.asarray(grid_order)
    return np.concatenate([np.arange(PREFIX), grid, np.arange(TOKENS - SUFFIX, TOKENS)])


expected = {
    "raster": permutation(np.arange(T * H * W)),
    # lexsort: the last key is the first one to sort by.
    "cubes": permutation(np.lexsort((w, h, t, w // 3, h // 2, t // 2))),
    "stripes": permutation(np.lexsort((t, h * W + w))),
}
cube = {"cubes": ", cube = [2, 2, 3]", "tiles": ", cube = [2, 2, 3], tiles = [2, 4]"}


def tiles(in_time, in_space):
    """Stripes of equal count, cut in time: number i of n in run i * runs // n."""
    stripes = np.lexsort((t, h * W + w))
    number = np.arange(stripes.size)
    result = []
    for stripe in range(in_space):
        part = np.sort(stripes[number * in_space // stripes.size == stripe])
        run = np.arange(part.size) * in_time // part.size
        for index in range(in_time):
            tile = part[run == index]
            result.extend(tile[np.lexsort((w[tile], h[tile], t[tile],
                                           w[tile] // 3, h[tile] // 2, t[tile] // 2))])
    return np.array(result)


expected["tiles"] = permutation(tiles(2, 4))


def permute_function(kind, shape, inverse=""):
    tensor = "x".join(map(str, shape))
    return f"""
#order = #sparseattn.order<{kind}, {FIELDS}{cube.get(kind, "")}>
func.func @permute(%x: tensor<{tensor}xf32>) -> tensor<{tensor}xf32> {{
  %0 = sparseattn.permute %x by #order {inverse} : tensor<{tensor}xf32>
  return %0 : tensor<{tensor}xf32>
}}
"""


x = np.random.default_rng(0).standard_normal((2, TOKENS, 4)).astype(np.float32)
for kind in ("raster", "cubes", "hilbert", "stripes", "tiles"):
    moved = sim(permute_function(kind, x.shape), x=x)[0]["result0"]
    back = sim(permute_function(kind, x.shape, "inverse"), x=moved)[0]["result0"]
    check(np.array_equal(back, x), f"{kind}: the inverse does not restore the tokens")
    if kind in expected:
        check(np.array_equal(moved, x[:, expected[kind]]), f"{kind}: wrong order")
        undone = np.empty_like(x)
        undone[:, expected[kind]] = x
        got = sim(permute_function(kind, x.shape, "inverse"), x=x)[0]["result0"]
        check(np.array_equal(got, undone), f"{kind}: wrong inverse")
    else:
        check(not np.array_equal(moved, x), f"{kind}: nothing moved")
        check(np.array_equal(moved[:, :PREFIX], x[:, :PREFIX])
              and np.array_equal(moved[:, -SUFFIX:], x[:, -SUFFIX:]),
              f"{kind}: text tokens moved")
    # Two axes: lse.
    flat = sim(permute_function(kind, x.shape[:2]), x=x[:, :, 0])[0]["result0"]
    check(np.array_equal(flat, moved[:, :, 0]), f"{kind}: lse is ordered otherwise")

# Hilbert: neighbours on the curve are neighbours in a grid that is a cube of
# side 4.
grid = np.arange(64, dtype=np.float32).reshape(1, 64, 1)
curve = sim(
    """
func.func @curve(%x: tensor<1x64x1xf32>) -> tensor<1x64x1xf32> {
  %0 = sparseattn.permute %x by <hilbert, grid = [4, 4, 4]> : tensor<1x64x1xf32>
  return %0 : tensor<1x64x1xf32>
}
""",
    x=grid,
)[0]["result0"].ravel().astype(int)
points = np.stack([curve // 16, curve // 4 % 4, curve % 4], 1)
check((np.abs(np.diff(points, axis=0)).sum(1) == 1).all(), "hilbert: the curve jumps")


# A layer in any order, dense: the order must not be seen from outside.
def layer(kind):
    return f"""
#order = #sparseattn.order<{kind}, {FIELDS}{cube.get(kind, "")}>
!x = tensor<2x{TOKENS}x32xf32>
!lse = tensor<2x{TOKENS}xf32>
!mask = {mask_type(2, TOKENS, TOKENS, (16, 16), ", order = #order")}
func.func @layer(%q: !x, %k: !x, %v: !x) -> (!x, !lse) {{
  %qo = sparseattn.permute %q by #order : !x
  %ko = sparseattn.permute %k by #order : !x
  %vo = sparseattn.permute %v by #order : !x
  %mask = sparseattn.policy_mask #sparseattn.dense -> !mask
  %o, %l = sparseattn.attend %qo, %ko, %vo, %mask scale 0.25 : !x, !x, !x, !mask -> !x, !lse
  %out = sparseattn.permute %o by #order inverse : !x
  %lse = sparseattn.permute %l by #order inverse : !lse
  return %out, %lse : !x, !lse
}}
"""


arrays = tensors(2, TOKENS, 32, seed=5, scale=2)
out, lse = reference(arrays["q"], arrays["k"], arrays["v"], scale=0.25)
for kind in ("raster", "hilbert", "cubes", "tiles"):
    result, _ = sim(layer(kind), **arrays)
    compare(kind, result["out"], out, 1e-6)
    compare_lse(kind, result["lse"], lse, 1e-5)
    ran, said = sim(layer(kind), "--mesh", "ulysses=2,ring=2", "--check", **arrays)
    compare(f"{kind} over 4 ranks", ran["out"], out, 1e-5)
    # In the plan's text the order is an attribute of the layer.
    run_ok("case.mlir", "--inputs", "case.npz", "--save-plan", "plan.mlir", "--device",
           "reference")
    with open("plan.mlir") as file:
        plan = file.read()
    check("boundary_order" in plan and "permute" not in plan,
          f"{kind}: the permutes were not hoisted")
    planned, _ = sim(plan, **arrays)
    compare(f"plan in {kind}", planned["out"], out, 1e-6)
print("ok")
