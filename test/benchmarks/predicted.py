#!/usr/bin/env python3
"""Predicts one layer of Wan 14B at 720p on machines that nobody has here.

usage: predicted.py --build-dir DIR --mask wi2v_mask_p90.bmt [--step N] > predicted.json

Runs sparseattn-sim for meshes and balances over the recorded mask, for balances on
NVLink over every Nth of the recorded head loads in test/data/traces, and for growing
numbers of ranks over a made-up mask. Times in microseconds: of the whole
layer, and of attention alone (from the first attend's begin to the last merge's or
attend's end of any rank). Nothing here was measured but the kernels.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LOADS = os.path.join(ROOT, "test", "data", "traces", "wi2v_loads_p90.bmt")
LAYER = os.path.join(ROOT, "examples", "layers", "wan_14b_720p.mlir")


def predict(options, *arguments):
    command = [os.path.join(options.build_dir, "bin", "sparseattn-sim"), LAYER, "--json",
               *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command}: {done.stderr}")
    return json.loads(done.stdout)


def attention_us(prediction):
    begins, ends = [], []
    for rank in prediction["ranks"]:
        for step in rank["instructions"]:
            if step["opcode"] in ("attend", "merge"):
                begins.append(step["posted_us"])
                ends.append(step["end_us"])
    return max(ends) - min(begins)


def figures(prediction):
    return {
        "layer_us": round(prediction["makespan_us"], 1),
        "layer_half_rate_us": round(prediction["makespan_half_rate_us"], 1),
        "layer_twice_rate_us": round(prediction["makespan_twice_rate_us"], 1),
        "attention_us": round(attention_us(prediction), 1),
    }


def compare(options, machine, meshes, mask, instances):
    """Means over the instances."""
    rows = []
    for ulysses, ring, balance, *more in meshes:
        all_figures = [
            figures(predict(options, "--machine", machine, "--mesh",
                            f"ulysses={ulysses},ring={ring}", "--balance", balance,
                            "--mask", mask, "--instance", i, *more))
            for i in instances
        ]
        rows.append({"ulysses": ulysses, "ring": ring, "balance": balance,
                     **{key: round(statistics.mean(f[key] for f in all_figures), 1)
                        for key in all_figures[0]}})
        print(machine, rows[-1], file=sys.stderr)
    return rows


def ratio(rows, key, over, of):
    def find(wanted):
        return next(r for r in rows if (r["ulysses"], r["ring"], r["balance"]) == wanted)

    return round(find(over)[key] / find(of)[key], 3)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build-dir", required=True)
    parser.add_argument("--mask", required=True)
    parser.add_argument("--step", type=int, default=6)
    options = parser.parse_args()
    balances = [(8, 1, b) for b in ("none", "swap", "split", "pre")]
    loads = compare(options, "h200x8", balances, LOADS, range(0, 120, options.step))
    one = (options.mask, [0])
    nvlink = compare(options, "h200x8", [(8, 1, b) for b in ("none", "swap", "split", "pre")]
                     + [(4, 2, "pre"), (2, 4, "pre"), (1, 8, "split")], *one)
    islands = compare(options, "h200x8-islands",
                      [(8, 1, "split"), (8, 1, "pre"), (4, 2, "none"), (4, 2, "pre")],
                      *one)
    pcie = compare(options, "a100x8-pcie",
                   [(8, 1, "none"), (8, 1, "swap"), (8, 1, "pre"), (4, 2, "pre")], *one)
    scaling = []
    for ulysses, ring in ((1, 1), (8, 1), (8, 2), (8, 4), (40, 1), (40, 2), (40, 4), (8, 64),
                          (32, 16)):
        row = figures(predict(options, "--machine", "h200x512", "--mesh",
                              f"ulysses={ulysses},ring={ring}", "--balance", "none",
                              "--density", 390))
        scaling.append({"ranks": ulysses * ring, "ulysses": ulysses, "ring": ring, **row})
        print(scaling[-1], file=sys.stderr)
    result = {
        "what": "predicted times of one layer of Wan 14B at 720p: 40 heads, 75,600 tokens, "
                "Top-p 0.9, bf16, blocks of 128x64",
        "command": "test/benchmarks/predicted.py --build-dir build --mask wi2v_mask_p90.bmt "
                   f"--step {options.step}",
        "machines": "runtime/machines; kernels measured, links published or assumed",
        "h200x8 over recorded head loads": {
            "mask": "wi2v_loads_p90.bmt, every "
                    f"{options.step}th of 120; tiles made up, as many for each head",
            "rows": loads,
            "attention_split_over_ulysses":
                ratio(loads, "attention_us", (8, 1, "none"), (8, 1, "split")),
            "attention_split_over_swap":
                ratio(loads, "attention_us", (8, 1, "swap"), (8, 1, "split")),
            "attention_pre_over_ulysses":
                ratio(loads, "attention_us", (8, 1, "none"), (8, 1, "pre")),
            "attention_pre_over_swap":
                ratio(loads, "attention_us", (8, 1, "swap"), (8, 1, "pre")),
        },
        "h200x8": {
            "rows": nvlink,
            "attention_split_over_ulysses":
                ratio(nvlink, "attention_us", (8, 1, "none"), (8, 1, "split")),
            "attention_split_over_swap":
                ratio(nvlink, "attention_us", (8, 1, "swap"), (8, 1, "split")),
            "attention_pre_over_ulysses":
                ratio(nvlink, "attention_us", (8, 1, "none"), (8, 1, "pre")),
            "layer_pre_over_ulysses":
                ratio(nvlink, "layer_us", (8, 1, "none"), (8, 1, "pre")),
        },
        "h200x8-islands": {
            "rows": islands,
            "layer_hybrid_over_balanced_ulysses":
                ratio(islands, "layer_us", (8, 1, "pre"), (4, 2, "pre")),
        },
        "a100x8-pcie": {"rows": pcie},
        "h200x512": {"mask": "made up, density 0.39, no balance", "rows": scaling},
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
