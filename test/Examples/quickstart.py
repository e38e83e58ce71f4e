#!/usr/bin/env python3
"""Runs examples/quickstart.sh as the README does and judges what it writes.

usage: quickstart.py BUILD_DIR
Prints one PASS or FAIL line for each property.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECONDS_LIMIT = 90
STEPS, LAYERS, RANKS = 4, 2, 4
NUMBERS = (
    "density rho_before rho_after moves bytes_moved bytes_ulysses bytes_dense_ring "
    "kept_mass max_abs_error psnr ms"
).split()


class Cases:
    def __init__(self):
        self.failed = False

    def expect(self, name, good, got):
        if not good:
            self.failed = True
            print(f"{name}: got {got}", file=sys.stderr)
        print(f"{'PASS' if good else 'FAIL'}: quickstart/{name}", flush=True)
        return good


def check_report(cases, report):
    steps = report.get("steps", [])
    shape = [len(step["layers"]) for step in steps]
    if not cases.expect("steps-and-layers", shape == [LAYERS] * STEPS, shape):
        return
    layers = [layer for step in steps for layer in step["layers"]]

    def column(name):
        return [layer.get(name) for layer in layers]

    for name in NUMBERS:
        values = column(name)
        # moves may be the list of them or their number.
        numeric = all(isinstance(v, (int, float)) or name == "moves" for v in values)
        cases.expect(f"has-{name}", numeric and None not in values, values)
    loads = column("loads")
    cases.expect("has-loads", all(len(l or []) == RANKS for l in loads), loads)
    density = column("density")
    cases.expect("density", all(0.15 <= d <= 0.6 for d in density), density)
    before, after = column("rho_before"), column("rho_after")
    cases.expect("rho-before", all(r >= 1.1 for r in before), before)
    better = all(1 <= a <= b for a, b in zip(after, before))
    cases.expect("rho-after", better and sum(after) < sum(before), after)
    mean = [max(l) * len(l) / sum(l) for l in loads]
    matches = all(
        min(abs(m - a), abs(m - b)) < 1e-3 for m, a, b in zip(mean, after, before)
    )
    cases.expect("rho-is-of-the-loads", matches, mean)
    kept = column("kept_mass")
    cases.expect("kept-mass", all(0.5 < k <= 1 + 1e-6 for k in kept), kept)
    errors = column("max_abs_error")
    cases.expect("error", all(0 <= e < 1e-2 for e in errors), errors)
    psnr = [step["layers"][-1]["psnr"] for step in steps]
    cases.expect("psnr-rises", all(a < b for a, b in zip(psnr, psnr[1:])), psnr)
    # How much faster depends on what else the machine does.
    dense = report["dense_layer_ms"]
    cases.expect("dense-layer", isinstance(dense, float) and dense > 0, dense)
    for name in ("compile_ms", "plan_us"):
        cases.expect(f"has-{name}", name in report, sorted(report))


def main():
    build_dir = sys.argv[1]
    cases = Cases()
    host = os.path.join(build_dir, "bin", "sparseattn-dit-host")
    with tempfile.TemporaryDirectory() as folder:
        # The script serves the default build; another one runs its host alone.
        default = os.path.realpath(build_dir) == os.path.realpath(os.path.join(ROOT, "build"))
        command = [os.path.join(ROOT, "examples", "quickstart.sh")] if default else [host]
        start = time.monotonic()
        run = subprocess.run(
            command + ["--out", "result"], cwd=folder, capture_output=True, text=True
        )
        seconds = time.monotonic() - start
        tail = (run.stdout + run.stderr)[-2000:]
        if not cases.expect("exit-status", run.returncode == 0, f"{run.returncode}\n{tail}"):
            sys.exit(1)
        cases.expect("time", seconds < SECONDS_LIMIT, f"{seconds:.1f} s")
        progress = len(re.findall(r"density", run.stdout))
        cases.expect("prints-each-layer", progress >= 1, run.stdout[-500:])
        out = os.path.join(folder, "result")
        names = ["report.json", "report.html", "trace.json", "plan.mlir", "program.mlir"]
        present = sorted(os.listdir(out)) if os.path.isdir(out) else []
        if not cases.expect("files", set(names) <= set(present), present):
            sys.exit(1)
        with open(os.path.join(out, "report.json"), encoding="utf-8") as file:
            check_report(cases, json.load(file))
        with open(os.path.join(out, "trace.json"), encoding="utf-8") as file:
            trace = json.load(file)
        events = trace["traceEvents"] if isinstance(trace, dict) else trace
        threads = {(e.get("pid"), e.get("tid")) for e in events if e.get("ph") == "X"}
        cases.expect("trace", len(threads) >= RANKS, len(threads))
        opt = os.path.join(build_dir, "bin", "sparseattn-opt")
        for name in ("plan.mlir", "program.mlir"):
            parsed = subprocess.run(
                [opt, "--verify-roundtrip", "-o", os.devnull, os.path.join(out, name)],
                capture_output=True,
                text=True,
            )
            cases.expect(f"parses-{name}", parsed.returncode == 0, parsed.stderr[-1000:])
    sys.exit(1 if cases.failed else 0)


if __name__ == "__main__":
    main()
