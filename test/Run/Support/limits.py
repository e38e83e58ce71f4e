"""What the system may refuse: room on a device, the size of a file, memory,
threads. Always one `error:` line, exit 1, and nothing left behind."""

import os
import re
import resource
import subprocess
import sys

import numpy as np
from harness import *

start(sys.argv)
np.savez("in.npz", **tensors(2, 400, 32))
layer = write("layer.mlir", routed_layer(2, 400, 32, "#sparseattn.top_p<p = 0.9, min_blocks = 1>", (64, 64)))
run_ok(layer, "--inputs", "in.npz", "--ranks", 2, "--save-program", "program.mlir")
run_ok("--sa-comm-to-program", "program.mlir", "-o", "program.bin", tool="sparseattn-translate")
own = sorted(os.listdir("."))


def limited(what, amount):
    def set_limit():
        resource.setrlimit(what, (amount, amount))

    return set_limit


def refused(pattern, *command, stdout=subprocess.PIPE, limit=None):
    result = subprocess.run(list(map(str, command)), stdout=stdout, stderr=subprocess.PIPE, text=True,
                            preexec_fn=limit, timeout=150)
    check(result.returncode == 1, f"{command}: exit {result.returncode}, expected 1\n{result.stderr}")
    errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    check(len(errors) == 1 and re.search(pattern, errors[0]), f"{command}: expected /{pattern}/, got\n{result.stderr}")
    check(sorted(os.listdir(".")) == own, f"{command}: left {set(os.listdir('.')) - set(own)}")


# A device without room, for stdout and for named outputs.
COMMANDS = (
    ("sparseattn-run", "--help"),
    ("sparseattn-run", layer, "--inputs", "in.npz", "--explain"),
    ("sparseattn-run", layer, "--compile-only"),
    ("sparseattn-opt", layer, "--compile-to=comm"),
    ("sparseattn-translate", "--program-to-sa-comm", "program.bin"),
    ("sparseattn-translate", "--sa-comm-to-program", "program.mlir"),
    ("sparseattn-sim", "program.mlir", "--explain"),
    ("sparseattn-bench", "--help"),
    ("sparseattn-bench", "kernels", "--help"),
    ("sparseattn-bench", "kernels", "--tokens", 64, "--block", "32x32", "--repetitions", 1, "--product", 16),
    ("sparseattn-support-matrix",),
    ("sparseattn-support-matrix", "--help"),
    ("sparseattn-dit-host", "--help"),
)
for command in COMMANDS:
    with open("/dev/full", "w") as full:
        refused("No space left on device|stdout: got .write error", *command, stdout=full)
for option in ("--outputs", "--report", "--trace", "--save-plan", "--save-program"):
    refused("No space left on device", "sparseattn-run", layer, "--inputs", "in.npz", option, "/dev/full")
refused("No space left on device", "sparseattn-opt", layer, "-o", "/dev/full")
refused("No space left on device", "sparseattn-translate", "--program-to-sa-comm", "program.bin", "-o", "/dev/full")

# ulimit -f: an error, not a signal.
for option in ("--outputs", "--report", "--save-program"):
    refused("File too large", "sparseattn-run", layer, "--inputs", "in.npz", option, "out", "--cache-dir", "none",
            limit=limited(resource.RLIMIT_FSIZE, 1000))
refused("File too large", "sparseattn-opt", layer, "--compile-to=jit", "-o", "out",
        limit=limited(resource.RLIMIT_FSIZE, 1000))
# The cache is no reason to fail.
result = subprocess.run(["sparseattn-run", layer, "--compile-only", "--cache-dir", "cache"], text=True,
                        capture_output=True, preexec_fn=limited(resource.RLIMIT_FSIZE, 1000))
check(result.returncode == 0 and "got 'File too large'" in result.stdout, f"cache: {result}")
check(os.listdir("cache") == [], f"cache: {os.listdir('cache')}")
os.rmdir("cache")

# Memory: sizes that no machine has, and a limit on what there is.
huge = write("huge.mlir", routed_layer(2, 1 << 40, 32, "#sparseattn.top_k<k = 1>", (128, 128)))
own = sorted(os.listdir("."))
refused("memory|size|tokens|tiles", "sparseattn-run", huge)
large = write("large.mlir", routed_layer(8, 1 << 20, 128, "#sparseattn.top_k<k = 1>", (128, 128)))
own = sorted(os.listdir("."))
refused("memory", "sparseattn-run", large, limit=limited(resource.RLIMIT_AS, 3 << 30))
print("ok")
