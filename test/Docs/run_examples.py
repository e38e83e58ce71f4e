#!/usr/bin/env python3
"""Runs every ```mlir example of the op, attribute and type descriptions.

Each block has to be a complete file for sparseattn-opt, which parses, verifies,
prints and parses it again. Prints one PASS or FAIL line for each block.
"""

import argparse
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "lint"))

import ods  # noqa: E402  (found through the line above)

TIMEOUT_SECONDS = 60


def run_example(opt, text):
    """None when sparseattn-opt accepts the text, else its message."""
    run = subprocess.run(
        [opt, "--verify-roundtrip", "-o", os.devnull, "-"],
        input=text,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
    if run.returncode == 0:
        return None
    return run.stderr.strip() or f"exit status {run.returncode}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", default=ROOT, help="the source tree")
    parser.add_argument("--opt", required=True, help="path of sparseattn-opt")
    arguments = parser.parse_args()
    failed = False
    # The test must be able to fail.
    cases = [("refuses-a-wrong-example", "func.func @f() { no.such_op }", True)]
    for definition in ods.definitions(arguments.root):
        for index, text in enumerate(ods.examples(definition), 1):
            cases.append((f"{definition.kind}/{definition.name}/{index}", text, False))
    for name, text, wrong in cases:
        problem = run_example(arguments.opt, text)
        bad = (problem is None) if wrong else (problem is not None)
        if bad:
            failed = True
            print(f"{name}: {problem}\n{text}", file=sys.stderr)
        print(f"{'FAIL' if bad else 'PASS'}: docs/{name}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
