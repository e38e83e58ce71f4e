#!/usr/bin/env python3
"""Runs every lint check; prints one PASS or FAIL line for each.

Findings go to stderr. Status 1 when a check fails.
"""

import argparse
import importlib
import sys

import common

CHECKS = (
    "file_length",
    "path_length",
    "forbidden_words",
    "whitespace",
    "clang_format",
    "runtime_includes",
    "ods_docs",
    "constraint_tests",
)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", default=common.default_root(), help="the tree to check")
    parser.add_argument(
        "checks", nargs="*", default=CHECKS, metavar="check", help=f"of {', '.join(CHECKS)}"
    )
    arguments = parser.parse_args()
    failed = False
    for name in arguments.checks:
        if name not in CHECKS:
            parser.error(f"check is unknown: got {name}, expected one of {', '.join(CHECKS)}")
        findings = importlib.import_module(name).check(arguments.root)
        for finding in findings:
            print(finding, file=sys.stderr)
        failed = failed or bool(findings)
        print(f"{'FAIL' if findings else 'PASS'}: lint/{name}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
