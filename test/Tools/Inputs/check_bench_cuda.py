"""Checks what `sparseattn-bench --device cuda --json` printed over the double
of the driver, whose times mean nothing."""

import json
import sys


def check_times(sample):
    assert 0 < sample["min"] <= sample["median"] <= sample["max"], sample


def check_compile(rows, count):
    assert len(rows) == count, len(rows)
    for row in rows:
        assert row["source"] == "compiled" and row["ptxas"] == "none", row
        for name in ("cold_ms", "from_disk_ms", "load_ms"):
            check_times(row[name])
        # The point of the cache.
        assert row["from_disk_ms"]["median"] < row["cold_ms"]["median"], row


def kernels(report):
    assert report["benchmark"] == "kernels" and report["device"] == "cuda"
    assert report["torch"] is None and "expected a program" in report["no_torch"]
    check_compile(report["compile"], 4)
    expected = [(dtype, block, lists)
                for dtype in ("bf16", "f16")
                for block in ("64x64", "128x64")
                for lists in ("1 a row", "1")]
    rows = report["rows"]
    assert len(rows) == len(expected), len(rows)
    for row, wanted in zip(rows, expected):
        assert (row["dtype"], row["block"], row["lists"]) == wanted, row
        check_times(row["hot_ms"])
        check_times(row["spaced_ms"])
        assert 1 <= row["launches"] <= 60, row
        for check in ("check_empty_rows", "check_timed"):
            assert row[check]["rows"] > 0, row
            assert row[check]["relative_error"] <= row[check]["relative_bound"]
        if row["lists"] == "1":
            # 2 heads x 129 queries x 65 keys x 64 columns, products and sums
            # of both matrix products.
            assert row["useful_flops"] == 4 * 2 * 129 * 65 * 64, row
            assert row["density"] == 1 and abs(row["share_of_dense"] - 1) < 1e-12, row
        else:
            # The block on the diagonal: the last row's has one key.
            assert row["density"] == 0.5, row
            queries = (64 * 64 + 64 * 64 + 1 if row["block"] == "64x64"
                       else 128 * 64 + 1)
            assert row["useful_flops"] == 4 * 2 * queries * 64, row
        rate = row["useful_flops"] / row["hot_ms"]["median"] / 1e9
        assert abs(row["tflops"] / rate - 1) < 1e-12, row


def routing(report):
    assert report["benchmark"] == "routing" and report["no_torch"] == "--no-torch"
    check_compile(report["compile"], 1)
    half, whole = report["rows"]
    assert (half["p"], whole["p"]) == (0.5, 1)
    assert whole["density"] == 1 and 2 / 8 <= half["density"] < 1, half
    for row in (half, whole):
        # q and k: 4 and 2 heads.
        assert row["pooled_bytes"] == (4 + 2) * 460 * 64 * 2, row
        assert row["check"]["rows"] == 4 * 8, row
        for stage in ("pool", "route", "loads", "order", "together", "graph"):
            check_times(row[stage]["hot_ms"])


with open(sys.argv[2], encoding="utf-8") as file:
    {"kernels": kernels, "routing": routing}[sys.argv[1]](json.load(file))
