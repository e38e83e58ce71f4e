"""Kills sparseattn-run at random moments: the next run works, and no partial
file, no temporary file and no lock is left.

usage: kills.py FOLDER COUNT [SEED]
"""

import json
import os
import random
import subprocess
import sys
import time

import numpy as np
from harness import *

start(sys.argv)
count = int(sys.argv[2])
seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
random.seed(seed)
np.savez("in.npz", **tensors(4, 1000, 64))
layer = write("layer.mlir", routed_layer(4, 1000, 64, "#sparseattn.top_p<p = 0.7, min_blocks = 1>", (64, 64)))
FILES = ("out.npz", "r.json", "p.mlir", "g.mlir", "t.json")
CACHE = ("--cache-dir", "c")
COMPILE = (layer, "--compile-only", *CACHE)
RUN = (layer, "--inputs", "in.npz", "--ranks", 2, "--outputs", "out.npz", "--report", "r.json",
       "--save-plan", "p.mlir", "--save-program", "g.mlir", "--trace", "t.json", *CACHE)
own = set(os.listdir("."))


def clear(folder):
    if os.path.isdir(folder):
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))


def names():
    return set(os.listdir(".")) | (set(os.listdir("c")) if os.path.isdir("c") else set())


def timed(arguments):
    begin = time.monotonic()
    run_ok(*arguments)
    return time.monotonic() - begin


def check_whole(name, path):
    """The file `path` is a whole one of those called `name`."""
    if name in entries:
        check(open(path, "rb").read() == entries[name], f"{path} differs")
    elif name.endswith(".npz"):
        arrays = np.load(open(path, "rb"))
        check(np.array_equal(arrays["out"], expected["out"]) and np.array_equal(arrays["lse"], expected["lse"]),
              f"{path} differs")
    elif name.endswith(".json"):
        json.load(open(path))
    else:
        check(open(path).read().rstrip().endswith("}"), f"{path} is cut")


def checked_outputs():
    """Each file that is there is whole."""
    present = [name for name in FILES if os.path.exists(name)]
    for name in present:
        check_whole(name, name)
    return present


def remove_replacing(what):
    """Removes what was about to replace a file when the process was killed."""
    for folder in (".", "c"):
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            target = replaced_by(name)
            if target in FILES or target in entries:
                check(os.path.exists(os.path.join(folder, target)), f"{what}: {name} replaces nothing")
                check_whole(target, os.path.join(folder, name))
                os.unlink(os.path.join(folder, name))


timed(RUN)
expected = dict(np.load("out.npz"))
entries = {name: open(f"c/{name}", "rb").read() for name in os.listdir("c")}
program = open("g.mlir").read()
durations = {"run": timed(RUN), "compile warm": timed(COMPILE)}
clear("c")
durations["compile"] = timed(COMPILE)

ended = {}
for i in range(count):
    kind = ("compile", "run", "run", "compile warm")[i % 4]
    if kind == "compile":
        clear("c")
    fresh = random.random() < 0.5
    if fresh:
        for name in FILES:
            if os.path.exists(name):
                os.unlink(name)
    before = names()
    process = subprocess.Popen(["sparseattn-run", *map(str, RUN if kind == "run" else COMPILE)],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    # Half of the kills at any moment, half as soon as a file appears.
    at_file = random.random() < 0.5 and (fresh if kind == "run" else kind == "compile")
    deadline = time.monotonic() + (60 if at_file else random.random() * durations[kind] * 1.1)
    while process.poll() is None and time.monotonic() < deadline:
        if at_file and names() != before:
            break
        time.sleep(0.0002)
    process.kill()
    error = process.communicate()[1].decode()
    how = "killed" if process.returncode == -9 else "ended"
    check(process.returncode in (0, -9), f"{i} {kind}: exit {process.returncode} {error}")
    ended[kind, how] = ended.get((kind, how), 0) + 1
    what = f"kill {i} of {kind}, seed {seed}"
    remove_replacing(what)
    left = names() - own - set(FILES) - set(entries) - {"c"}
    check(not left, f"{what}: left {left}")
    checked_outputs()
    result = run(*(RUN if random.random() < 0.5 else COMPILE))
    check(result.returncode == 0, f"{what}: next run: {result.stderr}")
    checked_outputs()
    check(names() - own - set(FILES) - {"c"} == set(entries), f"{what}: cache has {names()}")

run_ok(*RUN)
check(checked_outputs() == list(FILES), "the last run wrote not all")
check(open("g.mlir").read() == program, "the program changed")

# sparseattn-opt replaces a file by the whole output.
whole = run_ok(layer, "--compile-to=jit", tool="sparseattn-opt").stdout
begin = time.monotonic()
run_ok(layer, "--compile-to=jit", "-o", "o.mlir", tool="sparseattn-opt")
duration = time.monotonic() - begin
check(open("o.mlir").read() == whole, "-o differs from stdout")
for i in range(count):
    with open("o.mlir", "w") as file:
        file.write("before")
    process = subprocess.Popen(["sparseattn-opt", layer, "--compile-to=jit", "-o", "o.mlir"])
    time.sleep(random.random() * duration * 1.1)
    process.kill()
    process.wait()
    check(open("o.mlir").read() in ("before", whole), f"kill {i} of sparseattn-opt, seed {seed}: o.mlir is cut")
print(f"{count} kills:", ", ".join(f"{kind} {how} {n}" for (kind, how), n in sorted(ended.items())))
