#!/usr/bin/env python3
"""Runs layers on the GPU of this machine, from an archive or a build.

usage: run_tests.py (--archive A.tar.xz | --bin DIR | --probe) [--filter TEXT]
                    [--quick] [--json FILE] [--keep]
  --archive   of tools/make-archive.sh, unpacked in an empty folder
  --bin       folder of sparseattn-run in place of an archive
  --probe     only says whether there is a GPU: status 0 if so
  --filter    only tests whose name has TEXT in it
  --quick     leaves out the large ones
  --json      where the results go (default device-tests.json)
  --keep      leaves the folder with layers and outputs

Needs Python 3.9 alone. Every case compares with the double precision reference
(--check), over poisoned memory, with coverage proven. The last line is
`N passed, N failed`; without a GPU it names what is missing and the status is 1.
"""

import argparse
import ctypes
import datetime
import json
import math
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

CASE_TIMEOUT_SECONDS = 600

LAYER = """
!q = tensor<{heads}x{sq}x{dim}x{dtype}>
!kv = tensor<{kv_heads}x{skv}x{dim}x{dtype}>
!lse = tensor<{heads}x{sq}xf32>
!mask = !sparseattn.mask<{heads}x{nq}x{nk}, block = {bq}x{bk}, tokens = {sq}x{skv}>
func.func @layer(%q: !q, %k: !kv, %v: !kv) -> (!q, !lse) {{
{mask}
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale {scale:.9e} : !q, !kv, !kv, !mask -> !q, !lse
  return %o, %lse : !q, !lse
}}
"""
ROUTED = """\
  %pq = sparseattn.pool %q block {bq} : !q -> tensor<{heads}x{nq}x{dim}xf32>
  %pk = sparseattn.pool %k block {bk} : !kv -> tensor<{kv_heads}x{nk}x{dim}xf32>
  %mask = sparseattn.route %pq, %pk policy {policy} scale {scale:.9e}
    : tensor<{heads}x{nq}x{dim}xf32>, tensor<{kv_heads}x{nk}x{dim}xf32> -> !mask"""
BY_RULE = "  %mask = sparseattn.policy_mask {policy} -> !mask"


