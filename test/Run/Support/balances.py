"""Every way to balance gives the same output: heads that move, rows that move,
and a plan that stands before the exchange. The saved plan and the saved program
run again alike, and a plan edited by hand is what runs."""

import re
import sys

import numpy as np
from harness import *

start(sys.argv)


def with_rows(rows):
    """Sets the row moves of a plan's text."""

    def change(text):
        text = re.sub(r",\s*row_moves = \[\[[^\]]*\](?:, \[[^\]]*\])*\]", "", text)
        at = re.search(r"#plan = #sparseattn\.plan<.*?kv_blocks = \d+", text, re.S)
        return text[: at.end()] + f", row_moves = {rows}" + text[at.end() :]

    return change


def edit(source, target, change):
    text = open(source).read()
    open(target, "w").write(change(text))


dim = 32
for heads, tokens in ((7, 300), (12, 63), (2, 190)):
    arrays = tensors(heads, tokens, dim, seed=heads + tokens)
    arrays["q"] *= np.linspace(0.2, 6, heads, dtype=np.float32)[:, None, None]
    np.savez("in.npz", **arrays)
    layer = write("layer.mlir", routed_layer(heads, tokens, dim, "#sparseattn.top_p<p = 0.6, min_blocks = 1>"))
    run_ok(layer, "--inputs", "in.npz", "--outputs", "one.npz")
    one = np.load("one.npz")
    first = heads == 7
    for balance in (["swap"], ["split"], ["pre"], ["pre", "--repair"])[0 if first else 1 :]:
        for mesh in ("ulysses=3,ring=1", "ulysses=2,ring=2") if first else ("ulysses=1,ring=3", "ulysses=8,ring=1"):
            name = f"{heads} heads, {tokens} tokens, {mesh}, {' '.join(balance)}"
            options = ["--inputs", "in.npz", "--mesh", mesh, "--balance", *balance]
            run_ok(layer, *options, "--outputs", "out.npz", "--check=full", "--report", "report.json",
                   "--save-plan", "plan.mlir", "--save-program", "program.mlir")
            result = np.load("out.npz")
            stats = report()
            check(stats["check_passed"], f"{name}: check")
            check(sum(stats["loads"]) == sum(stats["loads_after"]), f"{name}: tiles lost")
            check(stats["rho_after"] <= stats["rho_before"] + 1e-12, f"{name}: rho grew")
            if balance[0] == "pre":
                check(stats["bytes_moved"] == 0, f"{name}: heads travel once")
            if mesh.endswith("ring=1"):
                check(np.array_equal(result["out"], one["out"]), f"{name}: bits of out differ")
            else:
                compare(name, result["out"], one["out"], 1e-4)
            for again in (["--plan", "plan.mlir", *options, layer],
                          ["--program", "program.mlir", "--inputs", "in.npz"]):
                run_ok(*again, "--outputs", "again.npz")
                check(np.array_equal(np.load("again.npz")["out"], result["out"]), f"{name}: {again[0]} runs otherwise")

# By hand: rows 1 and 2 of head 1 go from rank 1 to rank 3, then nowhere else.
heads, tokens = 4, 300
arrays = tensors(heads, tokens, dim, seed=5)
np.savez("in.npz", **arrays)
layer = write("layer.mlir", routed_layer(heads, tokens, dim, "#sparseattn.top_p<p = 0.6, min_blocks = 1>"))
options = [layer, "--inputs", "in.npz", "--mesh", "ulysses=4,ring=1", "--balance", "split"]
run_ok(*options, "--outputs", "out.npz", "--save-plan", "plan.mlir", "--report", "report.json")
expected = np.load("out.npz")["out"]
edit("plan.mlir", "moved.mlir", with_rows("[[1, 1, 3, 1, 3]]"))
run_ok(*options, "--outputs", "moved.npz", "--plan", "moved.mlir", "--report", "report.json", "--check=full")
stats = report()
check(stats["row_moves"] == [{"head": 1, "q_begin": 1, "q_end": 3, "from": 1, "to": 3}], "the rows that move")
check(stats["moves"] == 1, "one move")
check(np.array_equal(np.load("moved.npz")["out"], expected), "bits after the rows moved")
for rows, message in (("[[1, 1, 3, 0, 3]]", "source of row move 0 does not own the rows: got rank 0, expected 1"),
                      ("[[1, 1, 30, 1, 3]]", "q-blocks of a row move: got"),
                      ("[[1, 1, 2, 1, 1]]", "destination of the row move of head 1 must differ")):
    edit("plan.mlir", "wrong.mlir", with_rows(rows))
    expect_error(re.escape(message), *options, "--plan", "wrong.mlir", "--outputs", "none.npz",
                 leaves=["none.npz"])
# A layer that swaps heads has no place for rows.
swap = [layer, "--inputs", "in.npz", "--mesh", "ulysses=4,ring=1", "--balance", "swap"]
run_ok(*swap, "--outputs", "out.npz", "--save-plan", "plan.mlir")
edit("plan.mlir", "wrong.mlir", with_rows("[[1, 1, 3, 1, 3]]"))
expect_error("row moves of rank 1 exceed the template's: got 1 out and 0 in, expected at most 0 each",
             *swap, "--plan", "wrong.mlir", "--outputs", "none.npz", leaves=["none.npz"])
print("ok")
