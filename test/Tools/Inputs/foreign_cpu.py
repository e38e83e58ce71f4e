"""Asks sparseattn-bench for code that this machine cannot run (bench.test)."""

import subprocess
import sys

# One of them has instructions that the other's maker never built.
for cpu in ("bdver4", "diamondrapids"):
    done = subprocess.run(
        ["sparseattn-bench", "kernels", "--cpu", cpu, "--tokens", "64", "--heads", "1",
         "--repetitions", "1", "--product", "16", "--dtype", "bf16", "--block", "32x32"],
        capture_output=True,
        text=True,
    )
    sys.stderr.write(done.stderr)
    if done.returncode != 0:
        sys.exit(done.returncode)
