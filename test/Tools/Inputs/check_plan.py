"""Checks what sparseattn-bench plan printed about three traces, 8 ranks."""

import json
import sys

NAMES = ["wi2v_loads_p90.bmt", "wi2v_rows_p90.bmt", "small12_on8_p90.bmt"]
# Balance before, and bytes of the best pair swaps.
BEFORE = [1.3487, 1.3351, 1.9317]
PAIR_SWAP_MB = [451.2, 457.0]
HEAD_MB = 3 * 75600 * 128 * 2 / 1e6  # q, k, v of one head


def read(what):
    with open(f"{sys.argv[1]}.{what}.json", encoding="utf-8") as file:
        rows = json.load(file)
    assert [row["file"].split("/")[-1] for row in rows] == NAMES[: len(rows)], rows
    for row, before in zip(rows, BEFORE):
        assert abs(row["mean_rho_before"] - before) < 5e-5, row
        assert row["worst_rho_before"] >= row["mean_rho_before"], row
        assert 1 <= row["mean_rho_after"] <= row["worst_rho_after"], row
        assert row["mean_rho_after"] <= row["mean_rho_before"], row
        assert row["plan_us"] > 0 and row["planned_anew"] == row["instances"], row
        uniform = row["file"].endswith("wi2v_loads_p90.bmt")
        assert row["rows"] == ("uniform" if uniform else "recorded"), row
        assert row["demand"] == "full", row
        assert ("tail" in row) != uniform, row
    return rows


def at_most(row, **limits):
    for name, limit in limits.items():
        assert row[name] <= limit, (name, limit, row)


for row in read("none"):
    at_most(row, transfers=0, bytes=0)
    assert row["mean_rho_after"] == row["mean_rho_before"], row

loads, rows, small = swap = read("swap")
at_most(loads, mean_rho_after=1.055)
for row in (loads, rows):
    # Heads move whole.
    assert abs(row["bytes"] / 1e6 - row["transfers"] * HEAD_MB) < 0.1, row
    assert row["row_moves"] == 0, row

loads, rows, small = read("split")
at_most(loads, mean_rho_after=1.005, worst_rho_after=1.012, transfers=5.5)
at_most(rows, mean_rho_after=1.005, worst_rho_after=1.012)
at_most(small, mean_rho_after=1.01, worst_rho_after=1.02, transfers=7)
for row, pairs in zip((loads, rows), PAIR_SWAP_MB):
    at_most(row, bytes=0.55 * pairs * 1e6)
    # K and V of every piece at least.
    assert row["bytes"] / 1e6 > row["transfers"] * HEAD_MB * 2 / 3, row
    assert row["moved_heads"] == 0 and row["row_moves"] == row["transfers"], row

loads, rows, small = read("pre")
for row in (loads, rows):
    at_most(row, mean_rho_after=1.01, worst_rho_after=1.02, bytes=0, transfers=0)
# Whole heads alone exceed the mean.
assert 1.34 < small["mean_rho_after"] < 1.36, small

loads, rows, small = read("repair")
for row, own in zip((loads, rows), swap):
    at_most(row, mean_rho_after=1.007, worst_rho_after=1.01, bytes=0.2 * own["bytes"])
at_most(small, mean_rho_after=1.02, worst_rho_after=1.03, transfers=7)

# Published thresholds, and ones that fill nearly all slack.
for what, mean, worst in (("augment", 1.025, 1.06), ("fill", 1.01, 1.02)):
    for row in read(what):
        at_most(row["augmented"], mean_rho=mean, worst_rho=worst, worst_growth=1.005)
        assert row["augmented"]["mean_rho"] < row["mean_rho_after"], row

# Small layers have too few rows for a tail.
tail = read("none")[1]["tail"]
at_most(tail["longest"], mean=1.005, worst=1.01)
at_most(tail["longest_per_head"], mean=1.01, worst=1.05)
assert tail["natural"]["mean"] > 1.04, tail
