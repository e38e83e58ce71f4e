"""Program files: what sparseattn-run saved runs in the simulator and equals the
dense masked reference; an edited mask changes exactly the edited rows."""

import re
import sys

import numpy as np
from simulation import *

start(sys.argv)

arrays = tensors(6, 150, 32, seed=2, scale=2)
np.savez("in.npz", **arrays)
write("layer.mlir",
      routed_layer(6, 150, 32, "#sparseattn.top_p<p = 0.6, min_blocks = 1>", (16, 16)))


def sim_program(path, *options):
    done = run_ok(path, "--inputs", "in.npz", "--outputs", "sim.npz", *options, tool=SIM)
    with np.load("sim.npz") as result:
        return dict(result), done.stdout


for mesh in ("ulysses=1,ring=1", "ulysses=3,ring=1", "ulysses=2,ring=2", "ulysses=1,ring=3"):
    run_ok("layer.mlir", "--inputs", "in.npz", "--outputs", "run.npz", "--mesh", mesh,
           "--save-program", "program.mlir", "--device", "reference")
    result, said = sim_program("program.mlir", "--check", "--masks")
    check("check      900 rows (150 of each head)" in said, f"{mesh}: not every row\n{said}")
    with np.load("run.npz") as ran:
        check(np.array_equal(ran["out"], result["out"]), f"{mesh}: the saved program differs")
        check(np.array_equal(ran["lse"], result["lse"]), f"{mesh}: lse of the saved program")

# Bytes are the same program.
run_ok("--sa-comm-to-program", "program.mlir", "-o", "program.bin", tool="sparseattn-translate")
from_bytes, _ = sim_program("program.bin", "--check")
check(np.array_equal(from_bytes["out"], result["out"]), "bytes run otherwise than the text")

# So is a template, which routes and plans for itself: for the same mask it does
# the same work.
with open("template.mlir", "w") as file:
    file.write(run_ok("--compile-to=comm", "layer.mlir", tool="sparseattn-opt").stdout)
with open("template.mlir") as file:
    check("sa_comm.template" in file.read(), "no template")
template, _ = sim_program("template.mlir", "--check")
compare("template", template["out"], result["out"], 2.0**-18 * np.abs(arrays["v"]).max())

# The text is what runs: without one kv-block of one row, the tokens of that row
# change and no other.
run_ok("layer.mlir", "--inputs", "in.npz", "--mesh", "ulysses=2,ring=1",
       "--save-program", "two.mlir", "--device", "reference")
before, _ = sim_program("two.mlir")
with open("two.mlir") as file:
    text = file.read()
row = re.search(r"(head 4 \{\s+row 0(?::\d+)? \[)([^\]]+)\]", text)
check(row and ":" not in row.group(1).split("row 0")[1], f"row 0 of head 4 shares a line: {row}")
blocks = row.group(2).split(", ")
check(len(blocks) > 1, f"row 0 of head 4 has one entry: {blocks}")
write("edited.mlir", text.replace(row.group(0), row.group(1) + ", ".join(blocks[1:]) + "]"))
after, _ = sim_program("edited.mlir", "--check")
changed = (after["out"] != before["out"]).any(-1)
check(changed[4, :16].all() and changed.sum() == 16,
      f"dropping a block changed {changed.sum()} rows, expected 16 of head 4")

# Random inputs, the same for the same seed.
first = run_ok("program.mlir", "--seed", 7, tool=SIM).stdout
check(first.startswith("inputs     normal random, seed 7\n"), first)
figures = [line for line in first.splitlines() if line.startswith("out ")]
again = run_ok("program.mlir", "--seed", 7, tool=SIM).stdout
check(figures and figures[0] in again, "the same seed gives another output")

# Options that a program fixes.
expect_error("program in it fixes them", "program.mlir", "--ranks", 2, tool=SIM)
expect_error("--function: got 'f'", "program.mlir", "--function", "f", tool=SIM)

# A program that was changed so that it cannot run is refused, not run.
with open("program.mlir") as file:
    text = file.read()
broken = re.sub(r"\n[^\n]*sa_comm\.recv[^\n]*", "", text, count=1)
check(broken != text, "no receive in a program with a ring")
write("broken.mlir", broken)
refused = run("broken.mlir", "--outputs", "broken.npz", tool=SIM)
check(refused.returncode == 1 and refused.stderr.startswith("error: broken.mlir: "),
      f"a program without a receive: {refused.returncode} {refused.stderr}")
write("truncated.bin", "SAPROG\x01\x00")
expect_error("truncated.bin", "truncated.bin", tool=SIM, leaves=["none.npz"])
print("ok")
