"""What sparseattn-run writes: report, trace, plan, program, outputs."""

import json
import os
import sys

import numpy as np
from harness import *

start(sys.argv)

np.savez("in.npz", **tensors(4, 300, 32))
layer = write("layer.mlir", routed_layer(4, 300, 32, "#sparseattn.top_p<p = 0.7, min_blocks = 1>", (64, 64)))
run_ok(layer, "--inputs", "in.npz", "--outputs", "out.npz", "--mesh", "ulysses=2,ring=2", "--check",
       "--report", "report.json", "--trace", "trace.json", "--save-plan", "plan.mlir",
       "--save-program", "program.mlir")
whole = json.load(open("report.json"))
stats = report()
for name in ("density", "loads", "rho_before", "rho_after", "moves", "bytes_moved", "bytes_ulysses",
             "bytes_dense_ring", "kept_mass", "max_abs_error", "psnr", "ms"):
    check(name in stats, f"report: no {name}")
check(whole["compile_ms"] > 0 and whole["plan_us"] > 0, "report: times")
check(len(stats["loads"]) == 4, "one load per rank")
check(0 < stats["density"] <= 1 and 0 < stats["kept_mass"] <= 1 + 1e-9, "density and mass")
# Both all-to-alls over two Ulysses ranks: half of Q, K, V and O crosses.
check(stats["bytes_ulysses"] == 4 * 4 * 300 * 32 * 4 // 2, f"bytes_ulysses: got {stats['bytes_ulysses']}")
# Every rank sends its K and V of all heads to three others.
check(stats["bytes_dense_ring"] == 3 * 2 * 4 * 300 * 32 * 4, f"bytes_dense_ring: got {stats['bytes_dense_ring']}")
events = json.load(open("trace.json"))
spans = [e for e in events if e.get("ph") == "X"]
check({e["tid"] for e in spans} == {0, 1, 2, 3}, "one thread per rank in the trace")
check(all(e["dur"] >= 0 and e["ts"] >= 0 for e in spans), "times in the trace")
check(any("attend" in e["name"] for e in spans), "attend in the trace")
for path in ("plan.mlir", "program.mlir"):
    result = run(path, tool="sparseattn-opt")
    check(result.returncode == 0, f"{path} parses: {result.stderr}")

# Same bits from run to run.
first = np.load("out.npz")["out"]
for _ in range(3):
    run_ok(layer, "--inputs", "in.npz", "--outputs", "again.npz", "--mesh", "ulysses=2,ring=2")
    check(np.array_equal(np.load("again.npz")["out"], first), "same bits")

# --dtype rounds and says so; out keeps the inputs' dtype.
result = run_ok(layer, "--inputs", "in.npz", "--outputs", "again.npz", "--dtype", "bf16")
check("rounded from f32 to bf16" in result.stdout, "rounding is said")
check(np.load("again.npz")["out"].dtype == np.float32, "dtype of out")
check(np.abs(np.load("again.npz")["out"] - first).max() < 0.1, "bf16 is close")

# A file is replaced as a whole; existing outputs survive a failing run.
before = open("report.json").read()
expect_error("missing", layer, "--inputs", "missing.npz", "--report", "report.json")
check(open("report.json").read() == before, "a failing run leaves the report alone")

# Without inputs; compile only; help.
check("normal random, seed 7" in run_ok(layer, "--seed", 7).stdout, "random inputs are said")
check("compiled" in run_ok(layer, "--compile-only").stdout, "compile-only")
check("usage:" in run_ok("--help").stdout, "help")
check("rank" in run_ok(layer, "--ranks", 2, "--explain").stdout, "explain")
print("ok")
