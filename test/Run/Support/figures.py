"""examples/data/routing_figures.py: numbers worked out by hand, a capture made
for one answer, and what it refuses."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
from harness import *

start(sys.argv)
script = os.path.join(sys.argv[2], "examples", "data", "routing_figures.py")
sys.path.insert(0, os.path.dirname(script))
import routing_figures as routing  # noqa: E402  (found through the line above)
tools = os.path.dirname(shutil.which("sparseattn-run"))


def same(name, got, expected):
    check(np.allclose(got, expected, atol=1e-12), f"{name}: got {got}, expected {expected}")


def column(*values):
    """One head, a token for each value, one dimension."""
    return np.array(values, float)[None, :, None]


# -- By hand ---------------------------------------------------------------------

same("means", routing.block_means(column(1, 3, 5), 2), column(2, 5))
same("pooled", routing.pooled_weights(column(2, 2), column(0, np.log(3)), 1, 0.5),
     [[[0.25, 0.75], [0.25, 0.75]]])
# Means differ from the truth: keys 0 and ln 9 have the mean ln 3.
keys = column(0, np.log(9), 0, 0)
same("pooled blocks", routing.pooled_weights(column(1, 1, 1, 1), keys, 2, 1)[0, 0], [0.75, 0.25])
same("true blocks", routing.true_weights(column(1, 1, 1, 1), keys, 2, 1)[0, 0], [10 / 12, 2 / 12])
same("short block", routing.true_weights(column(0, 0, 0), column(1, 1, 1), 2, 1)[0],
     [[2 / 3, 1 / 3]] * 2)
weights = np.array([[[0.25, 0.5, 0.25]]])
for p, least, kept in ((0.4, 1, [0, 1, 0]), (0.5, 1, [0, 1, 0]), (0.6, 1, [1, 1, 0]),
                       (0.75, 1, [1, 1, 0]), (0.8, 1, [1, 1, 1]), (0, 2, [1, 1, 0]),
                       (0, 9, [1, 1, 1]), (2, 1, [1, 1, 1])):
    got = routing.top_p_mask(weights, p, least)[0, 0]
    check(got.tolist() == [bool(x) for x in kept], f"top-p {p}, at least {least}: {got}")
mask = np.array([[[True, True], [True, False]]])
mass = np.array([[[0.5, 0.5], [0.4, 0.6]]])
same("kept mass", routing.kept_mass(mask, mass, 3, 2), [(2 * 1 + 1 * 0.4) / 3])
same("recall", routing.recall(np.array([[[0.5, 0.3, 0.2]]]), np.array([[[0.2, 0.5, 0.3]]]), 2), [0.5])
heads = np.arange(6)[:, None, None] >= np.arange(6)[None, None]  # head h keeps h + 1
check(routing.rank_loads(heads, 4) == [3, 3, 9, 6], f"loads {routing.rank_loads(heads, 4)}")
p = routing.p_that_keeps(weights, np.array([[[0.3, 0.4, 0.3]]]), 0.6, 1, 1, 1)
check(0.5 <= p < 0.5 + 2e-6, f"p that keeps 0.6 is {p}, expected just above 0.5")


# -- A capture with one answer ---------------------------------------------------


def figures(*arguments):
    return subprocess.run([sys.executable, script, *arguments, "--bin", tools],
                          capture_output=True, text=True)


# Head 0 looks at its own block alone, head 1 at all alike.
q = np.zeros((2, 64, 32), np.float32)
for token in range(64):
    q[0, token, token // 16] = 12
np.savez("in.npz", q=q, k=q, v=q)
done = figures("in.npz", "--block", "16", "--min-blocks", "1", "--ranks", "2", "--top", "1")
check(done.returncode == 0, done.stderr)
got = json.loads(done.stdout)
check(got["per_head"]["density"] == [0.25, 1.0] and got["loads"] == [4, 16], f"got {got}")
check(got["rho_before"] == 1.6 and got["per_head"]["recall"][0] == 1, f"got {got}")
same("kept", got["per_head"]["kept_mass"], [1, 1])
one = json.loads(figures("in.npz", "--block", "16", "--min-blocks", "1", "--ranks", "1",
                         "--heads", "0:1").stdout)
check(one["shape"]["heads"] == 1 and one["density"] == 0.25, f"one head: {one}")

# -- What it refuses -------------------------------------------------------------

np.savez("short.npz", q=q, k=q[:, :32], v=q)
np.savez("no_v.npz", q=q, k=q)
for message, arguments in (
    ("error: --heads: got '1:3', expected A:B with 0 <= A < B <= 2", ["in.npz", "--heads", "1:3"]),
    ("error: --order: got 'hilbert', expected KIND,TxHxW or KIND,TxHxW,PREFIX",
     ["in.npz", "--order", "hilbert"]),
    ("error: q, k and v: got float32[2, 32, 32], float32[2, 64, 32], expected one shape "
     "[heads, tokens, dim] of float32, float16 or bfloat16 bits",
     ["short.npz"]),
    ("error: capture: got 'no_v.npz' ('v is not a file in the archive'), expected an .npz file "
     "with q, k and v", ["no_v.npz"]),
    ("error: exit status of sparseattn-sim: got 1 (", ["in.npz", "--order", "hilbert,1x8x9"]),
):
    done = figures(*arguments)
    check(done.returncode == 1 and done.stderr.startswith(message) and not done.stdout,
          f"{arguments}: exit {done.returncode}, {done.stderr}{done.stdout}")
print("ok")
