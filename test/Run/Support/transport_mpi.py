"""Layers over processes: the same bits as over threads, and what is refused."""

import json
import os
import subprocess
import sys
import time

import numpy as np

work = sys.argv[1]
mpirun = sys.argv[2:]
os.makedirs(work, exist_ok=True)
os.chdir(work)

LAYER = """
!q = tensor<{h}x{s}x{d}xf32>
!kv = tensor<{kv}x{s}x{d}xf32>
!lse = tensor<{h}x{s}xf32>
!mask = !sparseattn.mask<{h}x{b}x{b}, block = 16x16, tokens = {s}x{s}>
func.func @layer(%q: !q, %k: !kv, %v: !kv) -> (!q, !lse) {{
  %pq = sparseattn.pool %q block 16 : !q -> tensor<{h}x{b}x{d}xf32>
  %pk = sparseattn.pool %k block 16 : !kv -> tensor<{kv}x{b}x{d}xf32>
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_p<p = 0.8, min_blocks = 2> scale 0.15
    : tensor<{h}x{b}x{d}xf32>, tensor<{kv}x{b}x{d}xf32> -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.15 : !q, !kv, !kv, !mask -> !q, !lse
  return %o, %lse : !q, !lse
}}
"""


def layer(name, heads, kv_heads, tokens, dim=32):
    with open(name, "w", encoding="utf-8") as file:
        file.write(LAYER.format(h=heads, kv=kv_heads, s=tokens, d=dim, b=-(-tokens // 16)))
    return name


def run(*arguments, **options):
    return subprocess.run(["sparseattn-run", *arguments], text=True, capture_output=True,
                          timeout=500, check=False, **options)


def check(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def same(arguments, what):
    """The outputs and the report of threads and of processes agree."""
    reports = {}
    for transport in ("local", "mpi"):
        result = run(*arguments, "--transport", transport, "--outputs", f"{transport}.npz",
                     "--report", f"{transport}.json", "--check=full")
        check(result.returncode == 0, f"{what} {transport}: {result.stderr}")
        check(result.stdout.count("inputs ") == 1, f"{what} {transport}: {result.stdout}")
        reports[transport] = (json.load(open(f"{transport}.json", encoding="utf-8")),
                              [line for line in result.stdout.splitlines()
                               if not line.startswith("time")])
    for name in ("out", "lse"):
        check(np.array_equal(np.load("local.npz")[name], np.load("mpi.npz")[name], equal_nan=True),
              f"{what}: {name} differs")
    (one, said), (other, also) = reports["local"], reports["mpi"]
    check(said == also, f"{what}: got {also}, expected {said}")
    one, other = (report["steps"][0]["layers"][0] for report in (one, other))
    for key in ("loads", "loads_after", "bytes_moved", "density"):
        check(one[key] == other[key], f"{what}: {key} {other[key]} for {one[key]}")


def equal_on_all_ranks():
    uneven = layer("uneven.mlir", 5, 5, 203)
    for ranks in (1, 2, 3, 4, 5, 8):
        same([uneven, "--ranks", str(ranks)], f"{ranks} ranks")
    same([uneven, "--mesh", "ulysses=2,ring=2"], "ulysses 2, ring 2")
    same([layer("grouped.mlir", 28, 7, 130), "--ranks", "4"], "28 heads, 7 kv-heads")
    for balance in ("none", "split", "pre"):
        same([uneven, "--ranks", "3", "--balance", balance], f"balance {balance}")
    same([layer("few.mlir", 2, 1, 20), "--mesh", "ulysses=3,ring=1"], "rank without work")


def one_rank_alone_without_options():
    # The layer's own mesh: nobody says how many ranks there are.
    result = run(layer("alone.mlir", 2, 2, 64), "--transport", "mpi")
    check(result.returncode == 0, result.stderr)
    check("1 ranks (ulysses 1, ring 1)" in result.stdout, result.stdout)


def refusals():
    small = layer("small.mlir", 4, 4, 64)
    result = subprocess.run([*mpirun, "-np", "2", "sparseattn-run", small, "--ranks", "4",
                             "--transport", "mpi"], text=True, capture_output=True, timeout=300,
                            check=False)
    check(result.returncode != 0, "a world of another size ran")
    check("transport mpi: got 2 processes, expected 4, one for each rank of the layer"
          in result.stderr, result.stderr)
    path = os.path.dirname(subprocess.run(["which", "sparseattn-run"], text=True,
                                          capture_output=True, check=True).stdout)
    result = run(small, "--ranks", "2", "--transport", "mpi", env=dict(os.environ, PATH=path))
    check(result.returncode == 1, "it ran without mpirun")
    check("error: transport mpi: got 'No such file or directory' for mpirun, expected Open "
          "MPI's launcher on PATH" in result.stderr, result.stderr)
    result = run(small, "--ranks", "2", "--transport", "mpi", "--inputs", "absent.npz")
    check(result.returncode != 0 and "error: " in result.stderr, f"absent inputs: {result}")
    # Compiling needs no processes.
    result = run(small, "--ranks", "2", "--transport", "mpi", "--compile-only")
    check(result.returncode == 0 and "compiled   2 ranks" in result.stdout, result.stderr)


def programs():
    """A saved program runs over processes; ranks with other ones, or with a byte
    that is not right, end all."""
    small = layer("p.mlir", 4, 4, 100)
    for ranks, name in ((2, "two.mlir"),):
        result = run(small, "--ranks", str(ranks), "--save-program", name, "--outputs", "a.npz")
        check(result.returncode == 0, result.stderr)
    result = run("--program", "two.mlir", "--transport", "mpi", "--outputs", "b.npz")
    check(result.returncode == 0, result.stderr)
    check(np.array_equal(np.load("a.npz")["out"], np.load("b.npz")["out"]), "program differs")
    saved = open("two.mlir", encoding="utf-8").read()
    open("other.mlir", "w", encoding="utf-8").write(saved.replace("scale 0.15 ", "scale 0.25 "))
    check(open("other.mlir", encoding="utf-8").read() != saved, "the scale stands elsewhere")
    open("broken.mlir", "w", encoding="utf-8").write(saved[:-40] + "?" + saved[-39:])
    for file, expected in (("other.mlir", "programs of the ranks differ: got hash "),
                           ("broken.mlir", "error: --program broken.mlir: ")):
        begin = time.monotonic()
        result = subprocess.run(
            [*mpirun, "-q", "-np", "1", "sparseattn-run", "--program", "two.mlir", "--transport",
             "mpi", ":", "-np", "1", "sparseattn-run", "--program", file, "--transport", "mpi"],
            text=True, capture_output=True, timeout=300, check=False)
        check(result.returncode != 0, f"{file} ran")
        check(expected in result.stderr, f"{file}: {result.stderr}")
        check(time.monotonic() - begin < 100, f"{file}: it took too long")


for test in (equal_on_all_ranks, one_rank_alone_without_options, refusals, programs):
    begin = time.monotonic()
    test()
    print(f"{test.__name__}: {time.monotonic() - begin:.1f} s")
