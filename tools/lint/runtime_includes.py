"""The runtime includes no header of MLIR, LLVM or the compiler."""

import re

import common

FORBIDDEN = re.compile(r'^\s*#\s*include\s*[<"]((?:mlir|llvm|clang|mlir-c|llvm-c|sparseattn)/[^>"]*)')


def check(root):
    findings = []
    for path in common.source_files(root, (".h", ".cpp", ".inc")):
        if not path.startswith("runtime/"):
            continue
        for number, line in enumerate(common.read_lines(root, path), 1):
            match = FORBIDDEN.match(line)
            if match:
                findings.append(
                    f"{path}:{number}: runtime header: got {match.group(1)}, "
                    "expected sparseattn-rt/ or the standard library"
                )
    return findings


if __name__ == "__main__":
    common.main(check, __doc__)
