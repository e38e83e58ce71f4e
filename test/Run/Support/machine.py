"""--machine: costs that the planner decides with, the choice of mesh and
balance, predicted times."""

import os
import re
import sys

from harness import *

start(sys.argv)
MACHINES = os.path.join(sys.argv[2], "runtime", "machines")
# Heads of very different loads: all keys, or one block.
heads, tokens, block = 4, 512, 64
mask = np.zeros((heads, tokens // block, tokens // block), bool)
mask[:2] = True
mask[2:, :, 0] = True
np.savez("in.npz", **tensors(heads, tokens, 64), mask=mask)
ATTEND = ["--attend", "--inputs", "in.npz", "--block", "64x64"]


def moves(*options):
    text = run_ok(*ATTEND, "--ranks", "2", "--balance", "swap", "--check", *options).stdout
    return int(re.search(r"(\d+) moves", text)[1])


# Without costs heads move; not for a few tiles of 2 ns and transfers of 10 us.
check(moves() > 0, "heads move where transfers cost nothing")
check(moves("--machine", "h200x8") == 0, "and stay where they cost more than they bring")
check(moves("--machine", os.path.join(MACHINES, "cpu.json")) > 0,
      "and move where tiles take long")
# The costs are in the text of the plan, and a run of that text needs no machine.
run_ok(*ATTEND, "--ranks", "2", "--machine", "cpu", "--save-plan", "p.mlir")
with open("p.mlir", encoding="utf-8") as file:
    check("cost <tile_ps = " in file.read().replace("#sparseattn.cost_model", "cost "),
          "costs in the plan's text")
np.savez("qkv.npz", **tensors(heads, tokens, 64))
run_ok("p.mlir", "--inputs", "qkv.npz", "--check")

# Open mesh and balance: candidates, a choice, and that runs.
text = run_ok(*ATTEND, "--ranks", "4", "--mesh", "auto", "--machine", "h200x8", "--check",
              "--explain").stdout
chosen = re.search(r"  ulysses=(\d+),ring=(\d+), balance (\w+): .*<- chosen", text)
check(chosen is not None, "one is chosen")
check(f"4 ranks (ulysses {chosen[1]}, ring {chosen[2]})" in text, "and runs")
check(len(re.findall(r"^  ulysses=\d+,ring=\d+, balance \w+: ", text, re.M)) == 12,
      "three meshes, four balances")
check(text.index("critical path") < text.index("predicted on 8 x H200, NVLink"),
      "predicted times after the explanation")
text = run_ok(*ATTEND, "--mesh", "ulysses=2,ring=1", "--balance", "auto", "--machine", "cpu",
              "--check").stdout
check("ulysses=2,ring=1, balance swap" in text and "predicted" not in text,
      "balances of one mesh; times only when asked")
# A saved program has its mesh; its times are predicted as well.
run_ok(*ATTEND, "--ranks", "2", "--save-program", "program.mlir")
text = run_ok("--program", "program.mlir", "--machine", "h200x8", "--explain").stdout
check("predicted on" in text, "of a program, too")

expect_error("--mesh: got 'auto' without --machine, expected --machine M.json", *ATTEND,
             "--ranks", "2", "--mesh", "auto")
expect_error("--balance: got 'auto' without --machine", *ATTEND, "--balance", "auto")
expect_error("--ranks: got none with --mesh auto", *ATTEND, "--mesh", "auto", "--machine",
             "h200x8")
expect_error("--machine.*absent", *ATTEND, "--machine", "absent")
expect_error("ranks: got 16, expected 1 to 8 of the machine", *ATTEND, "--ranks", "16",
             "--mesh", "auto", "--machine", "h200x8")
expect_error("ranks of the program: got 16, expected at most 8", *ATTEND, "--ranks", "16",
             "--machine", "h200x8", "--explain")
