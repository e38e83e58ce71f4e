"""Reads the TableGen definitions of dialects and passes.

llvm-tblgen prints every record as JSON; nothing is guessed from the text.
"""

import collections
import functools
import glob
import json
import os
import re
import shutil
import subprocess

# kind: "op", "attr" or "type"; folder: the D of Dialect/<D>; name: the mnemonic
# with the dialect, such as sparseattn.attend; cpp_class: of attributes and types.
Definition = collections.namedtuple(
    "Definition", "kind folder name summary description has_verifier path cpp_class"
)
Pass = collections.namedtuple("Pass", "argument summary description options path")

SIGILS = {"op": "", "attr": "#", "type": "!"}


class OdsError(Exception):
    """The definitions could not be read; the text says why."""


def _tool(name):
    for candidate in (f"{name}-22", name):
        if shutil.which(candidate):
            return candidate
    raise OdsError(f"{name}-22: command not found")


@functools.lru_cache(maxsize=None)
def _mlir_include_dir():
    return subprocess.check_output(
        [_tool("llvm-config"), "--includedir"], text=True
    ).strip()


@functools.lru_cache(maxsize=None)
def _records(root, td):
    run = subprocess.run(
        [
            _tool("llvm-tblgen"),
            "--dump-json",
            "-I",
            os.path.join(root, "include"),
            "-I",
            os.path.dirname(td),
            "-I",
            _mlir_include_dir(),
            td,
        ],
        capture_output=True,
        text=True,
    )
    if run.returncode:
        raise OdsError(f"{os.path.relpath(td, root)}: {run.stderr.strip()}")
    return json.loads(run.stdout)


def _top_files(root, macro, suffix):
    """The .td files that the CMake macro names in include/sparseattn, each with
    the macro's second argument."""
    pattern = os.path.join(root, "include", "sparseattn", "**", "CMakeLists.txt")
    for cmake in sorted(glob.glob(pattern, recursive=True)):
        with open(cmake, encoding="utf-8") as file:
            text = file.read()
        for call in re.finditer(macro + r"\(\s*(\w+)([^)]*)\)", text):
            named = re.search(r"\bTD\s+(\S+)", call.group(2))
            td = named.group(1) if named else suffix.format(call.group(1))
            second = (call.group(2).split() or [None])[0]
            yield os.path.join(os.path.dirname(cmake), td), second


def definitions(root):
    """Every op, attribute and type of the dialects below include/sparseattn."""
    found = []
    for td, dialect_of_file in _top_files(root, "add_sparseattn_dialect", "{}Ops.td"):
        records = _records(root, td)
        folder = os.path.basename(os.path.dirname(os.path.dirname(td)))
        path = os.path.relpath(td, root)
        for kind, base, dialect, mnemonic, verifier in (
            ("op", "Op", "opDialect", "opName", "hasVerifier"),
            ("attr", "AttrDef", "dialect", "mnemonic", "genVerifyDecl"),
            ("type", "TypeDef", "dialect", "mnemonic", "genVerifyDecl"),
        ):
            for name in records["!instanceof"].get(base, []):
                record = records[name]
                if not record[mnemonic]:
                    continue
                dialect_name = records[record[dialect]["def"]]["name"]
                # The file may include what other dialects define.
                if dialect_name != dialect_of_file:
                    continue
                found.append(
                    Definition(
                        kind,
                        folder,
                        f"{dialect_name}.{record[mnemonic]}",
                        record["summary"] or "",
                        record["description"] or "",
                        bool(record.get(verifier)),
                        path,
                        record.get("cppClassName", ""),
                    )
                )
    return found


def passes(root):
    found = []
    for td, _ in _top_files(root, "add_sparseattn_passes", "Passes.td"):
        records = _records(root, td)
        for name in records["!instanceof"].get("PassBase", []):
            record = records[name]
            options = [records[o["def"]]["argument"] for o in record["options"]]
            found.append(
                Pass(
                    record["argument"],
                    record["summary"] or "",
                    record["description"] or "",
                    options,
                    os.path.relpath(td, root),
                )
            )
    return found


def examples(definition):
    """The ```mlir blocks of a description, without their indentation."""
    blocks = re.findall(
        r"^[ ]*```mlir\n(.*?)^[ ]*```", definition.description, re.M | re.S
    )
    result = []
    for block in blocks:
        lines = block.splitlines()
        indent = min((len(l) - len(l.lstrip()) for l in lines if l.strip()), default=0)
        result.append("\n".join(line[indent:] for line in lines) + "\n")
    return result


def constraints(definition):
    """The numbers n of the labels (Cn) in the **Constraints:** list, in order."""
    part = definition.description.partition("**Constraints:**")[2]
    return [int(n) for n in re.findall(r"\(C(\d+)\)", part)]