def layer_text(heads, sq, skv=None, kv_heads=None, dim=128, block=(128, 128), dtype="bf16",
               policy="#sparseattn.top_p<p = 0.9, min_blocks = 2>", routed=True):
    values = dict(heads=heads, kv_heads=kv_heads or heads, sq=sq, skv=sq if skv is None else skv,
                  dim=dim, bq=block[0], bk=block[1], dtype=dtype, policy=policy,
                  scale=1 / math.sqrt(dim))
    values["nq"] = -(-values["sq"] // block[0])
    values["nk"] = -(-values["skv"] // block[1])
    mask = (ROUTED if routed else BY_RULE).format(**values)
    return LAYER.format(mask=mask, **values)


def cases(quick):
    """(name, layer text, options)"""
    for tokens in (1, 63, 65, 127, 129, 1000):
        yield f"tokens {tokens}", layer_text(2, tokens), []
    for block in ((128, 128), (128, 64), (64, 128), (64, 64)):
        for dim in (64, 128, 256):
            yield (f"blocks {block[0]}x{block[1]} dim {dim}",
                   layer_text(3, 1100, 900, dim=dim, block=block), [])
    yield "fp16", layer_text(4, 1500, dtype="f16"), []
    yield "fp32 is rounded", layer_text(2, 700, dtype="f32"), []
    yield "heads 28 over 7", layer_text(28, 900, kv_heads=7), []
    yield "queries 300 keys 1700", layer_text(4, 300, 1700), []
    yield "no keys but one block", layer_text(2, 500, 1), []
    yield "top-k", layer_text(4, 2000, policy="#sparseattn.top_k<k = 3>"), []
    yield ("kept blocks",
           layer_text(4, 2000, policy="#sparseattn.top_k<k = 2, keep = [[0, 1], [5, 7]]>"), [])
    yield "dense", layer_text(3, 700, policy="#sparseattn.dense", routed=False), []
    yield ("window",
           layer_text(3, 2100, policy="#sparseattn.window<blocks = 2>", routed=False), [])
    routed = layer_text(8, 2300, kv_heads=4)
    for mesh in ("ulysses=2,ring=1", "ulysses=1,ring=2", "ulysses=2,ring=2", "ulysses=4,ring=2"):
        yield f"mesh {mesh}", routed, ["--mesh", mesh]
    yield "balance", routed, ["--mesh", "ulysses=4,ring=1", "--balance", "swap"]
    yield ("augment", routed,
           ["--mesh", "ulysses=4,ring=1", "--balance", "swap", "--augment"])
    if quick:
        return
    yield "tokens 8423", layer_text(4, 8423, kv_heads=2), []
    yield ("row blocks over 65535",
           layer_text(64, 70000, 128, kv_heads=1, dim=64, block=(64, 64)), [])
    yield "rows 299521", layer_text(1, 299521, 512, dim=64), []
    yield "keys 299521", layer_text(1, 512, 299521, dim=64), []


class Runner:
    def __init__(self, command, folder):
        self.command, self.folder, self.results = command, folder, []
        # Only what the system has: nothing says where a library is but a driver
        # that stands in for the vendor's.
        self.environment = {key: value for key, value in os.environ.items()
                            if key in ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "CUDA_HOME",
                                       "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES")}

    def run(self, text, options):
        """(exit status, stdout, stderr, report)"""
        with open(os.path.join(self.folder, "layer.mlir"), "w", encoding="utf-8") as file:
            file.write(text)
        report = os.path.join(self.folder, "report.json")
        if os.path.exists(report):
            os.remove(report)
        command = [self.command, "layer.mlir", "--device", "cuda", "--cache-dir", "cache",
                   "--report", "report.json", *options]
        try:
            done = subprocess.run(command, cwd=self.folder, env=self.environment, text=True,
                                  capture_output=True, timeout=CASE_TIMEOUT_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return None, "", f"no end after {CASE_TIMEOUT_SECONDS} s", {}
        layer = {}
        if os.path.exists(report):
            with open(report, encoding="utf-8") as file:
                whole = json.load(file)
            layer = dict(whole["steps"][0]["layers"][0], compile_ms=whole["compile_ms"])
        return done.returncode, done.stdout, done.stderr, layer

    def add(self, name, error, layer=None, seconds=0.0):
        layer = layer or {}
        keys = ("ms", "compile_ms", "density", "tiles", "max_abs_error", "max_abs_error_bound",
                "rho_before", "rho_after", "moves")
        result = {"name": name, "passed": not error, "error": error, "seconds": round(seconds, 3)}
        result.update({key: layer[key] for key in keys if key in layer})
        self.results.append(result)

        def number(key, form):
            return format(layer[key], form) if isinstance(layer.get(key), (int, float)) else "-"
        print(f"{'PASS' if not error else 'FAIL'}  {name:<28} {number('density', '.3f'):>7} "
              f"{number('ms', '.2f'):>9} {number('compile_ms', '.0f'):>8} "
              f"{number('max_abs_error', '.2e'):>9} {number('max_abs_error_bound', '.2e'):>9}",
              flush=True)
        if error:
            print("      " + error.strip().replace("\n", "\n      "), flush=True)

    def check(self, name, text, options):
        begin = time.monotonic()
        status, _, errors, layer = self.run(text, ["--check", *options])
        error = "" if status == 0 else errors or f"exit status {status}"
        if not error and not layer.get("check_passed"):
            error = "report: got no passed check, expected one"
        self.add(name, error, layer, time.monotonic() - begin)

    def same_bits(self, name, text, options, runs, other=()):
        """Outputs of `runs` processes are equal byte for byte."""
        begin, first, error = time.monotonic(), None, ""
        for i in range(runs):
            more = other if i % 2 else ()
            status, _, errors, _ = self.run(text, ["--outputs", "out.npz", *options, *more])
            if status != 0:
                error = errors or f"exit status {status}"
                break
            with open(os.path.join(self.folder, "out.npz"), "rb") as file:
                data = file.read()
            first = first or data
            if data != first:
                error = f"outputs of run {i}: got other bytes than of run 0, expected the same"
                break
        self.add(name, error, None, time.monotonic() - begin)

    def plan_again(self, name, text, options):
        """A saved program gives the same bytes as the run that saved it."""
        begin, outputs, error = time.monotonic(), [], ""
        for more in (["--save-plan", "plan.mlir"], ["--plan", "plan.mlir"]):
            status, _, errors, _ = self.run(text, ["--outputs", "out.npz", *options, *more])
            if status != 0:
                error = errors or f"exit status {status}"
                break
            with open(os.path.join(self.folder, "out.npz"), "rb") as file:
                outputs.append(file.read())
        if not error and outputs[0] != outputs[1]:
            error = "outputs under the saved plan: got other bytes, expected the same"
        self.add(name, error, None, time.monotonic() - begin)


def unpack(archive, folder):
    """Folder of the commands in the archive."""
    try:
        with tarfile.open(archive) as file:
            file.extractall(folder)
    except (OSError, tarfile.TarError) as error:
        raise SystemExit(f"error: archive {archive}: got '{error}', expected one of "
                         "tools/make-archive.sh") from error
    for entry in sorted(os.listdir(folder)):
        if os.path.exists(os.path.join(folder, entry, "bin", "sparseattn-run")):
            return os.path.join(folder, entry, "bin")
    raise SystemExit(f"error: archive {archive}: got no bin/sparseattn-run, expected one")


def machine():
    try:
        query = "name,driver_version,memory.total,power.limit"
        text = subprocess.run(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"],
                              capture_output=True, text=True, timeout=60, check=False).stdout
        return [line.strip() for line in text.splitlines() if line.strip()]
    except (OSError, subprocess.TimeoutExpired):
        return []


def missing_device():
    """Why no GPU can be used; empty if one can."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return f"driver: got '{error}', expected libcuda.so.1 of an NVIDIA driver"
    count = ctypes.c_int(0)
    status = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    if status or not count.value:
        return f"driver: got status {status} and {count.value} GPUs, expected status 0 and a GPU"
    return ""


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=True)
    parser.add_argument("--archive")
    parser.add_argument("--bin")
    parser.add_argument("--probe", action="store_true")
    parser.add_argument("--filter", default="")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", default="device-tests.json")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    if reason := missing_device():
        print(f"no device: {reason}\n0 passed, 0 failed, no test was run")
        return 1
    if options.probe:
        return 0
    if bool(options.archive) == bool(options.bin):
        print("error: --archive and --bin: got both or none, expected one", file=sys.stderr)
        return 1
    folder = tempfile.mkdtemp(prefix="sparseattn-device-")
    try:
        binary = os.path.abspath(options.bin) if options.bin else unpack(options.archive, folder)
        work = os.path.join(folder, "work")
        os.makedirs(work)
        runner = Runner(os.path.join(binary, "sparseattn-run"), work)
        status, _, errors, _ = runner.run(layer_text(1, 128, dim=64, block=(64, 64)), [])
        if status != 0 and errors.startswith("error: device cuda"):
            print(f"no device: {errors.strip()}\n0 passed, 0 failed, no test was run")
            return 1
        print(f"      {'test':<28} {'density':>7} {'ms':>9} {'compile':>8} {'error':>9} {'bound':>9}")
        for name, text, more in cases(options.quick):
            if options.filter in name:
                runner.check(name, text, more)
        routed = layer_text(8, 2300, kv_heads=4)
        mesh = ["--mesh", "ulysses=2,ring=2"]
        if options.filter in "the same bits again":
            runner.same_bits("the same bits again", routed, mesh, 3 if options.quick else 10)
        if options.filter in "the same bits on two ranks":
            runner.same_bits("the same bits on two ranks", routed, [], 2,
                             ["--mesh", "ulysses=2,ring=1"])
        if options.filter in "a saved plan":
            runner.plan_again("a saved plan", routed,
                              ["--mesh", "ulysses=4,ring=1", "--balance", "swap"])
        failed = sum(not result["passed"] for result in runner.results)
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"schema": 1, "date": datetime.date.today().isoformat(),
                       "command": " ".join(sys.argv), "gpus": machine(),
                       "results": runner.results}, file, indent=1)
            file.write("\n")
        print(f"{len(runner.results) - failed} passed, {failed} failed")
        return 1 if failed or not runner.results else 0
    finally:
        if options.keep:
            print(f"kept {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
