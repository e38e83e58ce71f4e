#!/usr/bin/env python3
"""Shows that check_archive.py finds what must not be in an archive.

usage: selftest.py FOLDER        (made by prepare.py; it is not changed)
Prints one PASS or FAIL line for each seeded fault.
"""

import contextlib
import io
import os
import shutil
import sys
import tempfile

import check_archive
from check_archive import ROOT, Archive


def failures(check, archive):
    """Names of the properties that `check` finds broken."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        with contextlib.redirect_stderr(io.StringIO()):
            check(archive)
    return {l[len("FAIL: archive/") :] for l in out.getvalue().splitlines() if l.startswith("FAIL")}


def no_notice(archive):
    os.remove(os.path.join(archive.tree, "licenses", "zstd.txt"))
    return check_archive.content, {"parts"}


def no_command(archive):
    archive.commands.pop()
    return check_archive.content, {"commands"}


def too_large(archive):
    archive.bytes = check_archive.ARCHIVE_BYTES_LIMIT
    return check_archive.content, {"bytes"}


def llvm_of_the_system(archive):
    archive.objects = [os.path.realpath(shutil.which("FileCheck-22"))]
    return check_archive.needs, {"needs/FileCheck"}


def folder_of_one_machine(archive):
    archive.objects = [os.path.join(sys.argv[1], "unittests", "capi-one-layer")]
    return check_archive.needs, {"search-path/capi-one-layer"}


def newer_system(archive):
    archive.objects = [archive.library]
    check_archive.GLIBC_LIMIT = (2, 30)
    return check_archive.needs, {"glibc/" + os.path.basename(archive.library)}


def path_of_the_build(archive):
    program = archive.commands[0]
    with open(program, "rb") as file:
        content = file.read()
    os.remove(program)  # a link to the file of the archive
    with open(program, "wb") as file:
        file.write(content + ROOT.encode())
    archive.objects = [program]
    return check_archive.needs, {"no-build-path/" + os.path.basename(program)}


def llvm_shown(archive):
    archive.library = os.path.join(archive.llvm, "libMLIR.so")
    return check_archive.shows, {"exports-the-api", "exports-nothing-else"}


FAULTS = [no_notice, no_command, too_large, llvm_of_the_system, newer_system]
FAULTS += [folder_of_one_machine, path_of_the_build, llvm_shown]


def main():
    failed = False
    glibc = check_archive.GLIBC_LIMIT
    for fault in FAULTS:
        check_archive.GLIBC_LIMIT = glibc
        with tempfile.TemporaryDirectory(dir=sys.argv[1]) as folder:
            archive = Archive(sys.argv[1])
            tree = os.path.join(folder, "tree")
            shutil.copytree(archive.tree, tree, symlinks=True, copy_function=os.link)
            archive.objects = [o.replace(archive.tree, tree) for o in archive.objects]
            archive.commands = [c.replace(archive.tree, tree) for c in archive.commands]
            archive.library = archive.library.replace(archive.tree, tree)
            archive.tree = tree
            check, expected = fault(archive)
            got = failures(check, archive)
        name = fault.__name__.replace("_", "-")
        if not expected <= got or (got - expected and fault is not llvm_of_the_system):
            failed = True
            print(f"{name}: got {got}, expected {expected}", file=sys.stderr)
            print(f"FAIL: archive/finds-{name}")
        else:
            print(f"PASS: archive/finds-{name}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
