"""Ops, attributes, types and passes are documented in full.

Ops: a summary, a description with an ```mlir example, and a numbered
**Constraints:** list when they have a verifier. Attributes and types: summary
and description. Passes: both, an argument that starts with the project's name,
options in kebab-case.
"""

import re

import common
import ods


def check_definition(d):
    what = f"{d.path}: {d.kind} {d.name}"
    if not d.summary.strip():
        yield f"{what}: no summary"
    elif d.summary.strip().endswith("."):
        yield f"{what}: summary ends with a full stop"
    if not d.description.strip():
        yield f"{what}: no description"
    numbers = ods.constraints(d)
    if d.kind == "op":
        if not ods.examples(d):
            yield f"{what}: no ```mlir example in the description"
        if d.has_verifier and not numbers:
            yield f"{what}: a verifier but no **Constraints:** list with labels (C1), ..."
    if numbers != list(range(1, len(numbers) + 1)):
        yield f"{what}: constraint labels not consecutive: got {numbers}, expected from 1"


def check_pass(p):
    what = f"{p.path}: pass {p.argument}"
    if not p.argument.startswith(("sparseattn-", "convert-")):
        yield f"{what}: argument prefix: got {p.argument}, expected sparseattn- or convert-"
    if not p.summary.strip():
        yield f"{what}: no summary"
    if not p.description.strip():
        yield f"{what}: no description"
    for option in p.options:
        if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", option):
            yield f"{what}: option not in kebab-case: got {option}"


def check(root):
    try:
        findings = []
        for definition in ods.definitions(root):
            findings += check_definition(definition)
        for p in ods.passes(root):
            findings += check_pass(p)
        return findings
    except ods.OdsError as error:
        return [str(error)]


if __name__ == "__main__":
    common.main(check, __doc__)
