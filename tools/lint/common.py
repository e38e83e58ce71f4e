"""What the lint checks share: the files of the tree and the report.

A check is a module with a function `check(root) -> list of findings`; a finding
is one line of text, `path:line: message` where a line is known.
"""

import argparse
import os
import sys

# Folders that hold no source of ours.
SKIPPED_FOLDERS = {".git", ".cache", "__pycache__", "node_modules"}

CODE_SUFFIXES = (
    ".h",
    ".cpp",
    ".inc",
    ".in",
    ".td",
    ".py",
    ".sh",
    ".cmake",
    ".txt",
    ".mlir",
    ".test",
)
TEXT_SUFFIXES = CODE_SUFFIXES + (".md", ".json", ".html", ".js", ".css", ".toml")


def is_skipped_folder(root, path):
    name = os.path.basename(path)
    if name in SKIPPED_FOLDERS:
        return True
    # Build trees lie at the top: build, build-asan, ...
    return os.path.dirname(path) == root and name.startswith("build")


def is_test_data(path):
    """Generated or recorded data: lengths and spaces are not ours to judge."""
    return path.startswith(("test/data/", "test/benchmarks/", "examples/data/"))


def source_files(root, suffixes=None):
    """Paths below `root`, relative, with forward slashes, sorted."""
    root = os.path.abspath(root)
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [
            f for f in folders if not is_skipped_folder(root, os.path.join(folder, f))
        ]
        for name in names:
            if name in SKIPPED_FOLDERS:  # .git is a file in a linked worktree
                continue
            path = os.path.relpath(os.path.join(folder, name), root)
            if suffixes is None or name.endswith(suffixes):
                found.append(path.replace(os.sep, "/"))
    return sorted(found)


def is_text(root, path):
    """True for files with a known suffix and for scripts without one."""
    if path.endswith(TEXT_SUFFIXES):
        return True
    if "." in os.path.basename(path).lstrip("."):
        return False
    with open(os.path.join(root, path), "rb") as file:
        return b"\0" not in file.read(4096)


def read_lines(root, path):
    """The lines of a file without their line ends; bad bytes are replaced."""
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read().splitlines()


def default_root():
    here = os.path.dirname(os.path.abspath(__file__))
    return os.path.dirname(os.path.dirname(here))


def main(check, description):
    """Command line of one check: prints the findings, status 1 if there are any."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--root", default=default_root(), help="the tree to check")
    findings = check(parser.parse_args().root)
    for finding in findings:
        print(finding, file=sys.stderr)
    sys.exit(1 if findings else 0)
