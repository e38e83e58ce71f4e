#!/usr/bin/env python3
"""Measures cold and warm starts of a layer with and without the kernel cache.

usage: kernel_cache.py BUILD_DIR [LAYER.mlir] [--starts N] [--ptxas PATH]
                       > kernel-cache.json, or gpu-kernel-cache.json

With --ptxas the kernels are those of a GPU, which need not be there. Every start
is a process of its own (sparseattn-run --compile-only). Cold starts find an empty
cache and fill it; warm starts find the full one. Cold and warm starts alternate,
so that other work on the machine meets both.
"""

import argparse
import datetime
import json
import os
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def start(tool, layer, cache, ptxas):
    """Milliseconds of one process, as measured in it and around it."""
    begin, cpu_begin = time.monotonic(), cpu_seconds()
    run = subprocess.run(
        [tool, layer, "--compile-only", "--cache-dir", cache]
        + (["--device", "cuda", "--ptxas", ptxas] if ptxas else []),
        capture_output=True, text=True, check=True,
    )
    process = (time.monotonic() - begin) * 1e3
    cpu = (cpu_seconds() - cpu_begin) * 1e3
    times = re.search(r"^times      engine (\S+) ms, layer (\S+) ms, of it kernels (\S+) ms$", run.stdout, re.M)
    engine, layer_ms, kernels = map(float, times.groups())
    return {"engine_ms": engine, "layer_ms": layer_ms, "kernels_ms": kernels, "process_ms": process, "process_cpu_ms": cpu}, run.stdout


def summary(rows, name):
    values = sorted(row[name] for row in rows)
    quartiles = statistics.quantiles(values, n=4)
    return {
        "median": round(statistics.median(values), 3),
        "min": round(values[0], 3),
        "max": round(values[-1], 3),
        "quartiles": [round(quartiles[0], 3), round(quartiles[2], 3)],
    }


def command_line():
    """What was typed, a real-time priority that was asked for included."""
    priority = {os.SCHED_RR: "chrt --rr", os.SCHED_FIFO: "chrt --fifo"}.get(os.sched_getscheduler(0))
    before = [f"{priority} {os.sched_getparam(0).sched_priority}"] if priority else []
    return " ".join([*before, "test/benchmarks/kernel_cache.py", *sys.argv[1:]])


def cpu_name():
    for line in open("/proc/cpuinfo", encoding="utf-8"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build_dir")
    parser.add_argument("layer", nargs="?", default=os.path.join(ROOT, "examples", "layers", "small.mlir"))
    parser.add_argument("--starts", type=int, default=25)
    parser.add_argument("--ptxas")
    options = parser.parse_args()
    if options.starts < 15:
        parser.error(f"--starts: got {options.starts}, expected at least 15")
    tool = os.path.join(options.build_dir, "bin", "sparseattn-run")
    load = os.getloadavg()[0]
    cold, warm = [], []
    with tempfile.TemporaryDirectory() as folder:
        full, empty = os.path.join(folder, "full"), os.path.join(folder, "empty")
        start(tool, options.layer, full, options.ptxas)  # also brings the libraries into memory
        for _ in range(options.starts):
            row, out = start(tool, options.layer, empty, options.ptxas)
            if " cached" in out:
                sys.exit("error: cold start: got a cached kernel, expected none")
            cold.append(row)
            shutil.rmtree(empty)
            row, out = start(tool, options.layer, full, options.ptxas)
            if ", 0 misses" not in out:
                sys.exit("error: warm start: got a miss, expected none")
            warm.append(row)
        files = [os.path.getsize(os.path.join(full, name)) for name in os.listdir(full)]
    names = ("layer_ms", "kernels_ms", "engine_ms", "process_ms", "process_cpu_ms")
    json.dump(
        {
            "what": "compile of a layer in a new process, from text to callable kernels, with an empty and a full cache",
            "command": command_line(),
            "device": "cuda" if options.ptxas else "cpu",
            "layer": os.path.relpath(options.layer, ROOT),
            "date": datetime.date.today().isoformat(),
            "machine": {
                "cpu": cpu_name(),
                "cores": os.cpu_count(),
                "load_average_before": round(load, 2),
            },
            "starts": options.starts,
            "warm_start": "layer_ms of warm: from the layer's text to callable kernels; process_ms is the whole process beside it",
            "note": "with a load average above 0, absolute times are upper bounds; min is nearest to a quiet machine",
            "columns": {
                "layer_ms": "text to callable kernels: parse, passes, program, kernels",
                "kernels_ms": "of it, compiling or loading the kernels",
                "engine_ms": "creation of the engine: MLIR context, dialects, code generator",
                "process_ms": "the whole process, loading of shared libraries included",
                "process_cpu_ms": "of it, time on a core: what other work on the machine changes least",
            },
            "entries": {"files": len(files), "bytes": sum(files)},
            "cold": {name: summary(cold, name) for name in names},
            "warm": {name: summary(warm, name) for name in names},
        },
        sys.stdout,
        indent=2,
    )
    print()


if __name__ == "__main__":
    main()
