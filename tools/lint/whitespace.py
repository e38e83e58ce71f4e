"""No tabs, no spaces at line ends, no carriage returns, one newline at the end."""

import os

import common


def check(root):
    findings = []
    for path in common.source_files(root):
        if common.is_test_data(path) or not common.is_text(root, path):
            continue
        with open(os.path.join(root, path), "rb") as file:
            content = file.read()
        for number, line in enumerate(content.split(b"\n"), 1):
            if b"\t" in line:
                findings.append(f"{path}:{number}: tab character")
            if line.endswith(b"\r"):
                findings.append(f"{path}:{number}: carriage return at the line's end")
            elif line.rstrip(b" \t") != line:
                findings.append(f"{path}:{number}: space at the line's end")
        if content and not content.endswith(b"\n"):
            findings.append(f"{path}: no newline at the end of the file")
        if content.endswith(b"\n\n"):
            findings.append(f"{path}: empty line at the end of the file")
    return findings


if __name__ == "__main__":
    common.main(check, __doc__)
