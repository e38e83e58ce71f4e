"""Checks what sparseattn-bench placement printed about two traces, 4 ranks."""

import json
import sys

# Shares of a dense ring: contiguous, equal-count stripes.
KNOWN = {"raster": (0.7528, 0.6317), "hilbert": (0.8100, 0.8174)}

with open(sys.argv[1]) as file:
    rows = json.load(file)
names = ["contiguous", "stripes", "tiles<t=2,h=2>", "auto"]
assert [row["placement"] for row in rows] == names * 2, rows
for trace, (contiguous, stripes) in KNOWN.items():
    own = {row["placement"]: row for row in rows if trace in row["file"]}
    assert abs(own["contiguous"]["share_of_ring"] - contiguous) < 5e-5, own
    assert abs(own["stripes"]["share_of_ring"] - stripes) < 5e-5, own
    better = min(contiguous, stripes)
    auto = own["auto"]
    assert auto["share_of_ring"] == auto["share_repaired"] <= 0.93 * better, auto
    assert auto["share_with_rows"] == min(row["share_with_rows"] for row in own.values()), own
    assert auto["share_with_rows"] <= 0.95 * better, auto
    assert auto["share_of_rule"] == own[auto["chosen"]]["share_of_ring"], own
    for row in own.values():
        assert row["rho_repaired"] <= row["worst_rho_repaired"] <= 1.02, row
        assert row["rho"] >= 1 and row["moved_rows"] <= 0.1, row
        assert 0 < row["share_repaired"] < row["share_with_rows"], row
        assert row["max_port"] <= 1 and row["max_port_repaired"] <= 1, row
        assert 0.25 < row["multicast_share"] <= 1 and row["plan_us"] >= 0, row
        rounds = [row[name + "_over_bound"] for name in ("rounds", "ring_order", "barriers")]
        assert 1 <= rounds[0] <= rounds[1] <= rounds[2] and rounds[0] <= 1.02, row
