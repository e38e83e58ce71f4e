"""Compares the README's support matrix with the tool's output."""

import sys

readme, matrix = (open(path).read() for path in sys.argv[1:])
begin = "<!-- support-matrix-begin -->\n"
end = "<!-- support-matrix-end -->"
embedded = readme[readme.index(begin) + len(begin):readme.index(end)]
if embedded != matrix:
    sys.exit("README.md: the support matrix differs from sparseattn-support-matrix's")
