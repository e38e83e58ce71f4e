"""C++ sources are formatted as clang-format-22 formats them.

With --fix the files are rewritten; banner lines longer than 80 columns are cut
first, because clang-format would break them.
"""

import argparse
import os
import re
import shutil
import subprocess

import common

COMMAND = "clang-format-22"
FILES_PER_RUN = 32


def cpp_files(root):
    return [
        path
        for path in common.source_files(root, (".h", ".cpp"))
        if not common.is_test_data(path)
    ]


def cut_banner(line):
    """A `//===- X.h - what ---===//` line at exactly 80 columns."""
    match = re.fullmatch(r"(//===-+ .*?)-*((?:\*- ?C\+\+ ?-\*)?)-*===//", line)
    if not match or len(line) == 80:
        return line
    mark = f"-{match.group(2)}-" if match.group(2) else ""
    dashes = 80 - len(match.group(1)) - len(mark) - len("===//")
    return f"{match.group(1)}{'-' * dashes}{mark}===//" if dashes >= 0 else line


def fix(root, prefixes):
    command = shutil.which(COMMAND)
    for path in cpp_files(root):
        if prefixes and not path.startswith(tuple(prefixes)):
            continue
        full = os.path.join(root, path)
        lines = common.read_lines(root, path)
        cut = [cut_banner(line) for line in lines]
        if cut != lines:
            with open(full, "w", encoding="utf-8") as file:
                file.write("\n".join(cut) + "\n")
        subprocess.run([command, "-i", "--style=file", full], check=True)


def check(root):
    command = shutil.which(COMMAND)
    if not command:
        return [f"{COMMAND}: command not found"]
    files = cpp_files(root)
    findings = []
    for begin in range(0, len(files), FILES_PER_RUN):
        run = subprocess.run(
            [command, "--dry-run", "-Werror", "--style=file", "--fallback-style=none"]
            + files[begin : begin + FILES_PER_RUN],
            cwd=root,
            capture_output=True,
            text=True,
        )
        # One finding a file; the command's own text is long.
        seen = set()
        for match in re.finditer(r"^(.+?):(\d+):\d+: error: ", run.stderr, re.M):
            if match.group(1) not in seen:
                seen.add(match.group(1))
                path = os.path.relpath(os.path.join(root, match.group(1)), root)
                findings.append(f"{path}:{match.group(2)}: not formatted by {COMMAND}")
        if run.returncode and not seen:
            findings.append(f"{COMMAND} failed: {run.stderr.strip()}")
    return findings


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", default=common.default_root(), help="the tree")
    parser.add_argument("--fix", nargs="*", metavar="PREFIX", help="rewrite the files below")
    arguments = parser.parse_args()
    if arguments.fix is not None:
        fix(arguments.root, arguments.fix)
    else:
        common.main(check, __doc__)
