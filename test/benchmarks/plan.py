#!/usr/bin/env python3
"""Runs every planner over traces and prints plan.json.

usage: plan.py BUILD_DIR TRACE_DIR > plan.json

TRACE_DIR holds the traces (.bmt); those of RUNS that it lacks are named under
"absent". Times are medians over the masks of a trace, of one thread.
"""

import argparse
import datetime
import json
import os
import platform
import subprocess

WAN = [
    f"wi2v_{name}.bmt" for name in ("loads_p90", "loads_p95", "drift50_p90", "rows_p90", "mask_p90")
]
ALL = WAN + ["small12_on8_p90.bmt", "hy_mask_p85.bmt"]
RING = ["wi2v_rows_p90.bmt", "wi2v_mask_p90.bmt"]
SMALL = ["small_mask_hilbert_p90.bmt", "small_mask_raster_p90.bmt"]
RUNS = [
    (["--ranks", "8", "--balance", "swap"], ALL),
    (["--ranks", "8", "--balance", "split"], ALL),
    (["--ranks", "8", "--balance", "pre"], ALL),
    (["--ranks", "8", "--balance", "pre", "--repair"], ALL),
    (["--ranks", "8", "--balance", "swap", "--augment"], WAN),
    (["--ranks", "8", "--balance", "swap", "--augment", "--n1", "950", "--n2", "10"], WAN),
    (["--ranks", "8", "--balance", "swap", "--reuse", "1100"], ["wi2v_drift50_p90.bmt"]),
    (["--ranks", "8", "--balance", "split", "--reuse", "1100"], ["wi2v_drift50_p90.bmt"]),
    (["--mesh", "ulysses=1,ring=8", "--balance", "split"], RING),
    (["--mesh", "ulysses=4,ring=2", "--balance", "pre", "--repair"], RING),
    (["--ranks", "4", "--balance", "split"], SMALL),
]


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("traces")
    arguments = parser.parse_args()
    tool = os.path.join(arguments.build, "bin", "sparseattn-bench")
    runs, absent = [], set()
    for options, names in RUNS:
        there = [name for name in names if os.path.exists(os.path.join(arguments.traces, name))]
        absent |= set(names) - set(there)
        if not there:
            continue
        files = [os.path.join(arguments.traces, name) for name in there]
        run = subprocess.run(
            [tool, "plan", "--json", *options, "--repetitions", "21", "--traces", *files],
            check=True,
            stdout=subprocess.PIPE,
        )
        rows = json.loads(run.stdout)
        for row in rows:
            row["file"] = os.path.basename(row["file"])
        runs.append({"options": " ".join(options), "results": rows})
    print(
        json.dumps(
            {
                "what": "planners over recorded masks: balance, transfers, bytes, time of planning",
                "command": "test/benchmarks/plan.py BUILD_DIR TRACE_DIR > plan.json",
                "date": datetime.date.today().isoformat(),
                "machine": {"cpu": processor(), "cores": os.cpu_count()},
                "absent": sorted(absent),
                "runs": runs,
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
