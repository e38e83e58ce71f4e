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
                       ("[[9, 0, 1]]", "head"), ("[[0, 0, 5]]", "destination of a move: got 5, expected from 0 to 1")):
    edit("plan.mlir", "wrong.mlir", with_moves(moves))
    expect_error(pattern, layer, "--inputs", "in.npz", "--mesh", "ulysses=2,ring=1",
                 "--plan", "wrong.mlir", "--outputs", "none.npz", leaves=["none.npz"])

# The rest of the text is the layer, and must be the one that runs.
for change in (lambda text: text.replace("k = 3", "k = 2"),
               lambda text: text.replace(f"x{dim}xf32", f"x{2 * dim}xf32")):
    edit("plan.mlir", "other.mlir", change)
    expect_error("layer of the plan text must be the one that runs: got", layer, "--inputs", "in.npz",
                 "--mesh", "ulysses=2,ring=1", "--plan", "other.mlir", "--outputs", "none.npz",
                 leaves=["none.npz"])

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


# --- Names are the program's own: renaming a window changes no figure -------
edit("program.mlir", "renamed.mlir", lambda text: re.sub(r"@k\b", "@keys", re.sub(r"@o\b", "@z", text)))
run_ok("--program", "renamed.mlir", "--inputs", "in.npz", "--outputs", "renamed.npz", "--report", "renamed.json")
a, b = report("same.json"), report("renamed.json")
for name in ("loads", "loads_after", "moves", "bytes_moved", "bytes_ulysses", "bytes_routed", "bytes_dense_ring"):
    check(a[name] == b[name], f"{name} of the renamed program: got {b[name]}, expected {a[name]}")
check(np.array_equal(outputs("renamed.npz")[0], masked_out), "renaming changes no bit")


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
def ops_of(text):
    """The text as a list of operations and other lines; an operation is a line
    of an instruction and the deeper lines that follow."""
    pieces = []
    for line in text.splitlines(keepends=True):
        if pieces and re.match(r" {8}|      \]", line) and "sa_comm." in pieces[-1]:
            pieces[-1] += line
        else:
            pieces.append(line)
    return pieces


def find(pieces, op, start=0):
    return next(i for i in range(start, len(pieces)) if f"sa_comm.{op} " in pieces[i])


def on_ops(change):
    def apply(text):
        pieces = ops_of(text)
        check("".join(pieces) == text, "the text is cut into its operations")
        change(pieces)
        return "".join(pieces)
    return apply


@on_ops
def swap_sends(pieces):
    """V's and the mask's send change places: sizes no longer match."""
    first = find(pieces, "send")
    a, b = first + 2, first + 3
    pieces[a], pieces[b] = pieces[b], pieces[a]


@on_ops
def drop_recv(pieces):
    at = find(pieces, "recv")
    token = pieces[at].split("=")[0].strip()
    wait = find(pieces, "wait", at)
    pieces[wait] = pieces[wait].replace(token + ", ", "")
    del pieces[at]


@on_ops
def attend_before_wait(pieces):
    """On the rank that receives: the moved head is read before it is there."""
    wait = find(pieces, "wait", find(pieces, "recv"))
    attend = find(pieces, "attend", wait)
    pieces.insert(wait, pieces.pop(attend))


def drop(op):
    @on_ops
    def change(pieces):
        del pieces[find(pieces, op)]
    return change


@on_ops
def swap_phases(pieces):
    """The exchange of v before the mask and the moves after attention of what
    moved: the content of two phases changes places on one rank."""
    rank = find(pieces, "rank 1") if any("sa_comm.rank 1" in p for p in pieces) else 0
    move = next(i for i in range(rank, len(pieces)) if "phase 3 " in pieces[i])
    late = next(i for i in range(rank, len(pieces)) if "phase 4 " in pieces[i])
    end = next(i for i in range(rank, len(pieces)) if "phase 5 " in pieces[i])
    pieces[move + 1:end] = pieces[late + 1:end] + [pieces[late]] + pieces[move + 1:late]


for name, change, pattern in (
    ("swap two sends", swap_sends, "rank \\d+ phase 3 instruction \\d+"),
    ("drop a receive", drop_recv, "rank \\d+ phase 3 instruction \\d+"),
    ("attend before the wait", attend_before_wait, "rank 1 phase 3 instruction \\d+"),
    ("drop an attend", drop("attend"), "rank 0 phase"),
    ("drop a mask load", drop("load_mask"), "rank 0 phase 3"),
    ("drop an exchange", drop("all_to_all"), "rank \\d+ phase"),
    ("swap two phases", swap_phases, "rank \\d+ phase 3.*send phase differs from its match: got 3, expected 4"),
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


@on_ops
def shrink_transfers(pieces):
    """One kv-block less in each transfer of head 0's second half."""
    for i, piece in enumerate(pieces):
        if "sa_comm.send" in piece or "sa_comm.recv" in piece:
            pieces[i] = piece.replace("[0, 256:512]", "[0, 320:512]")


edit("ring.mlir", "fault.mlir", shrink_transfers)
expect_error("rank \\d+.*phase \\d+", "--program", "fault.mlir", "--inputs", "in.npz", "--check",
             "--outputs", "none.npz", leaves=["none.npz"])
print("ok")
