"""The kernel cache on disk: filled, used, damaged, shared, bounded, off."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
from harness import *

start(sys.argv)
np.savez("in.npz", **tensors(4, 300, 32))
POLICY = "#sparseattn.top_p<p = 0.7, min_blocks = 1>"
layer = write("layer.mlir", routed_layer(4, 300, 32, POLICY, (64, 64)))
KERNELS = {"attend_f32_f32_d32_q64_k64", "pool_f32_d32_b64", "route_d32"}


def compile_only(*arguments, cache="c"):
    """{kernel: (compiled or cached, key)} and the cache's line."""
    out = run_ok(layer, "--compile-only", "--cache-dir", cache, *arguments).stdout
    found = re.findall(r"^kernel     (\S+) (compiled|cached)(?:, key (\S+))?$", out, re.M)
    return {name: (how, key) for name, how, key in found}, re.search("^cache .*$", out, re.M)[0]


def compiled(cache="c", output="out.npz"):
    """The report's compile section of a run."""
    run_ok(layer, "--inputs", "in.npz", "--outputs", output, "--report", "r.json", "--cache-dir", cache)
    return json.load(open("r.json"))["compile"]


def counters(section):
    cache = section["cache"]
    return tuple(cache[name] for name in ("hits", "misses", "ignored", "stored"))


# --compile-only fills it, and says what with.
cold, line = compile_only()
check(set(cold) == KERNELS and {how for how, _ in cold.values()} == {"compiled"}, f"cold: {cold}")
check(line == "cache      c, 0 hits, 3 misses, 3 stored", line)
check({key for _, key in cold.values()} == set(os.listdir("c")), f"keys: {cold}, {os.listdir('c')}")
check(all(re.fullmatch("[0-9a-f]{16}\\.sac", key) for _, key in cold.values()), f"keys: {cold}")
warm, line = compile_only()
check({how for how, _ in warm.values()} == {"cached"}, f"warm: {warm}")
check(line == "cache      c, 3 hits, 0 misses, 0 stored", line)
check({k: v[1] for k, v in warm.items()} == {k: v[1] for k, v in cold.items()}, "keys changed")

# What is loaded is what was compiled: the same bits.
section = compiled("none", "none.npz")
check(not section["warm"] and counters(section) == (0, 0, 0, 0), f"none: {section}")
check(section["cache"]["folder"] == "" and not os.path.exists("none"), f"none: {section}")
section = compiled()
check(section["warm"] and counters(section) == (3, 0, 0, 0), f"warm: {section}")
check({kernel["name"] for kernel in section["kernels"]} == KERNELS, f"warm: {section}")
check(0 < section["kernel_ms"] < section["ms"] and section["engine_ms"] > 0, f"times: {section}")
for name, array in np.load("none.npz").items():
    check(np.array_equal(array, np.load("out.npz")[name]), f"{name}: cached kernels give other bits")
check(compiled("")["cache"]["folder"] == "", "an empty --cache-dir is none")

# Another layer shares the kernels that are the same; another type does not.
other = write("other.mlir", routed_layer(2, 500, 32, POLICY, (64, 64)))
out = run_ok(other, "--compile-only", "--cache-dir", "c", "--ranks", 2).stdout
check(out.count(" cached, key") == 3, out)
kernels, _ = compile_only("--dtype", "bf16")
check(kernels["route_d32"][0] == "cached" and kernels["attend_bf16_bf16_d32_q64_k64"][0] == "compiled", f"bf16: {kernels}")

# Damaged, foreign and older files are ignored, counted and replaced.
keys = [key for _, key in cold.values()]
whole = {key: open(f"c/{key}", "rb").read() for key in keys}


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]


