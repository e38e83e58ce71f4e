"""Checks what `sparseattn-bench kernels --json` printed for bench.test."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    report = json.load(file)

expected = [
    (dtype, block, threads, density)
    for dtype in ("f32", "bf16", "f16")
    for block in ("64x64", "32x16")
    for threads in (1, 2)
    for density in (0.5, 1)
]
rows = report["rows"]
assert len(rows) == len(expected), len(rows)
for row, (dtype, block, threads, density) in zip(rows, expected):
    assert (row["dtype"], row["block"], row["threads"]) == (dtype, block, threads), row
    # Lists are random; all of them are full only at density 1.
    assert row["density"] == 1 if density == 1 else 0.2 < row["density"] < 0.8, row
    names = ["gflops", "one_block_gflops", "share_of_one_block"]
    if report["sgemm"]:
        names += ["sgemm_gflops", "ratio"]
    for name in names:
        sample = row[name]
        assert 0 < sample["min"] <= sample["median"] <= sample["max"], row
assert len(report["compile_ms"]) == 6
for compiled in report["compile_ms"]:
    assert 0 < compiled["again"]["median"] and 0 < compiled["first"]
