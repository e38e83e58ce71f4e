#!/usr/bin/env python3
"""Checks what an unpacked archive needs, shows and holds.

usage: check_archive.py FOLDER        (made by prepare.py)
Prints one PASS or FAIL line for each property.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ARCHIVE_BYTES_LIMIT = 25_000_000
# Ubuntu 22.04; Debian 12 has 2.36.
GLIBC_LIMIT = (2, 35)
SYSTEM_LIBRARIES = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
COMMANDS = ["bench", "dit-host", "lsp-server", "opt", "reduce", "run", "sim"]
COMMANDS += ["support-matrix", "translate"]
PARTS = ["LICENSE", "README.md", "include/sparseattn-c/sparseattn.h"]
PARTS += ["lib/cmake/sparseattn/sparseattn-config.cmake", "examples/layers/small.mlir"]
PARTS += ["examples/data/big_buck_bunny.npy", "examples/dit_host/main.cpp"]
# libstdc++ is linked in: no object needs it (`needs` below).
PARTS += [f"licenses/{n}.txt" for n in ("llvm", "mlir", "zlib", "zstd", "nlohmann-json", "libstdc++")]


def output(*command, **options):
    run = subprocess.run(command, capture_output=True, text=True, errors="replace", **options)
    return run.stdout + run.stderr


class Archive:
    def __init__(self, folder):
        with open(os.path.join(folder, "test", "build.json"), encoding="utf-8") as file:
            build = json.load(file)
        self.bytes = os.path.getsize(build["archive"])
        self.build_dir = os.path.dirname(build["archive"])
        self.tree = build["unpacked"]
        # The LLVM that the build used, which the archive must not need.
        self.llvm = os.path.join(os.path.dirname(build["llvm_tools_dir"]), "lib")
        self.commands = sorted(glob.glob(os.path.join(self.tree, "bin", "*")))
        self.library = os.path.realpath(os.path.join(self.tree, "lib", "libsparseattn.so"))
        self.objects = self.commands + [self.library]
        self.failed = False
        # What a plain shell has: nothing that says where libraries are.
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": self.tree}

    def expect(self, name, good, got):
        if not good:
            self.failed = True
            print(f"{name}: got {got}", file=sys.stderr)
        print(f"{'PASS' if good else 'FAIL'}: archive/{name}", flush=True)

    def start(self, name, *arguments, **environment):
        """What a command loads and prints, with its status."""
        run = subprocess.run(
            [os.path.join(self.tree, "bin", f"sparseattn-{name}"), *arguments],
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        return run.returncode, run.stdout, run.stderr


def content(archive):
    names = [os.path.basename(c)[len("sparseattn-") :] for c in archive.commands]
    archive.expect("commands", names == COMMANDS, names)
    missing = [p for p in PARTS if not os.path.isfile(os.path.join(archive.tree, p))]
    archive.expect("parts", not missing, missing)
    with open(os.path.join(archive.tree, "LICENSE"), encoding="utf-8") as file:
        archive.expect("license", "LLVM Exceptions" in file.read(), "another text")
    notice = output("cat", os.path.join(archive.tree, "licenses", "llvm.txt"))
    archive.expect("llvm-notice", "LLVM Exceptions" in notice, notice[:200])
    archive.expect("bytes", archive.bytes < ARCHIVE_BYTES_LIMIT, archive.bytes)


def needs(archive):
    """Only libc, libm and the loader; no folder of the build machine."""
    for path in archive.objects:
        name = os.path.basename(path)
        dynamic = output("readelf", "-dW", path)
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
        allowed = SYSTEM_LIBRARIES | {"libsparseattn.so.0"}
        archive.expect(f"needs/{name}", needed and needed <= allowed, needed)
        paths = set(re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic))
        archive.expect(f"search-path/{name}", paths <= {"$ORIGIN/../lib"}, paths)
        versions = re.findall(r"GLIBC_(\d+)\.(\d+)", output("readelf", "-VW", path))
        newest = max((int(a), int(b)) for a, b in versions)
        archive.expect(f"glibc/{name}", newest <= GLIBC_LIMIT, newest)
        with open(path, "rb") as file:
            text = file.read()
        found = [p for p in (ROOT, archive.build_dir) if p.encode() in text]
        archive.expect(f"no-build-path/{name}", not found, found)


def shows(archive):
    symbols = output("nm", "-D", "--defined-only", archive.library)
    names = {line.split()[-1].split("@")[0] for line in symbols.splitlines()}
    with open(os.path.join(archive.tree, PARTS[2]), encoding="utf-8") as file:
        declared = set(re.findall(r"\b(sa_\w+)\(", file.read()))
    missing = declared - names
    archive.expect("exports-the-api", len(declared) > 10 and not missing, missing or declared)
    others = sorted(n for n in names - declared if not n.startswith("sa_tool_"))
    archive.expect("exports-nothing-else", not others, others[:20])


def loads(archive):
    """Nothing of LLVM is opened, also while kernels are compiled and run."""
    layer = os.path.join(archive.tree, "examples", "layers", "small.mlir")
    for name, arguments in (
        ("run", [layer, "--ranks", "2", "--check"]),
        ("opt", [layer, "--compile-to=comm"]),
        ("sim", [layer, "--ranks", "2", "--check"]),
    ):
        status, out, trace = archive.start(name, *arguments, LD_DEBUG="files")
        files = {os.path.basename(f) for f in re.findall(r"calling init: (\S+)", trace)}
        good = status == 0 and out and files == SYSTEM_LIBRARIES | {"libsparseattn.so.0"}
        archive.expect(f"loads-no-llvm/{name}", good, (status, sorted(files), trace[-500:]))
    status, out, err = archive.start("opt", "--version")
    archive.expect("version", status == 0 and "LLVM" in out, (status, out, err))


GPU_LAYER = """
!x = tensor<2x700x128xbf16>
!mask = !sparseattn.mask<2x6x6, block = 128x128, tokens = 700x700>
func.func @layer(%q: !x, %k: !x, %v: !x) -> !x {
  %pq = sparseattn.pool %q block 128 : !x -> tensor<2x6x128xf32>
  %pk = sparseattn.pool %k block 128 : !x -> tensor<2x6x128xf32>
  %mask = sparseattn.route %pq, %pk policy #sparseattn.top_p<p = 0.9> scale 0.1
    : tensor<2x6x128xf32>, tensor<2x6x128xf32> -> !mask
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.1
    : !x, !x, !x, !mask -> !x, tensor<2x700xf32>
  return %o : !x
}
"""


def ships_kernels(archive):
    """GPU kernels of a standard shape are there, without a ptxas; others are compiled."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("shipped", GPU_LAYER),
                           ("compiled", GPU_LAYER.replace("bf16", "f16"))):
            layer = os.path.join(folder, "layer.mlir")
            with open(layer, "w", encoding="utf-8") as file:
                file.write(text)
            # The archive of a whole release has those of f16 too.
            fast = "archive-test" in archive.build_dir or name == "shipped"
            status, out, err = archive.start("run", layer, "--device", "cuda", "--compile-only",
                                             "--cache-dir", os.path.join(folder, "cache"))
            attend = [line.split() for line in out.splitlines() if line.startswith("kernel ")
                      and "attend" in line]
            good = status == 0 and len(attend) == 1 and (not fast or attend[0][2].rstrip(",") == name)
            archive.expect(f"gpu-kernels-{name}", good, (status, out, err))


