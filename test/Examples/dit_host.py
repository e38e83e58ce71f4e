#!/usr/bin/env python3
"""Runs the video-DiT host on other clips, meshes, types and on bad input.

usage: dit_host.py BUILD_DIR
Prints one PASS or FAIL line for each property.
"""

import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(ROOT, "examples", "data")
CLIP = os.path.join(DATA, "big_buck_bunny.npy")
# The distribution's interpreter has numpy; one in front of it may not see it.
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
INPUTS = ["k.npy", "q.npy", "v.npy"]
FILES = ["plan.mlir", "program.mlir", "report.html", "report.json", "trace.json"]
SMALL = ["--grid", "3x10x16", "--block", "16x16", "--steps", "2"]


class Host:
    def __init__(self, build_dir, folder):
        self.program = os.path.join(build_dir, "bin", "sparseattn-dit-host")
        self.folder = folder
        self.failed = False
        self.runs = 0

    def expect(self, name, good, got):
        if not good:
            self.failed = True
            print(f"{name}: got {got}", file=sys.stderr)
        print(f"{'PASS' if good else 'FAIL'}: dit-host/{name}", flush=True)
        return good

    def start(self, *arguments):
        """(finished process, its output folder)."""
        self.runs += 1
        out = os.path.join(self.folder, f"out{self.runs}")
        command = [self.program, "--out", out, *arguments]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True), out

    def report(self, name, *arguments):
        run, out = self.start(*arguments)
        present = sorted(os.listdir(out)) if os.path.isdir(out) else []
        good = run.returncode == 0 and present == FILES
        if not self.expect(name, good, (run.returncode, present, run.stderr[-1000:])):
            return None
        with open(os.path.join(out, "report.json"), encoding="utf-8") as file:
            report = json.load(file)
        shutil.rmtree(out)
        return report

    def refuse(self, name, message, *arguments):
        """One line of error, status 1, nothing written."""
        run, out = self.start(*arguments)
        lines = run.stderr.splitlines()
        good = run.returncode == 1 and len(lines) == 1 and lines[0].startswith("error: ")
        good = good and message in lines[0]
        present = os.listdir(out) if os.path.isdir(out) else []
        self.expect(f"refuses-{name}", good and not present, (run.returncode, lines, present))


def layers(report):
    return [layer for step in report["steps"] for layer in step["layers"]]


def ends(report):
    return [step["layers"][-1]["psnr"] for step in report["steps"]]


def second_clip(host):
    """Another clip and seed at full size keep what the first one shows."""
    clip = os.path.join(host.folder, "shapes.npy")
    script = os.path.join(DATA, "make_latents.py")
    made = subprocess.run(
        [PYTHON, script, "--synthetic", "7", clip], capture_output=True, text=True
    )
    if not host.expect("makes-latents", made.returncode == 0, made.stderr):
        return
    report = host.report("second-clip", "--latents", clip, "--seed", "5", "--no-check")
    if report:
        density = [layer["density"] for layer in layers(report)]
        host.expect("second-clip-density", all(0.15 <= d <= 0.6 for d in density), density)
        rho = [layer["rho_before"] for layer in layers(report)]
        host.expect("second-clip-rho", all(r >= 1.1 for r in rho), rho)
        psnr = [report["psnr_noised"]] + ends(report)
        host.expect("second-clip-rises", psnr == sorted(psnr), psnr)
        unmeasured = {layer["kept_mass"] for layer in layers(report)}
        host.expect("no-check-is-null", unmeasured == {None}, unmeasured)
    for name, latents in (("first", CLIP), ("second", clip)):
        part = ["--latents", latents, "--grid", "9x30x26", "--block", "64x64", "--no-check"]
        sparse = host.report(f"{name}-clip-part", *part)
        dense = host.report(f"{name}-clip-part-dense", *part, "--dense")
        if sparse and dense:
            gap = sparse["psnr"] - dense["psnr"]
            host.expect(f"{name}-clip-near-dense", abs(gap) <= 0.3, gap)
            full = {layer["density"] for layer in layers(dense)}
            host.expect(f"{name}-clip-dense-is-dense", full == {1.0}, full)


def meshes(host):
    """Every mesh gives the same masks and, up to rounding, the same estimates."""
    base = host.report("one-rank", *SMALL, "--ranks", "1", "--check")
    if not base:
        return
    cases = [("ranks-2", ["--ranks", "2"]), ("ranks-3", ["--ranks", "3"])]
    cases += [("ranks-8", ["--ranks", "8"]), ("again", ["--ranks", "1"])]
    for ulysses, ring in ((2, 2), (1, 4), (4, 2)):
        mesh = f"ulysses={ulysses},ring={ring}"
        cases.append((f"mesh-{ulysses}-{ring}", ["--mesh", mesh]))
    cases.append(("unbalanced", ["--balance", "none"]))
    cases.append(("split", ["--ranks", "3", "--balance", "split"]))
    cases.append(("pre", ["--ranks", "3", "--balance", "pre", "--repair"]))
    for name, arguments in cases:
        report = host.report(name, *SMALL, "--check", *arguments)
        if not report:
            continue
        tiles = [sum(layer["loads"]) for layer in layers(report)]
        wanted = [sum(layer["loads"]) for layer in layers(base)]
        host.expect(f"{name}-same-tiles", tiles == wanted, (tiles, wanted))
        gap = max(abs(a["psnr"] - b["psnr"]) for a, b in zip(layers(report), layers(base)))
        host.expect(f"{name}-same-psnr", gap <= (0 if name == "again" else 1e-3), gap)


