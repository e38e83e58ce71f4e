#!/usr/bin/env python3
"""Makes the seeds of the fuzz targets: test/data/fuzz/TARGET.

The seeds come from the tests' own files, from small layers that the tools
compile, and from arrays and traces made here; the same tree gives the same
seeds. Inputs that fuzzing found stay: their names begin with `found-` (they add
coverage) or `was-` (something went wrong with them once).

usage: make_corpus.py --build-dir DIR [TARGET ...]
"""

import argparse
import collections
import glob
import hashlib
import io
import json
import os
import re
import struct
import subprocess
import tempfile
import zipfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CORPUS = os.path.join(ROOT, "test", "data", "fuzz")
MAX_TEXT_BYTES = 1800
MAX_TEXTS = 64
MESHES = [(1, 1), (2, 1), (1, 2), (3, 1), (2, 2), (1, 3)]
POLICIES = ["top_p<p = 0.7, min_blocks = 1>", "top_k<k = 2>", "dense", "window<blocks = 1>"]


class Tools:
    def __init__(self, build_dir):
        self.folder = os.path.join(build_dir, "bin")

    def run(self, tool, *arguments, text=""):
        done = subprocess.run(
            [os.path.join(self.folder, tool), *arguments],
            input=text.encode(),
            capture_output=True,
            check=True,
        )
        return done.stdout


def mask_text(heads, seed, blocks=3):
    """An explicit mask of a fixed pattern; some rows are empty."""
    bits = np.random.default_rng(seed).random((heads, blocks, blocks)) < 0.5
    return f"dense<{bits.astype(int).tolist()}> : tensor<{heads}x{blocks}x{blocks}xi1>"


def layer(source, dtype="f32", tail=""):
    """A layer of two heads over 40 tokens in blocks of 16."""
    routed = not source.startswith("dense<")
    pools = f"""  %pq = sparseattn.pool %q block 16 : !x -> !p
  %pk = sparseattn.pool %k block 16 : !x -> !p
  %mask = sparseattn.route %pq, %pk policy #sparseattn.{source} scale 0.125 : !p, !p -> !mask
"""
    return f"""!x = tensor<2x40x32x{dtype}>
!p = tensor<2x3x32xf32>
!mask = !sparseattn.mask<2x3x3, block = 16x16, tokens = 40x40{tail}>
func.func @f(%q: !x, %k: !x, %v: !x) -> (!x, tensor<2x40xf32>) {{
{pools if routed else f"  %mask = sparseattn.explicit_mask {source} -> !mask" + chr(10)}\
  %o, %lse = sparseattn.attend %q, %k, %v, %mask scale 0.125 : !x, !x, !x, !mask -> !x, tensor<2x40xf32>
  return %o, %lse : !x, tensor<2x40xf32>
}}
"""


def layers():
    for i, policy in enumerate(POLICIES):
        yield f"routed-{i}", layer(policy), MESHES[i]
    for i, mesh in enumerate(MESHES):
        yield f"constant-{i}", layer(mask_text(2, i)), mesh
    yield "causal", layer(mask_text(2, 7), tail=", causal"), (1, 2)
    yield "bf16", layer(mask_text(2, 8), dtype="bf16"), (2, 1)


def compiled(tools, phase):
    for name, text, (ulysses, ring) in layers():
        options = f"ulysses={ulysses} ring={ring}"
        if ulysses > 1 and name.endswith("0"):
            options += " augment=true"
        text = tools.run("sparseattn-opt", f"--compile-to={phase}",
                         f"--compile-to-options={options}", "-", text=text)
        yield name, text


def program_bytes(tools):
    for name, text in compiled(tools, "comm"):
        yield name, tools.run("sparseattn-translate", "--sa-comm-to-program", "-",
                              text=text.decode())
    for name in ("ring", "swap", "put", "template"):
        with open(os.path.join(ROOT, "test", "Faults", f"{name}.mlir"), encoding="utf-8") as file:
            yield name, tools.run("sparseattn-translate", "--sa-comm-to-program", "-",
                                  text=file.read())


def text_pieces(word):
    """Small pieces of the tests' MLIR files with `word` in them, comments left
    out; some of them when there are many."""
    pieces = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "test", "**", "*.mlir"), recursive=True)):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for piece in re.split(r"^// -----.*$", text, flags=re.M):
            lines = [re.sub(r"//.*", "", line).rstrip() for line in piece.splitlines()]
            piece = "\n".join(line for line in lines if line) + "\n"
            if word in piece and len(piece) <= MAX_TEXT_BYTES:
                digest = hashlib.sha256(piece.encode()).hexdigest()
                pieces[digest] = piece
    # Chosen and named by content, so that a new test changes few seeds.
    for digest in sorted(pieces)[:MAX_TEXTS]:
        yield f"test-{digest[:10]}", pieces[digest].encode()