def beside_another_llvm(archive, folder):
    """A host that brings an LLVM and a C++ library of its own."""
    host = os.path.join(folder, "unittests", "capi-one-layer")
    others = sorted(glob.glob(os.path.join(archive.llvm, "libLLVM.so.*")))
    others += sorted(glob.glob(os.path.join(archive.llvm, "libMLIR.so.*")))
    if not others:
        print("SKIP: archive/beside-another-llvm")
        return
    run = subprocess.run(
        [host],
        env={**archive.environment, "LD_PRELOAD": ":".join(others)},
        capture_output=True,
        text=True,
    )
    good = run.returncode == 0 and run.stdout.endswith(": ok\n")
    archive.expect("beside-another-llvm", good, (run.returncode, run.stdout, run.stderr))


def consumers(archive):
    """The C example through find_package, with each compiler; then moved."""
    source = os.path.join(archive.tree, "examples", "c_host")
    for compiler in ("gcc", "clang-22"):
        if not shutil.which(compiler):
            print(f"SKIP: archive/find-package/{compiler}")
            continue
        with tempfile.TemporaryDirectory() as build:
            text = output(
                "cmake", "-S", source, "-B", build, "-G", "Ninja",
                f"-DCMAKE_C_COMPILER={compiler}", f"-DCMAKE_PREFIX_PATH={archive.tree}",
            )  # fmt: skip
            text += output("cmake", "--build", build)
            program = os.path.join(build, "one_layer")
            ran = output(program, env=archive.environment) if os.path.exists(program) else text
            archive.expect(f"find-package/{compiler}", ran.endswith(": ok\n"), ran[-1000:])
    with tempfile.TemporaryDirectory() as folder:
        moved = os.path.join(folder, "a b")
        shutil.copytree(archive.tree, moved, symlinks=True)
        run = subprocess.run(
            [os.path.join(moved, "bin", "sparseattn-dit-host"), "--out", "result"]
            + ["--grid", "3x10x16", "--block", "16x16", "--steps", "1"],
            cwd=folder,
            env=archive.environment,
            capture_output=True,
            text=True,
        )
        good = run.returncode == 0 and "big_buck_bunny.npy" in run.stdout
        archive.expect("moved", good, (run.returncode, run.stderr))


def main():
    archive = Archive(sys.argv[1])
    content(archive)
    needs(archive)
    shows(archive)
    loads(archive)
    ships_kernels(archive)
    beside_another_llvm(archive, sys.argv[1])
    consumers(archive)
    sys.exit(1 if archive.failed else 0)


if __name__ == "__main__":
    main()
