"""Files stay short: above 400 lines a note, above 800 lines a failure."""

import sys

import common

SOFT_LIMIT_LINES = 400
HARD_LIMIT_LINES = 800


def lengths(root):
    for path in common.source_files(root, common.CODE_SUFFIXES):
        if not common.is_test_data(path):
            yield path, len(common.read_lines(root, path))


def check(root):
    findings = []
    for path, lines in lengths(root):
        if lines > HARD_LIMIT_LINES:
            findings.append(
                f"{path}: file length above the limit: got {lines} lines, "
                f"expected at most {HARD_LIMIT_LINES}"
            )
        elif lines > SOFT_LIMIT_LINES:
            print(
                f"note: {path}: {lines} lines, more than {SOFT_LIMIT_LINES}",
                file=sys.stderr,
            )
    return findings


if __name__ == "__main__":
    common.main(check, __doc__)
