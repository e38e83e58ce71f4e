#!/usr/bin/env python3
"""Runs clang-tidy-22 over the sources of one build; slow, so not part of run.py.

Prints one PASS or FAIL line for each source file.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys

import common

COMMAND = "clang-tidy-22"


def sources(root, build_dir, prefixes):
    with open(os.path.join(build_dir, "compile_commands.json"), encoding="utf-8") as file:
        for entry in json.load(file):
            full = os.path.join(entry["directory"], entry["file"])
            path = os.path.relpath(full, root).replace(os.sep, "/")
            if path.startswith(tuple(prefixes)):
                yield path


def tidy(root, build_dir, path):
    run = subprocess.run(
        [COMMAND, "--quiet", "-p", build_dir, os.path.join(root, path)],
        capture_output=True,
        text=True,
    )
    # Without findings only a count of suppressed warnings is left.
    findings = re.findall(r"^.*(?:warning|error): .*$", run.stdout + run.stderr, re.M)
    return path, run.returncode != 0, findings


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", default=common.default_root(), help="the tree")
    parser.add_argument("--build-dir", required=True, help="with compile_commands.json")
    parser.add_argument("prefixes", nargs="*", default=["runtime/"], help="paths to check")
    arguments = parser.parse_args()
    root = os.path.abspath(arguments.root)
    if not shutil.which(COMMAND):
        sys.exit(f"error: {COMMAND}: command not found")
    paths = sorted(set(sources(root, arguments.build_dir, arguments.prefixes)))
    failed = not paths
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(tidy, root, arguments.build_dir, path) for path in paths]
        for job in jobs:
            path, bad, findings = job.result()
            for finding in findings:
                print(finding, file=sys.stderr)
            failed = failed or bad
            print(f"{'FAIL' if bad else 'PASS'}: clang-tidy/{path}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