def variants(host):
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        host.refuse("no-gpu", "device cuda: cuda driver: got 'libcuda.so.1: ", "--device", "cuda")
    for dtype in ("fp16", "bf16"):
        host.report(f"dtype-{dtype}", *SMALL, "--dtype", dtype, "--check")
    for order in ("raster", "cubes", "stripes"):
        host.report(f"order-{order}", *SMALL, "--order", order)
    host.report("seven-heads", *SMALL, "--heads", "7", "--ranks", "3", "--check")
    host.report("one-token", "--grid", "1x1x1", "--steps", "1", "--check=full")
    full = host.report("check-full", *SMALL, "--check=full")
    if full:
        host.expect("checks-all-rows", full["sampled_rows_per_head"] == 480, full)
    mixed = host.report("dense-steps", *SMALL, "--dense-steps", "1")
    if mixed:
        density = [layer["density"] for layer in layers(mixed)]
        good = density[:2] == [1.0, 1.0] and max(density[2:]) < 1
        host.expect("dense-steps-are-dense", good, density)
        kept = [layer["kept_mass"] for layer in layers(mixed)]
        good = min(kept[:2]) > 1 - 1e-5 and max(kept[2:]) < 1 - 1e-4
        host.expect("dense-steps-keep-all", good, kept)


# Rows of v are rotated rows of the noised latents: as long in every head.
SAME_LENGTHS = """
import sys, numpy
v = numpy.load(sys.argv[1])["v"].astype(numpy.float64)
lengths = numpy.sqrt((v * v).sum(-1))
good = numpy.allclose(lengths, lengths[:1], rtol=1e-5) and lengths.min() > 0.1
sys.exit(0 if good else 1)
"""


def saved_inputs(host):
    """q, k and v as files are those that the last step and layer ran on."""
    for dtype in ("fp32", "fp16", "bf16"):
        arguments = [*SMALL, "--dtype", dtype, "--check=full", "--save-inputs"]
        run, out = host.start(*arguments)
        present = sorted(os.listdir(out)) if os.path.isdir(out) else []
        good = run.returncode == 0 and present == sorted(FILES + INPUTS)
        if not host.expect(f"saves-{dtype}", good, (run.returncode, present, run.stderr[-1000:])):
            continue
        capture = os.path.join(out, "capture.npz")
        with zipfile.ZipFile(capture, "w") as archive:
            for name in INPUTS:
                archive.write(os.path.join(out, name), name)
        figures = subprocess.run(
            [PYTHON, os.path.join(DATA, "routing_figures.py"), capture, "--block", "16",
             "--min-blocks", "12", "--bin", os.path.dirname(host.program)],
            capture_output=True, text=True)
        if not host.expect(f"saved-{dtype}-reads", figures.returncode == 0, figures.stderr):
            continue
        got = json.loads(figures.stdout)
        with open(os.path.join(out, "report.json"), encoding="utf-8") as file:
            last = layers(json.load(file))[-1]
        for name in ("density", "loads", "loads_after", "rho_before", "rho_after", "kept_mass"):
            wanted = last[name]
            good = got[name] == wanted if name.startswith("loads") else (
                abs(got[name] - wanted) < 1e-4)
            host.expect(f"saved-{dtype}-{name}", good, (got[name], wanted))
        if dtype == "fp32":
            lengths = subprocess.run([PYTHON, "-c", SAME_LENGTHS, capture])
            host.expect("saved-v", lengths.returncode == 0, lengths.returncode)


def bad_input(host):
    host.refuse("no-threads", "--threads: got '0'", "--threads", "0")
    host.refuse("both-checks", "--check: got it with --no-check", "--check", "--no-check")
    host.refuse("repair", "--repair: got it with --balance swap, expected --balance pre", "--repair")
    host.refuse("augment", "--augment: got it with --balance pre", "--augment", "--balance", "pre")
    host.refuse("twice", "--ranks: got it twice", "--ranks", "2", "--ranks", "2")
    host.refuse("no-ranks", "--ranks: got '0'", "--ranks", "0")
    host.refuse("mesh", "must multiply to --ranks", "--mesh", "ulysses=2,ring=3", "--ranks", "4")
    host.refuse("grid", "--grid: got 10x30x52", "--grid", "10x30x52")
    host.refuse("option", "--nonsense", "--nonsense")
    host.refuse("no-latents", "no-such-file.npy", "--latents", "no-such-file.npy")
    with open(CLIP, "rb") as file:
        data = file.read()
    cut = os.path.join(host.folder, "cut.npy")
    with open(cut, "wb") as file:
        file.write(data[:-2])
    host.refuse("truncated-latents", "bytes of the array", "--latents", cut)
    with open(cut, "wb") as file:
        file.write(data[:-2] + b"\x00\x7e")
    host.refuse("nan-latents", "got nan, expected a finite number", "--latents", cut)
    run = subprocess.run(
        [host.program, "--out", os.path.join(CLIP, "x")], capture_output=True, text=True
    )
    good = run.returncode == 1 and run.stderr.startswith("error: --out: got ") and not run.stdout
    host.expect("refuses-unwritable", good, (run.returncode, run.stdout, run.stderr))


def main():
    with tempfile.TemporaryDirectory() as folder:
        host = Host(os.path.realpath(sys.argv[1]), folder)
        bad_input(host)
        meshes(host)
        variants(host)
        saved_inputs(host)
        second_clip(host)
    sys.exit(1 if host.failed else 0)


if __name__ == "__main__":
    main()
