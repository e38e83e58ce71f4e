"""--machine: predicted timelines, choice of mesh and balance, refusals."""

import json
import os
import re
import sys

from simulation import *

start(sys.argv)
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
LAYERS = os.path.join(ROOT, "examples", "layers")
WAN = os.path.join(LAYERS, "wan_14b_720p.mlir")
SMALL = os.path.join(LAYERS, "small.mlir")
TRACE = os.path.join(ROOT, "test", "data", "traces", "small_mask_hilbert_p90.bmt")


def predict(*options):
    return json.loads(run_ok(*options, "--json", tool=SIM).stdout)


def candidates(*options):
    """Times by (ulysses, ring, balance), and the chosen one."""
    text = run_ok(*options, tool=SIM).stdout
    times, chosen = {}, None
    for match in re.finditer(
        r"  ulysses=(\d+),ring=(\d+)(?:, balance (\w+))?: ([0-9.]+) us.*?(<- chosen)?$",
        text, re.M,
    ):
        key = int(match[1]), int(match[2]), match[3]
        times[key] = float(match[4])
        if match[5]:
            chosen = key
    check(chosen is not None, "one is chosen")
    return times, chosen


# A layer that routes is predicted with a made-up mask, and is not computed.
prediction = predict(WAN, "--ranks", "8", "--machine", "h200x8", "--density", "390")
check(prediction["machine"] == "8 x H200, NVLink", "machine's name")
check(len(prediction["ranks"]) == 8, "a rank for each")
check(
    prediction["makespan_twice_rate_us"]
    < prediction["makespan_us"]
    < prediction["makespan_half_rate_us"],
    "faster links take less time",
)
# 39 % of the tiles at 6.965 ns on one of 8 ranks, and all else on top.
ideal = 0.39 * 40 * 591 * 1182 * 6.965e-3 / 8
check(ideal < prediction["makespan_us"] < 2 * ideal, "about the work of a rank")
path = prediction["critical_path"]
check(path[0]["begin_us"] == 0, "the path begins at the beginning")
check(path[-1]["end_us"] == prediction["makespan_us"], "and ends at the end")
for a, b in zip(path, path[1:]):
    check(abs(a["end_us"] - b["begin_us"]) < 1e-6, "without gaps")
# Without --density the policy's own.
check(
    predict(WAN, "--ranks", "8", "--machine", "h200x8")["makespan_us"]
    > prediction["makespan_us"] * 0.99,
    "expected density of Top-p 0.9",
)

# One island: no hybrid. Two: segments across, heads inside.
times, chosen = candidates(WAN, "--ranks", "8", "--mesh", "auto", "--machine", "h200x8",
                           "--density", "390")
check(len({key[:2] for key in times}) == 4, "all meshes of 8 ranks")
check({"none", "swap"} <= {key[2] for key in times}, "and balances")
check(chosen[:2] == (8, 1), f"a flat machine has no ring: {chosen}")
times, chosen = candidates(WAN, "--ranks", "8", "--mesh", "auto", "--machine",
                           "h200x8-islands", "--density", "390")
check(chosen[:2] == (4, 2), f"islands of four have a ring of two: {chosen}")
check(times[(8, 1, "swap")] > 1.3 * times[chosen], "and gain by it")
times, chosen = candidates(WAN, "--ranks", "8", "--balance", "auto", "--machine",
                           "h200x8", "--density", "390")
check((8, 1, "none") in times and (8, 1, "swap") in times, "balances of one mesh")
times, chosen = candidates(WAN, "--ranks", "8", "--mesh", "auto", "--balance", "swap",
                           "--machine", "h200x8", "--density", "390")
check({key[2] for key in times} == {"swap"}, "meshes of one balance")

# More ranks than can run as threads.
prediction = predict(WAN, "--ranks", "128", "--mesh", "ulysses=32,ring=4", "--machine",
                     "h200x512", "--density", "200", "--balance", "none")
check(len(prediction["ranks"]) == 128, "128 ranks")
expect_error("--ranks: got 65, expected at most 64, or --machine with", WAN, "--ranks", "65",
             tool=SIM)

# A recorded mask; a trace for a viewer.
layer = routed_layer(12, 14040, 128, "#sparseattn.top_p<p = 0.9, min_blocks = 4>",
                     (128, 64), dtype="bf16")
write("layer.mlir", layer)
text = run_ok("layer.mlir", "--ranks", "4", "--machine", "h200x8.json", "--mask", TRACE,
              "--instance", "3", "--explain", "--trace", "t.json", tool=SIM).stdout
for word in ("work per rank", "bytes per link", "predicted on 8 x H200, NVLink", "measured",
             "over NVLink:", "with links of half the rate", "predicted critical path"):
    check(word in text, f"{word!r} in the explanation")
with open("t.json", encoding="utf-8") as file:
    events = json.load(file)
check({e["pid"] for e in events} == {0, 1, 2, 3}, "a process for each rank")

# What runs is predicted after it ran, and so is a saved program.
text = run_ok(SMALL, "--ranks", "2", "--machine", "h200x8", tool=SIM).stdout
check("in proportion to bf16" in text, "kernels of other shapes are named")
check(text.index("density") < text.index("predicted on"), "it ran before")
run_ok(SMALL, "--ranks", "2", "--save-program", "p.mlir", tool="sparseattn-run")
text = run_ok("p.mlir", "--machine", "h200x8", tool=SIM).stdout
check("predicted on" in text and "density" not in text, "a program is only read")
text = run_ok("p.mlir", "--machine", "h200x8", "--check", tool=SIM).stdout
check("predicted on" in text and "density" in text, "unless it is checked")


def refuse(pattern, *options):
    expect_error(pattern, *options, tool=SIM)


refuse("--machine.*absent", SMALL, "--ranks", "2", "--machine", "absent")
write("bad.json", '{"format": 1}')
refuse("--machine bad.json: version: got none, expected one", SMALL, "--machine", "bad.json")
refuse("--mesh auto: got it without --machine, expected --machine M.json", SMALL, "--ranks",
       "2", "--mesh", "auto")
refuse("--json: got it without --machine", SMALL, "--json")
refuse("--ranks: got none with --mesh auto", SMALL, "--mesh", "auto", "--machine", "h200x8")
refuse("--density: got it with --mask", SMALL, "--machine", "h200x8", "--mask", TRACE,
       "--density", "100")
refuse("--instance: got it without --mask", SMALL, "--machine", "h200x8", "--instance", "1")
refuse("--inputs, --outputs, --masks or --check: got one with", SMALL, "--ranks", "2",
       "--machine", "h200x8", "--json", "--check")
refuse("got 12 heads of 14040 tokens in tiles of 128x64, expected 4 heads of 1000 tokens",
       SMALL, "--ranks", "2", "--machine", "h200x8", "--mask", TRACE)
refuse("instance of the trace out of range: got 12", "layer.mlir", "--ranks", "4",
       "--machine", "h200x8", "--mask", TRACE, "--instance", "12")
refuse("ranks of the program: got 16, expected at most 8", WAN, "--ranks", "16", "--machine",
       "h200x8", "--density", "100")
refuse("ranks: got 16, expected 1 to 8 of the machine", WAN, "--ranks", "16", "--mesh",
       "auto", "--machine", "h200x8")
refuse("--mask or --density: got one for 'p.mlir', expected none", "p.mlir", "--machine",
       "h200x8", "--density", "100")
