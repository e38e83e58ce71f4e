#!/usr/bin/env python3
"""Prints the figures of an archive as JSON: sizes and how fast commands start.

usage: measure.py ARCHIVE [--runs N]
"""

import argparse
import datetime
import json
import lzma
import os
import platform
import statistics
import subprocess
import tempfile
import time

STARTS = {
    "sparseattn-run --help": ["sparseattn-run", "--help"],
    "sparseattn-opt --version": ["sparseattn-opt", "--version"],
    "sparseattn-sim --help": ["sparseattn-sim", "--help"],
}


def unpacked_bytes(tree):
    """(bytes of every file, bytes of libsparseattn), links not counted."""
    total, library = 0, 0
    for folder, _, names in os.walk(tree):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.islink(path):
                continue
            size = os.path.getsize(path)
            total += size
            if name.startswith("libsparseattn.so"):
                library += size
    return total, library


def start_ms(command, runs):
    """Median and extremes of the time from start to end, and of CPU time."""
    wall, cpu = [], []
    for _ in range(runs + 1):
        before, start = os.times(), time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env={})
        wall.append(1e3 * (time.perf_counter() - start))
        after = os.times()
        used = after.children_user + after.children_system
        cpu.append(1e3 * (used - before.children_user - before.children_system))
    wall, cpu = wall[1:], cpu[1:]  # the first one reads the file
    return {
        "median_ms": round(statistics.median(wall), 1),
        "min_ms": round(min(wall), 1),
        "max_ms": round(max(wall), 1),
        "cpu_median_ms": round(statistics.median(cpu), 1),
        "runs": runs,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archive")
    parser.add_argument("--runs", type=int, default=11)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tar", "-xJf", options.archive, "-C", folder], check=True)
        tree = os.path.join(folder, os.listdir(folder)[0])
        total, library = unpacked_bytes(tree)
        with lzma.open(options.archive) as file:
            blocks = sum(len(part) for part in iter(lambda: file.read(1 << 20), b""))
        figures = {
            "archive": os.path.basename(options.archive),
            "command": "test/Release/measure.py " + os.path.basename(options.archive),
            "date": datetime.date.today().isoformat(),
            "machine": f"{platform.machine()}, {os.cpu_count()} virtual cores, shared",
            "archive_bytes": os.path.getsize(options.archive),
            "tar_bytes": blocks,
            "unpacked_bytes": total,
            "libsparseattn_bytes": library,
            "start": {
                name: start_ms([os.path.join(tree, "bin", c[0])] + c[1:], options.runs)
                for name, c in STARTS.items()
            },
        }
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