for what, change in {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "flipped": lambda data: flipped(data, len(data) * 2 // 3),
    "older": lambda data: flipped(data, 6),
    "text": lambda data: b"not a cache file\n",
    "longer": lambda data: data + b"\0",
}.items():
    for key in keys:
        with open(f"c/{key}", "wb") as file:
            file.write(change(whole[key]))
    section = compiled()
    check(counters(section) == (0, 3, 3, 3), f"{what}: {section}")
    check(section["cache"]["problem"] == "", f"{what}: {section}")
    check(np.array_equal(np.load("out.npz")["out"], np.load("none.npz")["out"]), f"{what}: other bits")
    check(counters(compiled()) == (3, 0, 0, 0), f"{what}: not replaced")
# One kernel under another one's name: its key says so.
os.rename(f"c/{keys[0]}", "x")
os.rename(f"c/{keys[1]}", f"c/{keys[0]}")
os.rename("x", f"c/{keys[1]}")
check(counters(compiled()) == (1, 2, 2, 2), "swapped entries")

# A place where nothing can be stored: the run works and says so.
write("file", "x")
section = compiled("file")
check("cache: folder 'file' cannot be created: got 'File exists'" in section["cache"]["problem"], f"file: {section}")
check(counters(section) == (0, 3, 0, 0), f"file: {section}")
PROBLEM = "cache: folder 'file' cannot be created: got 'File exists', expected a writable path\n"
result = run_ok(layer, "--cache-dir", "file")
check(result.stderr == PROBLEM, f"a plain run says: {result.stderr}")
check(run_ok(layer, "--cache-dir", "c").stderr == "", "no problem, no line")
result = run_ok("--steps", 1, "--layers", 1, "--grid", "1x6x8", "--out", "dit", "--cache-dir", "file", tool="sparseattn-dit-host")
check(result.stderr == PROBLEM, f"the host says: {result.stderr}")
_, line = compile_only(cache="file")
check(line.endswith("expected a writable path"), line)
os.mkdir("locked")
os.chmod("locked", 0o500)
if os.geteuid() != 0:  # whom no permission stops
    check("cannot be" in compiled("locked")["cache"]["problem"], "locked folder")
    os.chmod("locked", 0o700)

# Bounded: what was used longest ago goes.
old = "0123456789abcdef.sac"
with open(f"c/{old}", "wb") as file:
    file.write(bytes(2 << 20))
os.utime(f"c/{old}", (1, 1))
os.unlink(f"c/{keys[2]}")
compile_only("--cache-max-mib", 1)
check(not os.path.exists(f"c/{old}") and os.path.exists(f"c/{keys[0]}"), "bound of the cache")
expect_error("--cache-max-mib: got '0'", layer, "--cache-max-mib", 0)
for none in ("none", ""):
    expect_error("^error: --cache-max-mib: got it with --cache-dir none, expected one of them$", layer, "--cache-dir", none,
                 "--cache-max-mib", 1)

# Eight processes on an empty cache, two of them killed on the way.
begin = time.monotonic()
compile_only(cache="alone")
duration = time.monotonic() - begin
for round in range(2):
    folder = f"shared{round}"
    processes = [
        subprocess.Popen(["sparseattn-run", layer, "--compile-only", "--cache-dir", folder],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    time.sleep(duration * (1 + round))
    for process in processes[:2]:
        process.kill()
    for process in processes[2:]:
        out, err = process.communicate(timeout=120)
        check(process.returncode == 0, f"at once: {err}")
        check("; " not in out, f"at once: a problem in {out}")
    for process in processes[:2]:
        process.communicate()
    for name in filter(replaced_by, os.listdir(folder)):
        contents = [open(f"{folder}/{file}", "rb").read() for file in (name, replaced_by(name))]
        check(contents[0] == contents[1], f"at once: {name} is not whole")
        os.unlink(f"{folder}/{name}")
    check(sorted(os.listdir(folder)) == sorted(os.listdir("alone")), f"at once: {os.listdir(folder)}")
    warm, _ = compile_only(cache=folder)
    check({how for how, _ in warm.values()} == {"cached"}, f"after eight at once: {warm}")

# The default folder is the user's; both names of it are the test's own here.
for variables, folder in (({"XDG_CACHE_HOME": os.path.abspath("xdg")}, "xdg/sparseattn"),
                          ({"XDG_CACHE_HOME": "", "HOME": os.path.abspath("home")}, "home/.cache/sparseattn")):
    subprocess.run(["sparseattn-run", layer, "--compile-only"], env={**os.environ, **variables},
                   check=True, stdout=subprocess.DEVNULL)
    check(len(os.listdir(folder)) == 3, f"default folder {folder}")

# The interpreter has no kernels to keep.
run_ok(layer, "--device", "reference", "--report", "r.json", "--cache-dir", "none")
section = json.load(open("r.json"))["compile"]
check(section["kernels"] == [] and not section["warm"] and section["cache"]["folder"] == "", f"reference: {section}")
NEITHER = "^error: --device reference: got it with --cache-dir or --cache-max-mib, expected neither: it compiles no kernels$"
expect_error(NEITHER, layer, "--device", "reference", "--cache-dir", "unused", leaves=["unused"])
expect_error(NEITHER, layer, "--device", "reference", "--cache-max-mib", 1)
print("ok")
