"""What runs is what the text says: edits of a plan or a program change the
traffic or the output accordingly, or are refused."""

import re
import sys

import numpy as np
from harness import *

start(sys.argv)

heads, tokens, dim, block = 4, 512, 32, 64
arrays = tensors(heads, tokens, dim, seed=5)
np.savez("in.npz", **arrays)
# Head 0 attends to everything, the others to the diagonal: 64 + 3 * 8 tiles.
mask = np.zeros((heads, 8, 8), bool)
mask[0] = True
for h in range(1, heads):
    mask[h] = np.eye(8, dtype=bool)
np.savez("masked.npz", **arrays, mask=mask)
layer = write("layer.mlir", routed_layer(heads, tokens, dim, "#sparseattn.top_k<k = 3>", (block, block)))
head_bytes = 3 * tokens * dim * 4  # Q, K and V of one head


def outputs(path="out.npz"):
    result = np.load(path)
    return result["out"], result["lse"]


def edit(source, target, change):
    text = open(source).read()
    changed = change(text)
    check(changed != text, f"the edit of {source} changes nothing")
    return write(target, changed)


# --- A plan: move a head by hand -------------------------------------------
run_ok(layer, "--inputs", "in.npz", "--outputs", "out.npz", "--mesh", "ulysses=2,ring=1",
       "--save-plan", "plan.mlir", "--report", "report.json")
base_out, base_lse = outputs()
base = report()
check(base["moves"] == 0 and base["bytes_moved"] == 0, "equal loads: nothing moves")
text = open("plan.mlir").read()
check("#sparseattn.plan<" in text or "plan <" in text, "plan.mlir has its plan")


def with_moves(moves):
    def change(text):
        changed = re.sub(r"moves = \[\[.*?\]\](, )?", "", text)
        return re.sub(r"(kv_blocks = 8)(?=, (loads_before|transfers|extras))",
                      rf"\1, moves = {moves}", changed, count=1)
    return change


edit("plan.mlir", "moved.mlir", with_moves("[[0, 0, 1]]"))
run_ok(layer, "--inputs", "in.npz", "--outputs", "moved.npz", "--mesh", "ulysses=2,ring=1",
       "--plan", "moved.mlir", "--report", "report.json", "--check=full")
moved = report()
check(moved["moves"] == 1, f"one move: got {moved['moves']}")
check(moved["bytes_moved"] == head_bytes, f"bytes of one head: got {moved['bytes_moved']}")
check(np.array_equal(outputs("moved.npz")[0], base_out), "a move does not change the output")
check(moved["loads_after"] == [24, 72], f"loads follow the move: got {moved['loads_after']}")
edit("plan.mlir", "swapped.mlir", with_moves("[[1, 0, 1], [2, 1, 0]]"))
run_ok(layer, "--inputs", "in.npz", "--outputs", "swapped.npz", "--mesh", "ulysses=2,ring=1",
       "--plan", "swapped.mlir", "--report", "report.json", "--check=full")
check(report()["bytes_moved"] == 2 * head_bytes, "bytes of two heads")
check(np.array_equal(outputs("swapped.npz")[0], base_out), "a swap does not change the output")
# The plan's module is a layer too, and its plan is what runs.
run_ok("swapped.mlir", "--inputs", "in.npz", "--outputs", "again.npz", "--report", "report.json")
check(report()["moves"] == 2, "a layer text with a plan runs that plan")
# Plans that cannot be.
for moves, pattern in (("[[0, 1, 0]]", "owner|from|got 1, expected 0"),
                       ("[[0, 0, 1], [1, 0, 1]]", "one head|out|into"),
                       ("[[9, 0, 1]]", "head"), ("[[0, 0, 5]]", "ulysses|Ulysses|rank|index")):
    edit("plan.mlir", "wrong.mlir", with_moves(moves))
    expect_error(pattern, layer, "--inputs", "in.npz", "--mesh", "ulysses=2,ring=1",
                 "--plan", "wrong.mlir", "--outputs", "none.npz", leaves=["none.npz"])

# --- A program: the same run again -----------------------------------------
run_ok(layer, "--inputs", "masked.npz", "--outputs", "out.npz", "--mesh", "ulysses=2,ring=1",
       "--save-program", "program.mlir", "--report", "report.json")
stats = report()
check(stats["rho_before"] > stats["rho_after"], "the uneven mask is balanced")
masked_out, masked_lse = outputs()
expected, expected_lse = reference(arrays["q"], arrays["k"], arrays["v"], mask, (block, block))
compare("masked", masked_out, expected, 1e-5)
run_ok("--program", "program.mlir", "--inputs", "in.npz", "--outputs", "same.npz", "--check=full",
       "--report", "same.json")
