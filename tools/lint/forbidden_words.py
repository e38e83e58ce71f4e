"""No unfinished-work markers and no paths of one machine in the tree."""

import re

import common

# Written in pieces so that this file does not find itself.
MARKERS = re.compile(r"\b(" + "|".join(("TO" "DO", "FIX" "ME", "X" "XX")) + r")\b")
MACHINE_PATHS = re.compile(r"(?<![\w.$}/-])/(?:" + "|".join(("wo" "rk", "ro" "ot", "ho" "me", "tm" "p")) + r")/")


def check(root):
    findings = []
    for path in common.source_files(root):
        if common.is_test_data(path) or not common.is_text(root, path):
            continue
        for number, line in enumerate(common.read_lines(root, path), 1):
            for pattern, what in (
                (MARKERS, "unfinished-work marker"),
                (MACHINE_PATHS, "path of one machine"),
            ):
                match = pattern.search(line)
                if match:
                    findings.append(f"{path}:{number}: {what}: got {match.group(0)}")
    return findings


if __name__ == "__main__":
    common.main(check, __doc__)
