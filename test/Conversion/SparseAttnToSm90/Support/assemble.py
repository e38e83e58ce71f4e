#!/usr/bin/env python3
"""Assembles the attend kernel of every recipe of the table.

usage: assemble.py INPUTS_OUTPUT FOLDER PTXAS...

INPUTS_OUTPUT is the element types in a kernel's name, such as bf16_f32. Nothing
that synchronises may be doubled or dropped on the way to PTX, and every ptxas must
take every kernel without a spill, a stack frame or a message on wgmma.
"""

import os
import re
import subprocess
import sys

# In the text of the LLVM dialect and in PTX.
COUNTED = {
    "wgmma": r"wgmma\.mma_async",
    "wgmma fences": r"wgmma\.fence",
    "wgmma waits": r"wgmma\.wait_group",
    "tensor copies": r"cp\.async\.bulk\.tensor",
    "register reallocations": r"nvvm\.setmaxregister|setmaxnreg",
    "named barriers": r"nvvm\.barrier\b|nvvm\.barrier0\b|(?<![\w.])bar\.(?:sync|arrive)|(?<![\w.])barrier\.",
}
# A kernel without them is none of these kernels.
NEEDED = ["wgmma", "tensor copies", "register reallocations"]


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"error: {' '.join(command)}: {result.stderr.strip()}")
    return result.stdout


def counts_of(text, opening):
    """{kernel: {what: count}} of a text in which `opening` begins a kernel."""
    parts = re.split(opening, text)[1:]
    return {
        name: {what: len(re.findall(pattern, body)) for what, pattern in COUNTED.items()}
        for name, body in zip(parts[::2], parts[1::2])
    }


def main():
    types, folder, *assemblers = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    empty = os.path.join(folder, "empty.mlir")
    with open(empty, "w", encoding="utf-8") as file:
        file.write("module {}\n")
    table = run("sparseattn-opt", empty, "--sparseattn-emit-sm90-kernels")
    names = re.findall(r"sa_sm90\.kernel @attend_bf16_bf16_(\w+)", table)
    if not names:
        sys.exit("error: recipes of the table: got none, expected some")
    names = [f"attend_{types}_{name}" for name in names]

    kernels = os.path.join(folder, "kernels.mlir")
    emit = f"--sparseattn-emit-sm90-kernels=kernels={','.join(names)}"
    run("sparseattn-opt", empty, emit, "-o", kernels)
    lowered = run("sparseattn-opt", kernels, "--sparseattn-gpu-kernel-pipeline")
    ptx = run("sparseattn-translate", "--kernel-to-ptx", kernels)
    before = counts_of(lowered, r"llvm\.func @(\w+)\(")
    after = counts_of(ptx, r"\.visible \.entry (\w+)\(")
    if sorted(after) != sorted(names):
        sys.exit(f"error: kernels in PTX: got {sorted(after)}, expected {sorted(names)}")
    for name in names:
        if before[name] != after[name]:
            sys.exit(f"error: {name} in PTX: got {after[name]}, expected {before[name]}")
        if any(after[name][what] == 0 for what in NEEDED):
            sys.exit(f"error: {name} in PTX: got {after[name]}, expected some of {NEEDED}")

    for index, ptxas in enumerate(assemblers):
        cubin = os.path.join(folder, f"{index}.cubin")
        run("sparseattn-translate", "--kernel-to-cubin", "--ptxas", ptxas, kernels, "-o", cubin)
        with open(cubin, "rb") as file:
            content = file.read()
        missing = [name for name in names if f".text.{name}".encode() not in content]
        if missing:
            sys.exit(f"error: kernels in the cubin of {ptxas}: got no {missing}, expected all")
    total = sum(counts["wgmma"] for counts in after.values())
    print(f"{len(names)} recipes of {types}, {total} wgmma, by {len(assemblers)} ptxas: all clean")


if __name__ == "__main__":
    main()