check(np.array_equal(outputs("same.npz")[0], masked_out), "the program gives the same bits")
check(report("same.json")["bytes_moved"] == stats["bytes_moved"], "and the same traffic")


# --- Drop a kv-block of head 0's first row ---------------------------------
def drop_block(text):
    head = text.index("head 0 {")
    rows = text.index("[0:8]", head)
    line = text[head:rows]
    check("row 0" in line, f"rows of head 0: {line}")
    tail = text[rows + 5:]
    return text[:head] + "head 0 {\n row 0 [0:3, 4:8]\n row 1:8 [0:8]" + tail


edit("program.mlir", "dropped.mlir", drop_block)
run_ok("--program", "dropped.mlir", "--inputs", "in.npz", "--outputs", "dropped.npz", "--check=full")
smaller = mask.copy()
smaller[0, 0, 3] = False
expected, expected_lse = reference(arrays["q"], arrays["k"], arrays["v"], smaller, (block, block))
out, lse = outputs("dropped.npz")
compare("dropped block", out, expected, 1e-5)
compare_lse("dropped block", lse, expected_lse, 1e-4)
check(not np.array_equal(out[0, :block], masked_out[0, :block]), "the row changed")
check(np.array_equal(out[0, block:], masked_out[0, block:]), "the other rows did not")


# --- Refusals ---------------------------------------------------------------
def lines_with(text, op):
    return [m for m in re.finditer(rf"^.*sa_comm\.{op} .*$", text, re.M)]


def swap_sends(text):
    """K's and the mask's send of one rank: their receives no longer match."""
    sends = lines_with(text, "send")
    check(len(sends) >= 4, "a moved head has four sends")
    a, b = sends[2], sends[3]
    left, right = a.group(0), b.group(0)
    # Swap what is sent, keep the tokens' names.
    left_value, right_value = left.split("=")[0], right.split("=")[0]
    return (text[:a.start()] + left_value + "=" + right.split("=", 1)[1]
            + text[a.end():b.start()] + right_value + "=" + left.split("=", 1)[1] + text[b.end():])


def drop_line(op, index=0):
    def change(text):
        match = lines_with(text, op)[index]
        return text[:match.start()] + text[match.end() + 1:]
    return change


def wait_first(text):
    """A wait before the attend it should follow is fine; before its receive is
    not. Moves the first attend of moved heads before the wait."""
    wait = lines_with(text, "wait")[0]
    attends = [m for m in lines_with(text, "attend") if m.start() > wait.end()]
    attend = attends[0]
    return (text[:wait.start()] + attend.group(0) + "\n"
            + text[wait.start():attend.start()] + text[attend.end() + 1:])


def swap_phases(text):
    """The phases of one rank's move and exchange numbers reversed."""
    return text.replace('sa_comm.phase 1 ', 'sa_comm.phase 99 ', 1)


for name, change, pattern in (
    ("swap two sends", swap_sends, "rank \\d+.*phase \\d+"),
    ("drop a receive", drop_line("recv"), "rank|token|undeclared|use of"),
    ("attend before the wait", wait_first, "rank \\d+.*phase \\d+"),
    ("drop an attend", drop_line("attend"), "rank \\d+|o_shard|written|covered"),
    ("drop a mask load", drop_line("load_mask"), "rank \\d+"),
    ("drop an exchange", drop_line("all_to_all"), "rank \\d+"),
    ("reorder a phase", swap_phases, "phase"),
):
    edit("program.mlir", "fault.mlir", change)
    expect_error(pattern, "--program", "fault.mlir", "--inputs", "in.npz", "--check",
                 "--outputs", "none.npz", leaves=["none.npz"])

# --- Ring: a dropped kv-block in a transfer is refused, with its place -------
run_ok(layer, "--inputs", "masked.npz", "--outputs", "ring.npz", "--mesh", "ulysses=1,ring=2",
       "--save-program", "ring.mlir", "--save-plan", "ringplan.mlir", "--report", "report.json")
compare("ring", outputs("ring.npz")[0], masked_out, 1e-5)
check(report()["bytes_routed"] == 2 * 2 * (tokens // 2) * dim * 4,
      f"only head 0's halves travel: got {report()['bytes_routed']}")


def shrink_transfer(text):
    send = [m for m in re.finditer(r"(\d+):512\]", text) if int(m.group(1)) == 256]
    check(send, "the ring sends rows 256:512")
    return text.replace("256:512]", "320:512]")


edit("ring.mlir", "fault.mlir", shrink_transfer)
expect_error("rank \\d+.*phase \\d+", "--program", "fault.mlir", "--inputs", "in.npz", "--check",
             "--outputs", "none.npz", leaves=["none.npz"])
print("ok")
