#!/usr/bin/env python3
"""Unpacks an archive so that run_tests.py tests its commands.

usage: prepare.py ARCHIVE FOLDER LLVM_TOOLS_DIR

FOLDER must not exist. The archive goes to FOLDER/unpacked and nothing else does;
FOLDER/bin leads to its commands, and FOLDER/unittests gets the C example, built
against its header and library.
"""

import json
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIT_CONFIG = """import os

config.sparseattn_source_dir = {root!r}
config.sparseattn_build_dir = {folder!r}
config.llvm_tools_dir = {tools!r}
config.python = {python!r}

lit_config.load_config(config, os.path.join({root!r}, "test", "lit.cfg.py"))
"""


def main():
    archive, folder, tools = (os.path.abspath(argument) for argument in sys.argv[1:4])
    os.mkdir(folder)
    unpacked = os.path.join(folder, "unpacked")
    os.mkdir(unpacked)
    subprocess.run(["tar", "-xJf", archive, "-C", unpacked], check=True)
    names = os.listdir(unpacked)
    if len(names) != 1:
        sys.exit(f"error: content of the archive: got {names}, expected one folder")
    tree = os.path.join(unpacked, names[0])
    os.symlink(os.path.join(tree, "bin"), os.path.join(folder, "bin"))
    # Where the tests look for the assemblers; make-archive.sh has put them there.
    os.symlink(os.path.join(os.path.dirname(archive), "ptxas"), os.path.join(folder, "ptxas"))

    unittests = os.path.join(folder, "unittests")
    os.mkdir(unittests)
    source = os.path.join(tree, "examples", "c_host", "one_layer.c")
    compilers = [c for c in ("gcc", "clang-22", "cc") if shutil.which(c)]
    library = os.path.join(tree, "lib")
    subprocess.run(
        [compilers[0], "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic-errors"]
        + [f"-I{tree}/include", source, f"-L{library}", "-lsparseattn", "-lm"]
        + [f"-Wl,-rpath,{library}", "-o", os.path.join(unittests, "capi-one-layer")],
        check=True,
    )

    test = os.path.join(folder, "test")
    os.mkdir(test)
    with open(os.path.join(test, "lit.site.cfg.py"), "w", encoding="utf-8") as file:
        file.write(LIT_CONFIG.format(root=ROOT, folder=folder, tools=tools, python=sys.executable))
    build = {
        "build_dir": folder,
        "llvm_tools_dir": tools,
        "has_compiler": "ON",
        "sanitizers": "",
        "unittests": [],
        "archive": archive,
        "unpacked": tree,
    }
    with open(os.path.join(test, "build.json"), "w", encoding="utf-8") as file:
        json.dump(build, file, indent=2)


if __name__ == "__main__":
    main()
