"""Looks up every test that KNOWN_FAILURES.md names in the test sources."""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
sources = "\n".join(path.read_text() for path in (root / "unit").rglob("*.cpp"))
names = set(re.findall(r"`([A-Za-z]+[/.][A-Za-z0-9_./-]+)`", (root / "KNOWN_FAILURES.md").read_text()))
names = {name for name in names if not name.startswith("test/")}
missing = []
for name in sorted(names):
    if name.endswith(".test"):
        found = (root / name).is_file()
    else:
        suite, test = name.split("/")[-1].split(".")
        found = re.search(rf"TEST(_[FP])?\(\s*{suite},\s*{test}\)", sources)
    if not found:
        missing.append(name)
if len(names) < 50 or missing:
    sys.exit(f"{len(names)} tests named, not found: {missing}")