def layer_text(tools):
    yield from text_pieces("sparseattn.")
    for name, text, _ in layers():
        yield name, text.encode()


def program_text(tools):
    yield from text_pieces("sa_comm.")
    yield from compiled(tools, "comm")


def plan_text(tools):
    yield from compiled(tools, "plan")


def report_json(tools):
    """Reports of runs; times, which differ from run to run, are set."""
    def fixed(value, key=""):
        if isinstance(value, dict):
            return {name: fixed(each, name) for name, each in value.items()}
        if key == "events":
            return [[*event[:3], 1000 * i, 500, *event[5:]]
                    for i, event in enumerate(sorted(value, key=lambda event: event[:3]))]
        if isinstance(value, list):
            return [fixed(each) for each in value]
        if isinstance(value, (int, float)) and key.endswith(("ms", "_us")):
            return 1.5
        return value

    for name, text, (ulysses, ring) in layers():
        if name not in ("routed-0", "constant-4", "causal"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            layer, report = (os.path.join(folder, file) for file in ("layer.mlir", "report.json"))
            with open(layer, "w", encoding="utf-8") as file:
                file.write(text)
            tools.run("sparseattn-run", layer, f"--mesh=ulysses={ulysses},ring={ring}", "--check",
                      "--cache-dir=none", f"--report={report}")
            with open(report, encoding="utf-8") as file:
                yield name, json.dumps(fixed(json.load(file)), separators=(",", ":")).encode()
    yield "least", b'{"schema":1,"steps":[{"layers":[{}]}]}'


def saved(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def deflated(**arrays):
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def zipped(name, content, method=zipfile.ZIP_STORED, comment=b""):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr(zipfile.ZipInfo(name), content)
        archive.comment = comment
    return file.getvalue()


def npz(tools):
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    yield "stored", saved(q=x, k=x, v=x)
    yield "deflated", deflated(q=x, mask=np.ones((2, 3), bool))
    yield "fortran", saved(q=np.asfortranarray(x))
    yield "empty", saved()
    yield "no-rows", saved(q=x[:, :0], lse=np.float32(1))
    for dtype in ("f2", "f8", "u2", "i1", "i8", "u4"):
        yield f"dtype-{dtype}", saved(a=np.ones((2, 2), dtype))
    for version in ((1, 0), (2, 0), (3, 0)):
        file = io.BytesIO()
        np.lib.format.write_array(file, x[0], version)
        yield f"array-{version[0]}", file.getvalue()
        yield f"comment-{version[0]}", zipped("a.npy", file.getvalue(), comment=b"PK\5\6 text")
    yield "big-endian", saved(a=x[0].astype(">f4"))
    yield "no-array", zipped("a.txt", b"text")


def command_line(tools):
    yield "options", b"--flag\n--file\na.npz\n--number=7\n--choice\none\n--check=full\n--check"
    yield "mesh", b"--mesh\nulysses=2,ring=2\n--flag"
    yield "refused", b"--later\n--choice=three\n--number\n-99999999999999999999\n--help"
    yield "positional", b"layer.mlir\n--\n-x\n-\n--mesh=ring=8"


def latents(tools):
    for dtype in (np.float16, np.float32):
        for grid in ((1, 1, 1), (2, 3, 4)):
            file = io.BytesIO()
            values = np.random.default_rng(3).standard_normal((16, *grid)).astype(dtype)
            np.lib.format.write_array(file, values, (1, 0))
            yield f"{values.dtype}-{grid[0]}", file.getvalue()


def trace(order, grid, heads, tile, instances, flags, seed):
    """Bytes of a trace with random masks (the format is in TraceFile.h)."""
    random = np.random.default_rng(seed)
    tokens = int(np.prod(grid))
    tiles = -(-tokens // tile)
    row_bytes = -(-tiles // 8)
    data = b"BMT1" + struct.pack("<14I", *grid, order, tokens, heads, tiles, tiles, tile, tile,
                                 instances, flags, 900, row_bytes)
    for i in range(instances):
        mask = random.random((heads, tiles, tiles)) < 0.4
        data += struct.pack("<2I", i, 2 * i)
        data += mask.sum((1, 2)).astype("<u4").tobytes()
        if flags & 1:
            data += mask.sum(2).astype("<u2").tobytes()
        if flags & 2:
            data += np.packbits(mask, 2, bitorder="little").tobytes()
    return data


def trace_file(tools):
    for order in range(3):
        for flags in range(4):
            yield f"order-{order}-flags-{flags}", trace(order, (2, 5, 7), 3, 8, 2, flags, order)
    yield "one-tile", trace(0, (1, 1, 1), 1, 16, 1, 3, 0)
    yield "no-instance", trace(0, (1, 4, 4), 2, 8, 0, 3, 0)
    yield "many-heads", trace(0, (1, 1, 16), 40, 16, 3, 0, 0)


def under_hash(magic, body):
    """The body after the header of cache files and executables: version 1 and
    FNV-1a."""
    digest = 0xCBF29CE484222325
    for byte in body:
        digest = (digest ^ byte) * 0x100000001B3 % (1 << 64)
    return magic + struct.pack("<HQ", 1, digest) + body


def counted(data):
    return struct.pack("<I", len(data)) + data


def cache_file(tools):
    def executable(names, binary):
        body = struct.pack("<I", len(names))
        for i, name in enumerate(names):
            body += counted(name) + struct.pack("<2q", 64 * i, i)
            launch = struct.pack("<2ib5i", 384, 163968, 1, 2, 128, 128, 64, 64)
            body += b"\1" + counted(b"entry") + launch if b"@" in name else b"\0"
        return under_hash(b"SAEXEC", body + counted(binary))

    names = [b"attend_f32_f32_d32_q16_k16", b"route_d32", b"pool_bf16_d32_b16@sm_90a"]
    kernels = executable(names, b"\x7fELF" + bytes(40))
    yield "executable", kernels
    yield "executable-empty", executable([], b"")
    yield "entry", under_hash(b"SACACH", counted(b"kernels\nx86-64") + counted(b"payload"))
    yield "entry-empty", under_hash(b"SACACH", counted(b"") + counted(b""))
    for key in (b"", b"kernels"):
        yield f"entry-executable-{len(key)}", under_hash(b"SACACH", counted(key) + counted(kernels))


def machine_file(tools):
    for path in sorted(glob.glob(os.path.join(ROOT, "runtime", "machines", "*.json"))):
        with open(path, encoding="utf-8") as file:
            machine = json.load(file)
        name = os.path.basename(path).removesuffix(".json")
        # One kernel is as good as six.
        machine["device"]["kernels"] = machine["device"]["kernels"][:1]
        yield name, json.dumps(machine, separators=(",", ":")).encode()
        machine["links"] = []
        if name == "h200x8":
            yield "one-rank", json.dumps(machine, separators=(",", ":")).encode()


def write_dictionary(target, texts):
    """Words that several seeds have, for libFuzzer to put in."""
    counts = collections.Counter()
    for text in texts:
        counts.update(set(re.findall(rb"[#!@%]?[A-Za-z_][\w.]{2,30}", text)))
    words = sorted(word.decode() for word, count in counts.items() if count >= 4)
    path = os.path.join(ROOT, "test", "fuzz", "dict", f"{target}.dict")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f'"{word}"\n' for word in words)


SEEDS = {
    "cache-file": cache_file,
    "command-line": command_line,
    "latents": latents,
    "layer-text": layer_text,
    "machine-file": machine_file,
    "npz": npz,
    "plan-text": plan_text,
    "program-bytes": program_bytes,
    "program-text": program_text,
    "report-json": report_json,
    "trace-file": trace_file,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build-dir", required=True)
    parser.add_argument("targets", nargs="*", choices=[[], *SEEDS])
    options = parser.parse_args()
    tools = Tools(options.build_dir)
    for target in options.targets or SEEDS:
        folder = os.path.join(CORPUS, target)
        os.makedirs(folder, exist_ok=True)
        for name in os.listdir(folder):
            if not name.startswith(("found-", "was-")):
                os.remove(os.path.join(folder, name))
        total, texts = 0, []
        for name, data in SEEDS[target](tools):
            texts.append(data)
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
            total += len(data)
        if target.endswith("-text") or target == "machine-file":
            write_dictionary(target, texts)
        print(f"{target}: {len(os.listdir(folder))} files, {total} bytes of seeds")


if __name__ == "__main__":
    main()
