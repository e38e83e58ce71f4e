"""Every numbered constraint has a negative test, and every label exists.

A test names what it breaks in a comment: `// (attend C1)`, `// (attend C1, C3)`,
`// (sparseattn.attend C1)`, and `// (#plan C2)`, `// (!mask C1)` for attributes
and types. A short name is resolved by the test's folder Dialect/<D>, else it
must be unique. In an .mlir file the part between the `// -----` lines around the
label must expect an error.
"""

import re

import common
import ods

LABEL = re.compile(r"//.*?\(([#!]?[A-Za-z_][\w.]*)((?:,?\s*C\d+)+)\)")
EXPECTS_ERROR = re.compile(r"expected-error|CHECK.*\berror\b|\bnot\b.*(sparseattn-|%)")


class Names:
    """Resolves the names used in labels to definitions."""

    def __init__(self, definitions):
        self.definitions = definitions

    def resolve(self, name, path):
        sigil = name[0] if name[0] in "#!" else ""
        bare = name.lstrip("#!")
        matches = [
            d
            for d in self.definitions
            if bare in (d.name, d.name.split(".", 1)[1])
            and (not sigil or ods.SIGILS[d.kind] == sigil)
        ]
        local = [d for d in matches if path.startswith(f"test/Dialect/{d.folder}/")]
        matches = local or matches
        # Without a sigil an op is meant before an attribute or a type.
        if not sigil and any(d.kind == "op" for d in matches):
            matches = [d for d in matches if d.kind == "op"]
        return matches


def sections(lines):
    """(first line number, lines) of each part of a split-input file."""
    begin = 0
    for index, line in enumerate(lines + ["// -----"]):
        if line.startswith("// -----"):
            yield begin + 1, lines[begin:index]
            begin = index + 1


def labels(root):
    """(path, line number, name, constraint numbers, expects an error)."""
    for path in common.source_files(root, (".mlir", ".test", ".cpp", ".py")):
        if not path.startswith("test/") or common.is_test_data(path):
            continue
        lines = common.read_lines(root, path)
        # A RUN line that must fail serves the whole file.
        whole = not path.endswith(".mlir") or any(
            re.search(r"RUN:.*\bnot\b", line) for line in lines
        )
        for begin, part in sections(lines):
            expects = whole or any(EXPECTS_ERROR.search(line) for line in part)
            for number, line in enumerate(part, begin):
                for match in LABEL.finditer(line):
                    numbers = [int(n) for n in re.findall(r"C(\d+)", match.group(2))]
                    yield path, number, match.group(1), numbers, expects


def check(root):
    try:
        definitions = ods.definitions(root)
    except ods.OdsError as error:
        return [str(error)]
    findings = []
    names = Names(definitions)
    tested = set()
    for path, line, name, numbers, expects in labels(root):
        where = f"{path}:{line}: label ({name} ...)"
        matches = names.resolve(name, path)
        if len(matches) != 1:
            got = ", ".join(d.name for d in matches) or "none"
            findings.append(f"{where}: definitions of this name: got {got}, expected one")
            continue
        known = ods.constraints(matches[0])
        for number in numbers:
            if number not in known:
                findings.append(
                    f"{where}: constraint does not exist: got C{number}, "
                    f"expected one of {['C%d' % n for n in known]}"
                )
            elif not expects:
                findings.append(f"{where}: no error is expected in this part of the file")
            else:
                tested.add((matches[0].kind, matches[0].name, number))
    for d in definitions:
        for number in ods.constraints(d):
            if (d.kind, d.name, number) not in tested:
                findings.append(
                    f"{d.path}: {ods.SIGILS[d.kind]}{d.name}: constraint without a test: "
                    f"got none, expected a comment // ({d.name.split('.', 1)[1]} C{number})"
                )
    return findings


if __name__ == "__main__":
    common.main(check, __doc__)
